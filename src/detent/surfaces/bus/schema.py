"""The packets of the Cordum Agent Protocol, as a table: what each message holds, and under which number.

They are made from this table at run time, in a pool of descriptors of their own, so that nothing is generated, and a
program that also has the protocol's SDK loaded can use both. What is not in the table is not understood here: of the
protocol's handshakes that is all but the plain one.
"""

from typing import Any, Final

from google.protobuf import message_factory, timestamp_pb2
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

_PACKAGE: Final = "cordum.agent.v1"
_MOMENT: Final = ".google.protobuf.Timestamp"
_TEXTS: Final = "map"  # from text to text
_MANY: Final = "*"
_SCALARS: Final = {
    "string": FieldDescriptorProto.TYPE_STRING,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "float": FieldDescriptorProto.TYPE_FLOAT,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "uint64": FieldDescriptorProto.TYPE_UINT64,
}
# Which of its messages a packet holds one of.
_PAYLOAD: Final = {
    10: ("job_request", "JobRequest"),
    11: ("job_result", "JobResult"),
    12: ("heartbeat", "Heartbeat"),
    13: ("alert", "SystemAlert"),
    15: ("job_progress", "JobProgress"),
    16: ("job_cancel", "JobCancel"),
    17: ("handshake", "Handshake"),
}
# Statuses, priorities and the like go as numbers; their names are where they are used. `*`: any number of them.
_MESSAGES: Final[dict[str, dict[int, tuple[str, str]]]] = {
    "BusPacket": {
        1: ("trace_id", "string"), 2: ("sender_id", "string"), 3: ("created_at", _MOMENT),
        4: ("protocol_version", "int32"), **_PAYLOAD, 14: ("signature", "bytes"), 18: ("auth_token", "string"),
    },
    "IdentityBinding": {
        1: ("tenant_id", "string"), 2: ("principal_id", "string"), 3: ("actor_id", "string"),
        4: ("delegation_id", "string"),
    },
    "DispatchIdentity": {
        1: ("dispatch_id", "string"), 2: ("attempt", "uint64"), 3: ("assigned_worker_id", "string"),
    },
    "ResourceRef": {
        1: ("resolver_id", "string"), 2: ("uri", "string"), 3: ("sha256", "bytes"), 4: ("media_type", "string"),
        5: ("size_bytes", "uint64"), 6: ("expires_at", _MOMENT), 7: ("purpose", "string"),
    },
    "ContextHints": {
        1: ("max_input_tokens", "int32"), 2: ("allow_summarization", "bool"), 3: ("allow_retrieval", "bool"),
        4: ("tags", "*string"),
    },
    "Budget": {
        1: ("max_input_tokens", "int64"), 2: ("max_output_tokens", "int64"), 3: ("max_total_tokens", "int64"),
        4: ("deadline_ms", "int64"),
    },
    "JobMetadata": {
        1: ("tenant_id", "string"), 2: ("actor_id", "string"), 3: ("actor_type", "int32"),
        4: ("idempotency_key", "string"), 5: ("capability", "string"), 6: ("risk_tags", "*string"),
        7: ("requires", "*string"), 8: ("pack_id", "string"), 9: ("labels", _TEXTS),
    },
    "Compensation": {
        1: ("topic", "string"), 2: ("context_ptr", "string"), 3: ("priority", "int32"), 4: ("adapter_id", "string"),
        5: ("env", _TEXTS), 6: ("memory_id", "string"), 7: ("context_hints", "ContextHints"), 8: ("budget", "Budget"),
        9: ("tenant_id", "string"), 10: ("principal_id", "string"), 11: ("labels", _TEXTS), 12: ("meta", "JobMetadata"),
        13: ("identity", "IdentityBinding"), 14: ("dispatch", "DispatchIdentity"), 15: ("context_ref", "ResourceRef"),
    },
    "JobRequest": {
        1: ("job_id", "string"), 2: ("topic", "string"), 3: ("priority", "int32"), 4: ("context_ptr", "string"),
        5: ("adapter_id", "string"), 6: ("env", _TEXTS), 7: ("parent_job_id", "string"), 8: ("workflow_id", "string"),
        9: ("step_index", "int32"), 10: ("memory_id", "string"), 11: ("context_hints", "ContextHints"),
        12: ("budget", "Budget"), 13: ("tenant_id", "string"), 14: ("principal_id", "string"), 15: ("labels", _TEXTS),
        16: ("meta", "JobMetadata"), 17: ("compensation", "Compensation"), 18: ("identity", "IdentityBinding"),
        19: ("dispatch", "DispatchIdentity"), 20: ("context_ref", "ResourceRef"),
    },
    "JobResult": {
        1: ("job_id", "string"), 2: ("status", "int32"), 3: ("result_ptr", "string"), 4: ("worker_id", "string"),
        5: ("execution_ms", "int64"), 6: ("error_code", "string"), 7: ("error_message", "string"),
        8: ("artifact_ptrs", "*string"), 9: ("error_code_enum", "int32"), 10: ("dispatch", "DispatchIdentity"),
        11: ("identity", "IdentityBinding"), 12: ("result_ref", "ResourceRef"), 13: ("artifact_refs", "*ResourceRef"),
    },
    "JobProgress": {
        1: ("job_id", "string"), 2: ("step_id", "string"), 3: ("percent", "int32"), 4: ("message", "string"),
        5: ("result_ptr", "string"), 6: ("artifact_ptrs", "*string"), 7: ("status", "int32"),
        8: ("dispatch", "DispatchIdentity"), 9: ("identity", "IdentityBinding"), 10: ("result_ref", "ResourceRef"),
        11: ("artifact_refs", "*ResourceRef"),
    },
    "JobCancel": {
        1: ("job_id", "string"), 2: ("reason", "string"), 3: ("requested_by", "string"),
        4: ("dispatch", "DispatchIdentity"), 5: ("identity", "IdentityBinding"),
    },
    "Heartbeat": {
        1: ("worker_id", "string"), 2: ("region", "string"), 3: ("type", "string"), 4: ("cpu_load", "float"),
        5: ("gpu_utilization", "float"), 6: ("active_jobs", "int32"), 7: ("capabilities", "*string"),
        11: ("pool", "string"), 12: ("max_parallel_jobs", "int32"), 13: ("labels", _TEXTS),
        14: ("memory_load", "float"), 15: ("progress_pct", "int32"), 16: ("last_memo", "string"),
        18: ("auth_token", "string"), 19: ("agent_name", "string"),
    },
    "SystemAlert": {
        1: ("level", "string"), 2: ("message", "string"), 3: ("component", "string"), 4: ("code", "string"),
        5: ("severity", "int32"), 6: ("error_code_enum", "int32"), 7: ("source_component", "string"),
        8: ("details", _TEXTS), 9: ("trace_id", "string"),
    },
    "Handshake": {
        1: ("component_id", "string"), 2: ("role", "int32"), 3: ("supported_versions", "*int32"),
        5: ("sdk_version", "string"), 6: ("ready_topics", "*string"), 7: ("agent_name", "string"),
    },
}  # fmt: skip
SIGNATURE: Final = next(number for number, (name, _) in _MESSAGES["BusPacket"].items() if name == "signature")


def _declared(name: str, fields: dict[int, tuple[str, str]]) -> DescriptorProto:
    message = DescriptorProto(name=name)
    if name == "BusPacket":
        message.oneof_decl.add(name="payload")
    for number, (field, kind) in fields.items():
        many, kind = kind.startswith(_MANY), kind.removeprefix(_MANY)
        added = message.field.add(
            name=field,
            number=number,
            label=FieldDescriptorProto.LABEL_REPEATED
            if many or kind == _TEXTS
            else FieldDescriptorProto.LABEL_OPTIONAL,
        )
        if name == "BusPacket" and number in _PAYLOAD:
            added.oneof_index = 0
        if kind in _SCALARS:
            added.type = _SCALARS[kind]
        else:
            added.type = FieldDescriptorProto.TYPE_MESSAGE
            added.type_name = _texts(message, name, field) if kind == _TEXTS else _full(kind)
    return message


def _texts(message: DescriptorProto, owner: str, field: str) -> str:
    """What a map is on the wire: entries of a key and a value."""
    entry = f"{field.title().replace('_', '')}Entry"
    nested = _declared(entry, {1: ("key", "string"), 2: ("value", "string")})
    nested.options.map_entry = True
    message.nested_type.append(nested)
    return _full(f"{owner}.{entry}")


def _full(kind: str) -> str:
    return kind if kind.startswith(".") else f".{_PACKAGE}.{kind}"


def _classes() -> dict[str, Any]:
    moments, own = FileDescriptorProto(), FileDescriptorProto(name="cap.proto", package=_PACKAGE, syntax="proto3")
    timestamp_pb2.DESCRIPTOR.CopyToProto(moments)
    own.dependency.append(moments.name)
    own.message_type.extend(_declared(name, fields) for name, fields in _MESSAGES.items())
    pool = DescriptorPool()
    pool.Add(moments)
    pool.Add(own)
    found = {name: pool.FindMessageTypeByName(f"{_PACKAGE}.{name}") for name in _MESSAGES}
    return {name: message_factory.GetMessageClass(each) for name, each in found.items()}


# What a message is, is known only once this has run: to the type checker each is anything.
MESSAGES: Final[dict[str, Any]] = _classes()
