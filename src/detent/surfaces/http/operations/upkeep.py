"""What keeps a store in order: what time demands, retention, checks, and the gate's work."""

from typing import Any, Final

from msgspec import Struct

from detent.client.arguments import bounded_ids, check_text_name, listed
from detent.client.reads import check_cursor, page_size
from detent.client.upkeep import PRUNE_BATCH, RECONCILE_MAX
from detent.client.verbs import names
from detent.errors import DetentError, InvalidArgument, shown
from detent.kernel import Job
from detent.lifecycle.bounds import check_at_least, check_whole
from detent.store import Page, Reply, Retention
from detent.store.query import DAY_S, Pruned
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.bodies import opened
from detent.surfaces.http.budget import job_bytes, page_within
from detent.surfaces.http.operations.job_shapes import JobPage
from detent.surfaces.http.operations.verbs import BATCH_MAX, BatchAnswer, BatchBody, BatchShape, reply_shape
from detent.surfaces.http.route import Route

_PACED_MAX: Final = 365 * DAY_S


class ReconcileBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    limit: int = 1000


class ReconciledShape(Struct, frozen=True, kw_only=True):
    """How many jobs were moved, and as what they are now: those of the asker's own tenant, unless it is for any."""

    count: int
    answers: list[BatchAnswer]


class RetentionBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long ended jobs stay, in seconds since their end; and how many go in this transaction at most."""

    successes_s: float = 7 * DAY_S
    others_s: float = 30 * DAY_S
    limit: int = PRUNE_BATCH


class PurgeBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    job_ids: list[str]


class ChecksShape(Struct, frozen=True, kw_only=True):
    """What is wrong with the store as a whole; nothing, it is to be hoped."""

    complaints: list[str]


class UnjudgedBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose jobs: a worker asks about those that it would run itself, and these are its queues and kinds."""

    queues: list[str]
    kinds: list[str]
    limit: int = 100
    cursor: str | None = None


class PaceBody(BatchBody, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Verdicts that throttle by one rule, each due `every_s` after the last of it, whoever else paces the rule."""

    rule: str
    every_s: float


async def reconcile(ask: Ask, body: ReconcileBody) -> ReconciledShape:
    """Do what time demands: expired leases, time limits, retries and waits that are over. The service does it, too."""
    check_whole("limit", body.limit, least=1, most=RECONCILE_MAX)
    replies = await ask.service.reconcile(body.limit)
    own = [reply for reply in replies if _is_own(reply, ask)]
    return ReconciledShape(count=len(own), answers=[reply_shape(ask, reply) for reply in own])


async def prune(ask: Ask, body: RetentionBody) -> Pruned:
    """Remove jobs that ended so long ago, with their logs; a batch of them. `is_done`: nothing more is old enough."""
    check_at_least("successes_s", body.successes_s, 0)
    check_at_least("others_s", body.others_s, 0)
    check_whole("limit", body.limit, least=1, most=PRUNE_BATCH)
    retention = Retention(successes_s=body.successes_s, others_s=body.others_s)
    return await ask.client.store.prune(ask.grant.tenant, retention, body.limit)


async def purge(ask: Ask, body: PurgeBody) -> Pruned:
    """Remove those of these jobs that have ended, with all that is kept of them, for good."""
    return await ask.client.store.purge(ask.grant.tenant, bounded_ids(body.job_ids))


async def check(ask: Ask) -> ChecksShape:
    """Look for what is wrong with the store as a whole: its own integrity, logs without a record, missing events."""
    ask.grant.check_any_tenant()
    return ChecksShape(complaints=await ask.client.store.check())


async def unjudged(ask: Ask, body: UnjudgedBody) -> JobPage:
    """Jobs of these queues and kinds that wait for a verdict, the oldest first."""
    queues, kinds = names("queues", body.queues) or (), names("kinds", body.kinds) or ()
    limit, cursor = page_size(body.limit), check_cursor(body.cursor)

    async def read(limit: int, cursor: str | None) -> Page[Job]:
        return await ask.client.store.unjudged(ask.grant.tenant, queues, kinds, limit, cursor)

    page = await page_within(read, limit, cursor, job_bytes)
    return JobPage(jobs=[ask.shown(job) for job in page], cursor=page.cursor)


async def pace(ask: Ask, body: PaceBody) -> BatchShape:
    """Record verdicts that throttle, spaced in time, so that a rate holds however many ask."""
    if not 0 <= body.every_s <= _PACED_MAX:
        raise InvalidArgument(f"every_s is {body.every_s:g}; use 0 to {_PACED_MAX:g} s")
    given = listed("requests", body.requests, of="requests", most=BATCH_MAX)
    requests = [ask.client.request(_verdict(ask, each)) for each in given]
    rule, every = check_text_name("rule", body.rule), round(body.every_s * 1e6)
    replies = await ask.client.store.pace(ask.grant.tenant, rule, every, requests)
    return BatchShape(answers=[reply_shape(ask, reply) for reply in replies])


def _verdict(ask: Ask, request: dict[str, Any]) -> dict[str, Any]:
    arguments = opened(dict(request), ask.inflating)
    verb = arguments.pop("verb", "schedule")
    if verb != "schedule":
        raise InvalidArgument(f"a rule paces verdicts, and this is {shown(verb)}; use /v1/batch for it")
    return ask.grant.asked(check_text_name("verb", verb), arguments) | {"verb": verb}


def _is_own(reply: Reply | DetentError, ask: Ask) -> bool:
    is_all = ask.grant.is_any_tenant
    return is_all or (isinstance(reply, Reply) and reply.job.spec.tenant == ask.grant.tenant)


_OPERATE: Final = ("operate",)
_ADMIN: Final = ("admin",)
ROUTES: Final = (
    Route(method="POST", path="/v1/reconciliations", handler=reconcile, scopes=_OPERATE, tag="upkeep"),
    Route(method="POST", path="/v1/prunes", handler=prune, scopes=_ADMIN, tag="upkeep"),
    Route(method="POST", path="/v1/purges", handler=purge, scopes=_ADMIN, tag="upkeep"),
    Route(method="POST", path="/v1/checks", handler=check, scopes=_ADMIN, tag="upkeep", is_reading=True),
    Route(method="POST", path="/v1/unjudged", handler=unjudged, scopes=_OPERATE, tag="upkeep", is_reading=True),
    Route(method="POST", path="/v1/paces", handler=pace, scopes=_OPERATE, tag="upkeep"),
)
