"""Writers that want one file at the same time: each gets its share, and none waits long."""

import time
from typing import Final

import detent
from tests.store.processes.gathering import gathered, let_go
from tests.store.processes.outcome import Outcome, as_percent, shares

HEAD_START_S: Final = 0.2  # until all have heard when to begin
LONGEST_S_MAX: Final = 1.0


def run_contenders(url: str, *, writers: int, for_s: float, share_min: float) -> Outcome:
    outcome = Outcome()
    with gathered("contender", [{"url": url}] * writers) as programs:
        from_s = time.monotonic() + HEAD_START_S
        told = let_go(programs, from_s=from_s, until_s=from_s + for_s)
    commits = [line["commits"] for line in told]
    longest_s = max(line["longest_s"] for line in told)
    outcome.expect(min(shares(commits)) >= share_min, f"a writer got less than {share_min:.0%}: {as_percent(commits)}")
    outcome.expect(longest_s <= LONGEST_S_MAX, f"a verb waited {longest_s:.2f} s")
    with detent.connect(url) as client:
        report = client.verify()
    outcome.expect_clean(report)
    outcome.expect_equal("jobs", report.jobs, sum(commits))
    outcome.summary = (
        f"{writers} writers for {for_s:g} s: {sum(commits)} commits ({sum(commits) / for_s:.0f}/s), "
        f"shares {as_percent(commits)}, longest wait {longest_s * 1_000:.0f} ms"
    )
    return outcome
