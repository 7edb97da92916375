"""What callers were told, held against what is there: lost and phantom jobs, second effects, steps back in time."""

from typing import Any

import pytest
from msgspec.structs import replace

from detent.audit import Answer, Call, Report, check_history
from detent.kernel import Change
from detent.kernel.command import Cancel, Fail, Renew, RequestCancel, Rerun, Schedule
from detent.kernel.compensating import compensation
from detent.lifecycle import Policy
from detent.lifecycle.registry import Registry
from detent.lifecycles import BUILT_IN, CONTRACT, DISPATCH, ENGINE, STANDARD
from tests.audit.bad_stories import UNDONE
from tests.audit.stories import engine_failed_and_run_again, run_again, running, success, used_up_until_an_operator_came
from tests.audit.telling import PERMANENT, SECOND, TRANSIENT, Story, edited, ids

KNOWN = Registry(*BUILT_IN.values())


def call(verb: str, outcome: Any = "ok", *, at: int = 0, lasts: int = 1, **fields: Any) -> Call:
    ended = None if outcome == "unknown" else at + lasts
    return Call(verb=verb, outcome=outcome, began=at, ended=ended, **fields)


def told(verb: str, rev: int, job_id: str = "j1", **fields: Any) -> Call:
    return call(verb, job_id=job_id, answers=(Answer(job_id, rev),), **fields)


def enqueued(story: Story, **fields: Any) -> Call:
    return told("enqueue", 1, story.job.id, **({"payload_digest": story.job.payload_digest} | fields))


def audit(stories: list[Story], calls: list[Call], *, drained_at: int | None = None) -> Report:
    jobs = [story.job for story in stories] + [change.job for story in stories for change in story.spawned]
    events = [event for story in stories for event in story.events]
    events += [event for story in stories for change in story.spawned for event in change.events]
    notes = [note for story in stories for note in story.notes]
    return check_history(KNOWN, jobs, events, calls, notes, drained_at=drained_at)


def found(stories: list[Story], calls: list[Call], *, drained_at: int | None = None) -> set[str]:
    return ids(audit(stories, calls, drained_at=drained_at).violations)


# -- I10: nothing acknowledged is lost --------------------------------------------------------------------------------


def test_calls_that_agree_with_the_history_are_clean() -> None:
    story = success()
    calls = [enqueued(story, at=0), told("claim", 2, at=2), told("start", 3, at=4), told("complete", 6, at=6)]

    report = audit([story], calls, drained_at=story.now)

    assert report.violations == ()
    assert report.is_clean


def test_an_acknowledged_job_that_is_not_there_is_lost() -> None:
    there, lost = Story(STANDARD, "j1"), Story(STANDARD, "j2")

    assert found([there], [enqueued(there), enqueued(lost)]) == {"I10"}


def test_an_acknowledged_job_with_another_payload_is_reported() -> None:
    story = Story(STANDARD)

    assert found([story], [enqueued(story, payload_digest="other")]) == {"I10"}
    assert found([story], [enqueued(story), enqueued(story, payload_digest="other", is_duplicate=True)]) == set()


def test_a_job_that_could_go_on_but_did_not_is_reported_once_all_was_given_time() -> None:
    story = Story(STANDARD)

    assert found([story], [enqueued(story)]) == set()
    assert found([story], [enqueued(story)], drained_at=story.now) == {"I10"}


@pytest.mark.parametrize(
    "story",
    [
        Story(STANDARD, run_at=10**18),
        Story(DISPATCH),
        Story(DISPATCH).do(Schedule(verdict="hold", rule="r")),
        used_up_until_an_operator_came(),
    ],
    ids=["later", "parked", "held-for-approval", "ended"],
)
def test_a_job_that_waits_for_a_signal_or_a_later_time_is_not_lost(story: Story) -> None:
    assert found([story], [enqueued(story)], drained_at=story.now) == set()


@pytest.mark.parametrize(
    ("story", "later_s"),
    [(running(), 0), (running().fail(), 600), (Story(CONTRACT).claim().reconcile(), 600)],
    ids=["leased", "claimable", "to-be-requeued"],
)
def test_a_job_that_lies_about_after_draining_is_reported(story: Story, later_s: int) -> None:
    assert found([story], [enqueued(story)], drained_at=story.now + later_s * SECOND) == {"I10"}


# -- I11: nothing is there that nobody asked for ----------------------------------------------------------------------


def test_a_job_nobody_enqueued_is_a_phantom() -> None:
    story, phantom = Story(STANDARD, "j1"), Story(STANDARD, "j2")

    assert found([story, phantom], [enqueued(story)]) == {"I11"}
    assert found([phantom], [call("enqueue", "refused", job_id="j2")]) == {"I11"}


@pytest.mark.parametrize(
    "fields",
    [{"job_id": "j1"}, {"request_id": "r1"}, {"payload_digest": Story(STANDARD).job.payload_digest}],
    ids=["by-id", "by-request", "by-payload"],
)
def test_an_enqueue_without_an_answer_may_have_made_its_job(fields: dict[str, Any]) -> None:
    assert found([Story(STANDARD, request_id="r1")], [call("enqueue", "unknown", **fields)]) == set()


@pytest.mark.requirement("ALL-10")
def test_the_rerun_of_a_failed_job_is_no_phantom() -> None:
    story = engine_failed_and_run_again()

    assert len(story.spawned) == 1
    assert found([story], [enqueued(story)]) == set()


def test_what_undoes_a_job_is_no_phantom() -> None:
    story = Story(STANDARD, policy=UNDONE).claim(start=True).do(Cancel(mode="hard", request_id="r1"))
    other = Story(STANDARD, "j2", policy=UNDONE).claim(start=True).do(Cancel(mode="hard", request_id="r1"))
    for each in (story, other):
        end = Change(replace(each.job, rev=each.job.rev - 1), tuple(each.events[-1:]))
        each.spawned.append(compensation(STANDARD, end, each.job))
        edited(each, "cancel", payload={"compensation_job_id": each.spawned[0].before.id})

    assert found([story, other], [enqueued(story), enqueued(other)]) == set()


def test_a_rerun_somebody_asked_for_is_no_phantom() -> None:
    story = run_again()

    asked = call("rerun", job_id="j1", answers=(Answer("j2", 1),))

    assert found([story], [enqueued(story), asked]) == set()
    assert found([story], [enqueued(story)]) == {"I11"}


@pytest.mark.parametrize("request_id", [None, "r9"], ids=["without-request", "with-request"])
def test_a_rerun_without_an_answer_may_have_made_its_job(request_id: str | None) -> None:
    story = running().fail(PERMANENT).do(Rerun(new_job_id="j2", request_id=request_id))
    lost = call("rerun", "unknown", job_id="j1", request_id=request_id)

    assert found([story], [enqueued(story), lost]) == set()


def test_a_rerun_without_an_answer_that_made_two_jobs_is_reported() -> None:
    story = running().fail(PERMANENT).do(Rerun(new_job_id="j2")).do(Rerun(new_job_id="j3"))

    assert found([story], [enqueued(story), call("rerun", "unknown", job_id="j1")]) == {"I13"}


# -- I12 and I13: one effect ------------------------------------------------------------------------------------------


def renewed_twice() -> Story:
    return edited(running().own(Renew, request_id="r1").own(Renew), "renew", 2, request_id="r1")


@pytest.mark.requirement("ALL-05")
def test_a_repeated_request_with_two_effects_is_reported() -> None:
    story = renewed_twice()
    lost = call("renew", "unknown", job_id="j1", request_id="r1")
    again = told("renew", 5, request_id="r1", at=2)

    assert found([story], [enqueued(story), lost, again]) == {"I12"}


def test_a_request_without_an_answer_that_took_effect_twice_is_reported() -> None:
    story = renewed_twice()

    assert found([story], [enqueued(story), call("renew", "unknown", job_id="j1", request_id="r1")]) == {"I13"}


def test_a_request_that_was_answered_and_yet_took_effect_twice_is_reported() -> None:
    story = renewed_twice()

    assert found([story], [enqueued(story), told("renew", 5, request_id="r1")]) == {"I12"}


def test_a_rerun_carries_the_request_id_of_what_brought_it_about_and_is_no_second_effect() -> None:
    policy = Policy(lease_s=30, heartbeat_s=10, rerun_failed=True)
    story = Story(ENGINE, request_id="r1", policy=policy).claim(start=True)
    story.own(Fail, error=TRANSIENT, request_id="r1")
    failed = told("fail", 4, request_id="r1")

    assert [change.events[0].request_id for change in story.spawned] == ["r1"]
    assert found([story], [enqueued(story, request_id="r1"), failed]) == set()


def test_a_repeated_rerun_names_the_new_job_again() -> None:
    story = running().fail(PERMANENT).do(Rerun(new_job_id="j2", request_id="r1"))
    asked = call("rerun", job_id="j1", request_id="r1", answers=(Answer("j2", 1),))
    other = replace(asked, answers=(Answer("j1", 4),))

    assert found([story], [enqueued(story), asked, asked]) == set()
    assert found([story], [enqueued(story), asked, other]) == {"I12"}


def test_an_enqueue_without_an_answer_that_made_two_jobs_is_reported() -> None:
    first, second = Story(STANDARD, "j1"), Story(STANDARD, "j2")
    lost = call("enqueue", "unknown", payload_digest=first.job.payload_digest)

    assert found([first], [lost]) == set()
    assert found([first, second], [lost]) == {"I13"}
    assert found([first, second], [lost, lost]) == set()


def test_one_request_id_that_made_two_jobs_is_reported() -> None:
    first, second = (Story(STANDARD, name, request_id="r1") for name in ("j1", "j2"))
    lost = call("enqueue", "unknown", request_id="r1")

    assert found([first, second], [lost]) == {"I13"}
    assert found([first, second], [lost, lost]) == {"I12"}


def test_a_repeat_that_names_another_job_is_reported() -> None:
    first, second = Story(STANDARD, "j1", request_id="r1"), Story(STANDARD, "j2")
    calls = [enqueued(first, request_id="r1"), enqueued(second), enqueued(second, request_id="r1", at=5)]

    assert found([first, second], calls) == {"I12"}


def test_a_verb_on_a_job_answered_with_another_job_is_reported() -> None:
    first, second = Story(STANDARD, "j1"), Story(STANDARD, "j2").claim(request_id="r1")
    answer = call("renew", job_id="j2", request_id="r1", answers=(Answer("j1", 1),))

    assert found([first, second], [enqueued(first), enqueued(second), answer]) == {"I12"}


@pytest.mark.requirement("ALL-05")
def test_other_content_accepted_under_the_same_request_id_is_reported() -> None:
    story = running().own(Renew, request_id="r1")
    first = told("renew", 4, request_id="r1", digest="a")
    other = told("renew", 4, request_id="r1", digest="b", at=5)

    assert found([story], [enqueued(story), first, other]) == {"I12"}
    assert found([story], [enqueued(story), first, replace(other, outcome="refused", answers=())]) == set()
    assert found([story], [enqueued(story), first, replace(other, digest="a")]) == set()


@pytest.mark.requirement("ALL-05")
def test_a_repeated_claim_may_name_fewer_jobs_but_no_others() -> None:
    stories = [Story(STANDARD, name).claim(request_id="r1") for name in ("j1", "j2", "j3")]
    both, one, other = (
        call("claim", request_id="r1", answers=tuple(Answer(name, 2) for name in names))
        for names in (("j1", "j2"), ("j2",), ("j3",))
    )
    known = [enqueued(story) for story in stories]

    assert found(stories, [*known, both, one, call("claim", request_id="r1")]) == set()
    assert found(stories, [*known, both, other]) == {"I12"}


def test_a_claim_answered_with_a_job_it_did_not_take_is_reported() -> None:
    story = Story(STANDARD).claim(request_id="r2")
    answer = call("claim", request_id="r1", answers=(Answer("j1", 2),))

    assert found([story], [enqueued(story), answer]) == {"I12"}


# -- I14 and I15: one order -------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-06")
def test_two_successes_on_one_revision_are_reported() -> None:
    story = success()
    first = told("renew", 4, expected_rev=3, digest="a")
    second = told("complete", 4, expected_rev=3, digest="b")

    assert found([story], [enqueued(story), first, second]) == {"I14"}
    assert found([story], [enqueued(story), first, replace(second, outcome="refused", answers=())]) == set()


@pytest.mark.parametrize(
    ("first", "again"),
    [({"request_id": "r1"}, {"request_id": "r1"}), ({"digest": "a"}, {"digest": "a"})],
    ids=["same-request", "same-content"],
)
def test_a_repeat_is_no_second_success(first: dict[str, Any], again: dict[str, Any]) -> None:
    story = success()
    calls = [enqueued(story), *(told("renew", 4, expected_rev=3, **fields) for fields in (first, again))]

    assert found([story], calls) == set()


@pytest.mark.parametrize(
    ("first", "second"),
    [({}, {}), ({"digest": "a"}, {"digest": "a", "request_id": "r1"}), ({"request_id": "r1"}, {"request_id": "r2"})],
    ids=["nothing-known", "one-request", "two-requests"],
)
def test_what_cannot_be_a_repeat_is_a_second_success(first: dict[str, Any], second: dict[str, Any]) -> None:
    story = success()
    one, other = (told("renew", 4, expected_rev=3, **fields) for fields in (first, second))

    assert found([story], [enqueued(story), one]) == set()
    assert found([story], [enqueued(story), one, other]) == {"I14"}


def test_an_answer_at_the_revision_it_named_used_nothing_up() -> None:
    story = success()
    unchanged = told("request_cancel", 3, expected_rev=3, digest="a")
    calls = [enqueued(story), unchanged, told("renew", 4, expected_rev=3, digest="b", at=3)]

    assert "I14" not in found([story], calls)


def test_a_later_call_that_saw_an_older_revision_is_reported() -> None:
    story = success()
    early, late = told("renew", 4, at=10, lasts=5), told("get", 3, at=16)

    assert found([story], [enqueued(story), early, late]) == {"I15"}
    assert found([story], [enqueued(story), early, replace(late, began=15)]) == set()


def test_a_record_older_than_what_was_answered_is_reported() -> None:
    story = running()

    assert found([story], [enqueued(story), told("renew", 4)]) == {"I15"}


# -- I16: a cancel counts ---------------------------------------------------------------------------------------------


def test_an_acknowledged_hard_cancel_of_a_job_that_succeeded_is_reported() -> None:
    story = success()

    assert found([story], [enqueued(story), told("cancel", 4, mode="hard")]) == {"I16"}


def test_a_cancel_acknowledged_before_it_was_written_is_reported() -> None:
    story = running().own(Renew).do(Cancel(mode="hard"))

    assert found([story], [enqueued(story), told("cancel", 5, mode="hard")]) == set()
    assert found([story], [enqueued(story), told("cancel", 4, mode="hard")]) == {"I16"}


def test_a_cancel_of_a_lost_job_is_the_loss_of_the_job() -> None:
    lost = running()

    assert found([], [enqueued(lost), told("cancel", 4, mode="hard")]) == {"I10"}


def test_an_acknowledged_hard_cancel_that_only_asked_is_reported() -> None:
    story = running().do(Cancel()).complete()

    assert found([story], [enqueued(story), told("cancel", 4, mode="hard")]) == {"I16"}
    assert found([story], [enqueued(story), told("cancel", 4, mode="soft")]) == set()


@pytest.mark.parametrize("command", [Cancel(), RequestCancel()], ids=["cancel", "request_cancel"])
def test_an_acknowledged_soft_cancel_that_left_no_trace_is_reported(command: Cancel | RequestCancel) -> None:
    traced, lost = running().do(command), running().own(Renew)
    answer = told(command.verb, 4, mode="soft")

    assert found([traced], [enqueued(traced), answer]) == set()
    assert found([lost], [enqueued(lost), answer]) == {"I16"}
