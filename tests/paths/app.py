"""The app whose workers the failure paths go through: `detent worker tests.paths.app:app`.

Which worker has a job first goes by its queue, and so by its kind: a worker with `--queue` serves only those kinds.
"""

from typing import Final

from detent import App, Job, Verdict
from tests.paths.acts import play, play_apart, play_in_thread

STEADY: Final = "steady"
NOBODY: Final = "nobody"  # a kind that no worker serves

VERDICTS: Final = {
    "deny": Verdict("deny", rule="not that"),
    "hold": Verdict("hold", rule="ask first"),
    "throttle": Verdict("throttle", rule="slowly", delay_s=0.2),
}

_asked: set[str] = set()


def judge(job: Job) -> Verdict | str:
    """The policy of `dispatch`. Its answer goes by the topic; in two of them it cannot be reached."""
    if job.topic == "unreachable" or (job.topic == "shaky" and job.id not in _asked):
        _asked.add(job.id)
        raise ConnectionError("nobody there")
    return VERDICTS.get(job.topic or "", "allow")


app = App(policy=judge)

# The kinds of the steady worker, one for each isolation, and one that undoes what others have done.
app.job(kind="play", queue=STEADY)(play)
app.job(kind="thread", queue=STEADY)(play_in_thread)
app.job(kind="process", queue=STEADY, isolation="process")(play_apart)
app.job(kind="undo", queue=STEADY)(play)
# Each of these has a queue of its own, and is served by another worker before the steady one serves it, too:
app.job(kind="killed", queue="killed")(play)  # by one that is killed
app.job(kind="frozen", queue="frozen")(play_in_thread)  # by one that stands still for longer than its leases last
app.job(kind="drained", queue="drained")(play)  # by one that is told to stop
app.job(kind="elsewhere", queue="elsewhere")(play)  # by a runtime of somebody else, that asks for each verb itself

QUEUES: Final = {each.kind: each.queue for each in app.registrations()}
