"""A call of every command there is, and a store in which each of them has something to do."""

from datetime import UTC, datetime
from typing import Any, Final

import pytest

from detent.client import SyncClient
from detent.client.sync import run
from detent.store.tokens import SCOPES, Token
from detent.surfaces.cli.command import Command
from tests.surfaces.running import ARTICLE, RULES, Path_, Site, bury, commands, run_one, succeed

LEAVES: Final[dict[Path_, Command]] = {path: each for path, each in commands() if isinstance(each, Command)}
TOKEN_ID: Final = "0123456789abcdef"
# Those take seconds and have tests of their own; what holds without running them holds for them too.
SLOW: Final = {("demo",), ("bench",), ("worker",), ("serve",), ("lifecycle", "explore")}
CALLS: Final[dict[Path_, tuple[str, ...]]] = {
    ("serve",): ("--port", "0"),
    ("enqueue",): ("scan", '{"page": 1}'),
    ("job", "list"): (),
    ("job", "count"): (),
    ("job", "show"): ("run",),
    ("job", "explain"): ("run",),
    ("job", "history"): ("run",),
    ("job", "notes"): ("run",),
    ("job", "artifacts"): ("run",),
    ("job", "tree"): ("run",),
    ("job", "wait"): ("done",),
    ("job", "cancel"): ("run",),
    ("job", "rerun"): ("done",),
    ("job", "requeue"): ("stalled",),
    ("job", "submit"): ("draft",),
    ("job", "approve"): ("hold",),
    ("job", "deny"): ("hold",),
    ("dlq", "list"): (),
    ("dlq", "show"): ("dead",),
    ("dlq", "redrive"): ("dead",),
    ("dlq", "purge"): ("dead", "--yes"),
    ("queue", "list"): (),
    ("queue", "pause"): ("default",),
    ("queue", "resume"): ("ocr",),
    ("queue", "limit"): ("ocr", "--none"),
    ("workers",): (),
    ("schedule", "list"): (),
    ("schedule", "pause"): ("nightly",),
    ("schedule", "resume"): ("monthly",),
    ("schedule", "remove"): ("nightly",),
    ("token", "create"): ("ci", "--scope", "submit", "--scope", "work"),
    ("token", "list"): (),
    ("token", "revoke"): (TOKEN_ID,),
    ("event", "tail"): ("--no-follow",),
    ("lifecycle", "list"): (),
    ("lifecycle", "show"): ("standard",),
    ("lifecycle", "diagram"): ("standard",),
    ("lifecycle", "check"): (str(ARTICLE),),
    ("policy", "check"): (str(RULES), "--topic", "job.chat.simple"),
    ("verify",): (),
    ("replay",): (),
    ("reconcile",): ("--once",),
    ("migrate",): (),
    ("prune",): ("--dry-run",),
    ("completion",): ("bash",),
}
QUICK: Final = [path for path in LEAVES if path not in SLOW]
# Those that open a store, and those of them that make one where there is none.
# The worker goes where its app says.
STORELESS: Final = {("completion",), ("demo",), ("bench",), ("policy", "check"), ("worker",)}
OPENING: Final = [path for path in LEAVES if path not in STORELESS and path[0] != "lifecycle"]
MAKING: Final = {("enqueue",), ("migrate",), ("serve",)}
# What they do concerns every tenant alike.
FOR_ALL: Final = {("migrate",), ("reconcile",), ("serve",)}
FOR_ALL_UNLESS_ASKED: Final = {("verify",)}
# Those that have a shape of their own, which no terminal may break.
UNWRAPPED: Final = {("completion",), ("lifecycle", "diagram"), ("token", "create")}

every = pytest.mark.parametrize("path", [*LEAVES], ids=" ".join)
every_quick = pytest.mark.parametrize("path", QUICK, ids=" ".join)


def fill(site: Site) -> None:
    with site.client() as client:
        _end_some(client)
        _park_some(client)
        run_one(client, "run")
        client.progress("run", 0.5, "half", worker="w1", attempt=1)
        client.artifact("run", name="page", pointer="s3://" + "a/long/path/" * 15, size=7, worker="w1", attempt=1)
        _set_some(client)


def _set_some(client: SyncClient) -> None:
    """What there is beside jobs, with long words."""
    now, why = datetime.now(UTC), "a long reason " * 20
    client.limit_queue("ocr", depth_max=1_000_000)
    client.pause_queue("ocr", actor="ann", reason=why)
    kinds = [f"a-long-kind-{number}" for number in range(20)]
    where: Any = {"host": "a-host-with-a-long-name.example.com", "pid": 4_194_304, "started_at": now}
    client.report_worker("w1", queues=["default", "ocr"], kinds=kinds, slots=1_000, running=1_000, **where)
    cron = {"cron": "*/15 9-17 * * MON-FRI", "zone": "America/Argentina/Buenos_Aires", "next_at": now}
    client.keep_schedules([{**cron, "name": name, "kind": "a-long-kind"} for name in ("nightly", "monthly")])
    client.pause_schedule("monthly", actor="ann", reason=why)
    client.create_token("a-long-name-" * 5, scopes=SCOPES, worker="a-long-worker-" * 5)
    kept = Token(id=TOKEN_ID, name="ci", tenant="default", scopes=("read",), digest="f" * 64, created_by="ann")
    run(client.client.store.keep_token(kept))


def _end_some(client: SyncClient) -> None:
    succeed(client, "done", {"text": "a long result " * 20})
    bury(client, "dead", error={"type": "TransientError", "message": "a long message " * 20})


def _park_some(client: SyncClient) -> None:
    client.enqueue("scan", job_id="draft", lifecycle="document")
    client.enqueue("scan", job_id="hold", lifecycle="dispatch")
    client.schedule("hold", verdict="hold", rule="big-orders")
    client.enqueue("scan", job_id="stalled", lifecycle="contract", queue="other")
    (job,) = client.claim(worker="w1", queues=["other"])
    client.stall("stalled", worker="w1", expected_rev=job.rev)
