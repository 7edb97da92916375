"""What can be said in an explored world: by workers of jobs they hold or believe they hold, and by everybody else."""

from typing import Any, Final

from detent.kernel import Error, Job
from detent.kernel.command import (
    COMMANDS,
    Cancel,
    Command,
    Complete,
    DeadLetter,
    Fail,
    RegisterArtifact,
    Release,
    Renew,
    ReportProgress,
    RequestCancel,
    Schedule,
    Stall,
    Start,
    TimeOut,
    Verdict,
)
from detent.kernel.job import Progress
from detent.lifecycle import Lifecycle
from detent.lifecycle.words import WORKING

Word = tuple[str, Command]

_TRANSIENT: Final = Error("TransientError", "try again")
_PERMANENT: Final = Error("PermanentError", "never again")
_VERDICTS: Final[tuple[Verdict, ...]] = ("allow", "hold", "throttle", "deny")
_HALF: Final = ReportProgress(progress=Progress(0.5))
_MADE: Final = RegisterArtifact(name="page", pointer="s3://made/page")
_WORKERS: Final[tuple[Word, ...]] = (
    ("start", Start()),
    ("renew", Renew()),
    ("complete", Complete()),
    ("fail for now", Fail(error=_TRANSIENT)),
    ("fail for good", Fail(error=_PERMANENT)),
    ("release", Release()),
    ("stall", Stall()),
    ("cancel", Cancel(mode="hard")),
    ("dead_letter", DeadLetter(reason_code="parse_error")),
    ("time_out", TimeOut()),
    ("progress", _HALF),
)


def workers_words(lifecycle: Lifecycle, *, is_claims_only: bool) -> tuple[Word, ...]:
    """All that the lifecycle lets an owner say, and cancel, which it may have to say after a request."""
    if is_claims_only:
        return tuple(word for word in _WORKERS if word[0] == "complete")
    verbs = {move.verb for move in lifecycle.moves if "owner" in move.by} | {"cancel"}
    if lifecycle.implies_start:
        verbs |= {"progress"}  # which brings a start along
    return tuple(word for word in _WORKERS if word[1].verb in verbs)


def words_in_vain(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """What somebody who lost the job may try. What turns out alike whoever says it, or moves nothing, only here."""
    return (*words, ("request_cancel", RequestCancel()), ("progress", _HALF), ("artifact", _MADE))


def heard_roles(verb: str, by: tuple[str, ...]) -> list[str]:
    """The roles whose word makes a difference of its own; who may say what is tested elsewhere, exhaustively."""
    others = [role for role in by if role not in WORKING]
    if verb == "requeue":
        return [role for role in others if role != "scheduler"]  # it turns out as the reconciler's
    return others[:1] + [role for role in others[1:] if (verb, role) == ("cancel", "reconciler")]


def orders(verb: str, role: str, job: Job) -> tuple[Command, ...]:
    """The commands a role may give with a verb, one per way it can turn out. Claims go through the queue instead."""
    who: dict[str, Any] = {"role": role, "expected_rev": job.rev}
    match verb:
        case "claim":
            return ()
        case "schedule":
            return tuple(Schedule(**who, verdict=verdict, rule="r", delay_s=10) for verdict in _VERDICTS)
        case "fail":
            return (Fail(**who, error=_PERMANENT),)
        case "cancel":
            return Cancel(**who, mode="soft"), Cancel(**who, mode="hard")
        case _:
            return (COMMANDS[verb](**who),)


def named(command: Command) -> str:
    extra = getattr(command, "mode", None) or getattr(command, "verdict", None)
    return f"{command.verb} ({extra})" if extra else command.verb
