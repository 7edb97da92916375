"""`detent job cancel`, `rerun`, `requeue`, `submit`, `approve`, `deny`: each on the record, with a name."""

import re
from pathlib import Path

import pytest

from detent.client import Event, SyncClient
from detent.lifecycle import Policy, Retry
from detent.surfaces.shapes import AnsweredShape
from tests.surfaces.running import LOGIN, Site, bury, refused, refused_in_json, run_one, succeed


def last(site: Site, job_id: str = "42") -> Event:
    with site.client() as client:
        return client.history(job_id)[-1]


def stalled(client: SyncClient, *, max_attempts: int = 5) -> None:
    policy = Policy(retry=Retry(max_attempts=max_attempts, base_s=3_600, max_s=3_600))
    client.enqueue("scan", job_id="42", lifecycle="contract", policy=policy)
    (job,) = client.claim(worker="w1")
    client.stall("42", worker="w1", expected_rev=job.rev)


def held(client: SyncClient) -> None:
    client.enqueue("scan", job_id="42", lifecycle="dispatch")
    client.schedule("42", verdict="hold", rule="big-orders")


def test_waiting_job_is_cancelled_at_once(site: Site) -> None:
    site.shown("enqueue", "scan", "--id", "42")

    assert site.shown("job", "cancel", "42", "--reason", "wrong customer") == "42  cancelled\n"
    event = last(site)
    assert (event.verb, event.role, event.actor, event.cause) == ("cancel", "operator", LOGIN, "wrong customer")


def test_running_job_is_asked_to_stop(site: Site) -> None:
    with site.client() as client:
        run_one(client, "42")

    shown = site.shown("job", "cancel", "42")

    assert re.fullmatch(r"42  running  asked to stop, and has until [0-9:.]{12} UTC\n", shown)
    assert last(site).verb == "request_cancel"
    assert site.shown("job", "cancel", "42").endswith("(it was so already)\n")
    assert site.json("job", "cancel", "42").answer == "unchanged"


def test_hard_cancel_takes_the_job_from_its_worker(site: Site) -> None:
    with site.client() as client:
        run_one(client, "42")

    assert site.shown("job", "cancel", "42", "--hard") == "42  cancelled\n"


def test_json_is_the_job_as_it_is_then(site: Site) -> None:
    site.shown("enqueue", "scan", "--id", "42")

    job = site.json("job", "cancel", "42")

    assert isinstance(job, AnsweredShape)
    assert (job.state, job.outcome, job.rev, job.answer) == ("cancelled", "cancelled", 2, "applied")


@pytest.mark.parametrize("command", ["cancel", "requeue", "submit", "approve", "deny"])
def test_move_that_the_state_does_not_have_is_refused_and_says_what_is_allowed(site: Site, command: str) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="42", lifecycle="contract")

    message = refused(site.detent("job", command, "42"), 1)

    assert f"job 42 is 'queued'; '{command}' refused (illegal_move)" in message
    assert "Allowed now: claim. See: detent lifecycle show contract" in message
    error = refused_in_json(site.detent("job", command, "42", "--json"), 1)
    assert (error["code"], error["state"], error["allowed"]) == ("illegal_move", "queued", ["claim"])


@pytest.mark.parametrize("command", ["cancel", "requeue", "submit", "approve", "deny"])
def test_move_of_a_job_that_has_ended_is_refused_and_points_at_the_rerun(site: Site, command: str) -> None:
    with site.client() as client:
        succeed(client, "42")

    message = refused(site.detent("job", command, "42"), 1)

    assert f"job 42 has ended ('succeeded'); nothing to {command}. To run it again: detent job rerun 42" in message
    error = refused_in_json(site.detent("job", command, "42", "--json"), 1)
    assert (error["code"], error["state"], error["allowed"]) == ("illegal_move", "succeeded", [])


def test_cancelled_job_is_called_cancelled_where_its_state_is_not(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="42", lifecycle="engine")

    assert site.shown("job", "cancel", "42") == "42  failed  cancelled\n"


def test_rerun_of_a_job_that_has_not_ended_is_refused(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="42")

    message = refused(site.detent("job", "rerun", "42"), 1)

    assert "job 42 has not ended, it is 'queued'; cancel it first, or wait for its end: detent job wait 42" in message
    assert refused_in_json(site.detent("job", "rerun", "42", "--json"), 1)["code"] == "illegal_move"


def test_stalled_contract_is_requeued_on_the_revision_that_was_read(site: Site) -> None:
    with site.client() as client:
        stalled(client)

    assert site.shown("job", "requeue", "42", "--actor", "bob") == "42  queued  put back into its queue\n"
    event = last(site)
    assert (event.role, event.actor) == ("operator", "bob")


def test_contract_with_a_used_up_budget_is_sent_round_again_by_a_person(site: Site) -> None:
    with site.client() as client:
        stalled(client, max_attempts=1)

    assert site.shown("job", "requeue", "42") == "42  queued  put back into its queue\n"
    with site.client() as client:
        assert (client.get("42").failures, client.get("42").crashes) == (0, 0)


def test_revision_that_was_named_is_minded(site: Site) -> None:
    with site.client() as client:
        stalled(client)

    assert refused_in_json(site.detent("job", "requeue", "42", "--rev", "1", "--json"), 1)["code"] == "stale_rev"
    assert site.shown("job", "requeue", "42", "--rev", "3") == "42  queued  put back into its queue\n"


def test_held_job_is_approved(site: Site) -> None:
    with site.client() as client:
        held(client)

    assert (
        site.shown("job", "approve", "42", "--reason", "checked with finance")
        == "42  SCHEDULED  approved, can be claimed\n"
    )
    event = last(site)
    assert (event.verb, event.role, event.cause) == ("approve", "operator", "checked with finance")
    assert site.shown("job", "approve", "42") == "42  SCHEDULED  (it was so already)\n"
    with site.client() as client:
        assert [job.id for job in client.claim(worker="w1")] == ["42"]


def test_held_job_is_denied_by_a_rule(site: Site) -> None:
    with site.client() as client:
        held(client)

    assert site.shown("job", "deny", "42", "--rule", "no-weekends") == "42  DENIED\n"
    event = last(site)
    assert (event.verb, event.role) == ("deny", "operator")
    assert site.json("job", "show", "42").rule == "no-weekends"


def test_draft_is_submitted_in_the_role_that_its_lifecycle_wants(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="42", lifecycle="document")

    assert site.shown("job", "submit", "42") == "42  QUEUED  submitted\n"
    assert (last(site).role, last(site).actor) == ("client", LOGIN)


def test_rerun_is_a_new_job_that_names_the_old_one(site: Site) -> None:
    with site.client() as client:
        succeed(client, "42")

    shown = site.shown("job", "rerun", "42", "--reason", "new model")

    new_id = shown.split()[0]
    assert shown == f"{new_id}  queued  runs 42 again\n"
    assert site.json("job", "show", new_id).rerun_of == "42"
    assert (last(site, new_id).actor, last(site, new_id).cause) == (LOGIN, "new model")


def test_job_that_was_run_again_is_not_run_a_second_time_unless_that_is_said(site: Site) -> None:
    with site.client() as client:
        succeed(client, "42")
    first = site.json("job", "rerun", "42")

    message = refused(site.detent("job", "rerun", "42"), 1)
    error = refused_in_json(site.detent("job", "rerun", "42", "--json"), 1)

    assert f"job 42 was run again already, as job {first.id}. See: detent job explain {first.id}." in message
    assert "To run it once more: detent job rerun --again 42" in message
    assert (error["code"], error["job_id"], error["new_job_id"]) == ("already_rerun", "42", first.id)
    assert len(site.json("job", "list")) == 2

    second = site.json("job", "rerun", "42", "--again")
    assert second.rerun_of == "42"
    assert second.id != first.id


def test_two_who_run_a_job_again_at_once_make_one_of_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with site.client() as client:
        bury(client, "42")
        site.shown("dlq", "redrive", "42")
        (new,) = client.find(parent_job_id="42")
        monkeypatch.setattr(SyncClient, "reruns", lambda *_: [])  # the look came a moment too early

        same = site.json("job", "rerun", "42")
        other = refused_in_json(site.detent("job", "rerun", "42", "--delay", "10m", "--json"), 1)

        assert (same.id, same.answer) == (new.id, "repeat")
        assert (other["code"], other["new_job_id"]) == ("already_rerun", new.id)
        assert client.count() == {(): 2}


def test_rerun_of_a_document_is_submitted_too(site: Site) -> None:
    site.shown("enqueue", "scan", "--id", "42", "--lifecycle", "document")
    site.shown("job", "cancel", "42")

    again = site.json("job", "rerun", "42")

    assert again.state == "QUEUED"
    with site.client() as client:
        assert [event.to_state for event in client.history(again.id)] == ["CREATED", "QUEUED"]


def test_rerun_may_have_other_input_and_wait(site: Site, tmp_path: Path) -> None:
    (tmp_path / "input.json").write_text('{"pages": 2}')
    with site.client() as client:
        succeed(client, "42")

    again = site.json("job", "rerun", "42", "--payload", f"@{tmp_path}/input.json", "--delay", "10m")

    assert again.payload == {"pages": 2}
    assert again.run_at is not None


def test_null_is_no_other_input(site: Site) -> None:
    with site.client() as client:
        succeed(client, "42")

    assert "--payload null would be the old input" in refused(site.detent("job", "rerun", "42", "--payload", "null"), 2)
    assert len(site.json("job", "list")) == 1


@pytest.mark.parametrize("login", ["worker", "reconciler"])
@pytest.mark.parametrize(("command", "role"), [("cancel", "operator"), ("submit", "client")])
def test_login_that_is_also_the_name_of_a_role_decides_nothing(site: Site, login: str, command: str, role: str) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="42", lifecycle="document")

    site.shown("job", command, "42", env={"LOGNAME": login})

    assert (last(site).actor, last(site).role) == (login, role)


def test_who_asked_is_named_by_option_before_environment_before_login(site: Site) -> None:
    for job_id in ("1", "2", "3"):
        site.shown("enqueue", "scan", "--id", job_id)
    site.shown("job", "cancel", "1", "--actor", "bob", env={"DETENT_ACTOR": "deploy"})
    site.shown("job", "cancel", "2", env={"DETENT_ACTOR": "deploy"})
    site.shown("job", "cancel", "3")

    assert [last(site, job_id).actor for job_id in ("1", "2", "3")] == ["bob", "deploy", LOGIN]


def test_number_without_a_name_is_a_login_too(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr("pwd.getpwuid", nobody)
    names = dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME"))
    site.shown("enqueue", "scan", "--id", "42", env=names)

    assert re.fullmatch(r"uid-[0-9]+", last(site).actor)
