"""Where somebody has judged in which roles an asker may act, the kernel lets it act in those, and in no other."""

from typing import Any

import pytest
from msgspec.structs import replace

from detent.errors import Refused
from detent.kernel import Change, decide
from detent.kernel.command import COMMANDS, Enqueue
from detent.lifecycle.words import Role
from detent.lifecycles import BUILT_IN
from tests.driving import START, WORKER
from tests.kernel.tables import DECLARED, PLACES, ROLES, VERBS, WORKERS, asked_by, bring_to, lifecycle_of, row_of

every_place = pytest.mark.parametrize(("name", "state"), PLACES)


def code_of(answer: Change | Refused) -> str:
    return answer.code if isinstance(answer, Refused) else "accepted"


@pytest.mark.requirement("ALL-02", "DSP-03")
@every_place
def test_role_that_is_not_granted_is_refused_and_one_that_is_is_decided_as_ever(name: str, state: str) -> None:
    life = bring_to(name, state)
    for verb in VERBS:
        for role in ROLES:
            command = asked_by(life.job, verb, role)
            usual = decide(life.lifecycle, life.job, command, life.now)
            granted: frozenset[Any] = frozenset({"worker" if role in WORKERS else role})
            let = decide(life.lifecycle, life.job, replace(command, granted=granted), life.now)
            others: frozenset[Any] = frozenset({"worker" if each in WORKERS else each for each in ROLES}) - granted
            denied = decide(life.lifecycle, life.job, replace(command, granted=others), life.now)

            assert code_of(let) == code_of(usual), (verb, role)
            if row_of(name, state, verb) is not None:
                assert code_of(denied) == "wrong_actor", (verb, role)


@every_place
def test_asker_that_names_no_role_acts_in_the_first_granted_one_of_the_row(name: str, state: str) -> None:
    life = bring_to(name, state)
    for verb in VERBS:
        row = row_of(name, state, verb)
        if row is None or verb == "claim":  # which names a worker, so that its role has to be named, too
            continue
        for role in (each for each in ROLES if each not in WORKERS):
            command = replace(asked_by(life.job, verb, role), role=None, worker=None, attempt=None, actor="somebody")
            answer = decide(life.lifecycle, life.job, replace(command, granted=frozenset({role})), life.now)

            assert (code_of(answer) != "wrong_actor") == (role in row.by), (verb, role, code_of(answer))


def test_actor_called_like_a_role_does_not_become_it() -> None:
    life = bring_to("standard", "queued")
    cancel = COMMANDS["cancel"](actor="operator", granted=frozenset[Role]())

    assert code_of(decide(life.lifecycle, life.job, cancel, life.now)) == "wrong_actor"


def test_worker_is_no_worker_without_the_grant() -> None:
    life = bring_to("standard", "running")
    complete = COMMANDS["complete"](worker=WORKER, attempt=1, granted=frozenset[Role]({"client", "operator"}))

    assert code_of(decide(life.lifecycle, life.job, complete, life.now)) == "wrong_actor"


@pytest.mark.parametrize("name", DECLARED)
def test_enqueue_is_for_those_who_are_granted_it(name: str) -> None:
    lifecycle = lifecycle_of(name)
    for role in ROLES:
        for asked in (None, role):
            enqueue = Enqueue(job_id="j", kind="k", role=asked, granted=frozenset({role}))
            answer = decide(lifecycle, None, enqueue, START)

            assert (code_of(answer) == "accepted") == (role in lifecycle.table.start.roles), (role, asked)


@pytest.mark.requirement("ALL-05")
def test_grant_is_no_content_of_a_request() -> None:
    lifecycle = BUILT_IN["standard"]
    enqueue = Enqueue(job_id="j", kind="k", request_id="r", granted=frozenset[Role]({"client"}))
    made = decide(lifecycle, None, enqueue, START)
    assert isinstance(made, Change)
    again = decide(lifecycle, made.job, replace(enqueue, granted=None), START, receipt=made.receipt)

    assert isinstance(again, Change)
    assert again.answer == "repeat"


@pytest.mark.requirement("DSP-05")
def test_state_that_is_there_already_is_told_to_those_only_who_could_have_asked_for_it() -> None:
    life = bring_to("dispatch", "SUCCEEDED")
    complete = COMMANDS["complete"](worker=WORKER, attempt=1)
    heard = decide(life.lifecycle, life.job, replace(complete, granted=frozenset[Role]({"worker"})), life.now)
    deny = COMMANDS["deny"](granted=frozenset[Role]({"client"}))

    assert code_of(heard) in ("accepted", "illegal_move")
    denied = bring_to("dispatch", "DENIED")
    assert code_of(decide(denied.lifecycle, denied.job, deny, denied.now)) == "illegal_move"
