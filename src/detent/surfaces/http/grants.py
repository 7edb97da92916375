"""Who may do what: the one place where that is decided, for HTTP and for sockets alike. Pure.

A token gives scopes; a scope gives roles, in which the kernel lets its holder act, and opens routes and verbs. A token
of scope `work` acts as its own worker only. A token of scope `admin` is trusted: it may speak for others.
"""

from typing import Any, Final

from msgspec import Struct

from detent.client.arguments import check_text_name
from detent.client.scope import DEFAULT_TENANT
from detent.errors import Forbidden, InvalidArgument, shown
from detent.kernel.command import COMMANDS
from detent.lifecycle.words import ROLES, Role
from detent.store.tokens import SCOPES, Token

# In which capacities a scope lets its holder ask.
_ROLES: Final[dict[str, frozenset[Role]]] = {
    "submit": frozenset({"client", "gateway"}),
    "work": frozenset({"worker"}),
    "read": frozenset(),
    "operate": frozenset({"operator", "policy", "scheduler"}),
    "admin": frozenset(ROLES),  # type: ignore[arg-type]
}
# Which scopes open a verb; `admin` opens all. What is in no list is the system's own, and admin's.
_VERBS: Final[dict[str, tuple[str, ...]]] = {
    "submit": ("enqueue", "submit", "cancel", "request_cancel", "rerun"),
    "work": (
        "claim", "start", "renew", "complete", "fail", "release", "progress", "artifact", "stall", "time_out",
        "cancel", "dead_letter",
    ),
    "operate": (
        "submit", "schedule", "approve", "deny", "cancel", "request_cancel", "rerun", "requeue", "stall", "dead_letter",
    ),
}  # fmt: skip
VERB_SCOPES: Final[dict[str, tuple[str, ...]]] = {
    verb: tuple(scope for scope in SCOPES if scope == "admin" or verb in _VERBS.get(scope, ())) for verb in COMMANDS
}
# Whoever is not named acts as the worker of the token; so a worker in a shell need not repeat who it is.
_BY_WORKERS: Final = frozenset(
    verb for verb, scopes in VERB_SCOPES.items() if "work" in scopes and not {"submit", "operate"}.intersection(scopes)
)
_JUDGED: Final = ("tenant", "worker", "role", "actor")


class Grant(Struct, frozen=True):
    """What somebody was let in with. `tenant` is the one that is asked for, whichever else it might have been."""

    name: str
    tenant: str
    scopes: frozenset[str]
    worker: str | None = None
    is_any_tenant: bool = False
    expires_at: int | None = None

    @property
    def is_admin(self) -> bool:
        return "admin" in self.scopes

    def is_over(self, now: int) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def may(self, *scopes: str) -> bool:
        return self.is_admin or not self.scopes.isdisjoint(scopes)

    def check(self, *scopes: str) -> None:
        if not self.may(*scopes):
            needed = " or ".join(f"'{scope}'" for scope in scopes)
            has = ", ".join(sorted(self.scopes)) or "none"
            message = f"this needs the scope {needed}, and token '{self.name}' has {has}"
            raise Forbidden(f"{message}; make one: detent token create NAME --scope {scopes[0]}", code="scope_missing")

    def check_any_tenant(self) -> None:
        if not (self.is_admin and self.is_any_tenant):
            message = f"this concerns all tenants, and token '{self.name}' is for tenant '{self.tenant}'"
            raise Forbidden(f"{message}; use one that is for any, or name one tenant", code="tenant_denied")

    def check_worker(self, worker: str) -> str:
        """A worker's token is good for its own name, and for names below it: `ocr` also for `ocr/host-7`."""
        if self.is_admin:
            return worker
        own = self.worker
        if own is None or "work" not in self.scopes or not (worker == own or worker.startswith(f"{own}/")):
            mine = f"acts as worker '{own}', or '{own}/…'" if own is not None else "is no worker's"
            message = f"token '{self.name}' {mine}, and not as worker {shown(worker)}"
            raise Forbidden(f"{message}; name its own worker, or none", code="worker_denied")
        return worker

    def is_own(self, owner: str | None) -> bool:
        """Whether a job of that owner is one that this worker may look at."""
        return owner is not None and self.worker is not None and f"{owner}/".startswith(f"{self.worker}/")

    def asked(self, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a verb as this grant lets them through: who asks, as whom, in which roles."""
        self.check(*VERB_SCOPES.get(verb, ("admin",)))
        _check_texts(arguments)
        self._check_tenant(arguments.get("tenant"))
        if self.is_admin:  # it may speak for a worker, and then that is who the record names
            return arguments if arguments.get("worker") is not None else {"actor": self.name} | arguments
        worker = arguments.get("worker")
        if worker is None and (verb in _BY_WORKERS or not self.may("submit", "operate")):
            worker = self.worker
        if worker is not None:
            self.check_worker(worker)
        granted = frozenset[Role]().union(*(_ROLES[scope] for scope in self.scopes))
        self._check_role(arguments.get("role"), granted)
        return arguments | {"worker": worker, "actor": self.actor(arguments.get("actor")), "granted": granted}

    def actor(self, given: str | None) -> str:
        """Whoever else is named, the record says whose token it was; an admin is taken at its word."""
        if self.is_admin and given is not None:
            return given
        return self.name if given is None or given == self.name else f"{self.name}/{given}"

    def _check_role(self, role: str | None, granted: frozenset[Role]) -> None:
        wanted = "worker" if role == "owner" else role
        if wanted is not None and wanted not in granted:
            has = ", ".join(sorted(granted)) or "none"
            message = f"token '{self.name}' cannot act as {role}; its scopes let it act as {has}"
            raise Forbidden(message, code="role_denied")

    def _check_tenant(self, tenant: str | None) -> None:
        """An admin of one tenant is trusted in that one."""
        if tenant in (None, self.tenant) or (self.is_admin and self.is_any_tenant):
            return
        message = f"token '{self.name}' is tenant '{self.tenant}''s, and makes no jobs for {shown(tenant)}"
        raise Forbidden(f"{message}; use a token of that tenant", code="tenant_denied")


def _check_texts(arguments: dict[str, Any]) -> None:
    """What is judged here has to be text; whatever else it has to be, the kernel says."""
    for name in _JUDGED:
        given = arguments.get(name)
        if given is not None and not isinstance(given, str):
            raise InvalidArgument(f"{name} is {shown(given)}; give a string")


def grant_of(token: Token, tenant: str | None) -> Grant:
    """What a token gives in the tenant that is asked for; its own, if none is named."""
    if token.tenant is None:
        scopes, ends = frozenset(token.scopes), token.expires_at
        return Grant(token.name, _named(tenant), scopes, token.worker, is_any_tenant=True, expires_at=ends)
    if tenant not in (None, token.tenant):
        message = f"token '{token.name}' is for tenant '{token.tenant}', and not for {shown(tenant)}"
        raise Forbidden(f"{message}; leave the tenant out, or use a token of that tenant", code="tenant_denied")
    return Grant(token.name, token.tenant, frozenset(token.scopes), token.worker, expires_at=token.expires_at)


def everything(tenant: str | None) -> Grant:
    """Where nobody is asked who they are."""
    return Grant("anonymous", _named(tenant), frozenset({"admin"}), is_any_tenant=True)


def _named(tenant: str | None) -> str:
    return DEFAULT_TENANT if tenant is None else check_text_name("Detent-Tenant", tenant)
