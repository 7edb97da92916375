"""`detent enqueue`: every option reaches the record, and what is not new is called so."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from detent.surfaces.shapes import AnsweredShape
from tests.surfaces.running import ARTICLE, LOGIN, Site, refused, refused_in_json

EVERYTHING = (
    "--queue", "scans", "--lifecycle", "engine", "--priority", "7", "--id", "42", "--dedupe-key", "a.pdf",
    "--request-id", "req-1", "--max-attempts", "9", "--rerun-failed", "--timeout", "2m", "--lease", "45s",
    "--correlation", "order-1",
    "--parent", "41", "--workflow", "wf", "--step", "3", "--topic", "ocr.pages", "--context-ptr", "s3://bucket/context",
    "--adapter", "tesseract", "--env", "region=eu", "--env", "note=a=b", "--reason", "asked by phone",
    "--actor", "bob", "--run-at", "2099-01-02T03:04:05Z",
)  # fmt: skip


def test_job_is_made_and_named(site: Site) -> None:
    shown = site.shown("enqueue", "ocr", '{"path": "a.pdf"}', "--id", "42")

    assert shown == "42  queued\n"
    with site.client() as client:
        assert client.get("42").payload == {"path": "a.pdf"}


def test_json_is_the_job_and_how_the_request_was_answered(site: Site) -> None:
    made = site.json("enqueue", "ocr", '{"path": "a.pdf"}')

    assert isinstance(made, AnsweredShape)
    assert (made.kind, made.state, made.payload, made.answer) == ("ocr", "queued", {"path": "a.pdf"}, "applied")
    with site.client() as client:
        assert client.get(made.id).created_at == made.created_at


def test_every_option_reaches_the_record(site: Site) -> None:
    site.shown("enqueue", "ocr", *EVERYTHING)

    with site.client() as client:
        job, (event,) = client.get("42"), client.history("42")
    assert (job.queue, job.lifecycle, job.priority, job.dedupe_key) == ("scans", "engine", 7, "a.pdf")
    assert (job.correlation_id, job.parent_job_id, job.workflow_id, job.step_index) == ("order-1", "41", "wf", 3)
    assert (job.topic, job.context_ptr, job.adapter_id) == ("ocr.pages", "s3://bucket/context", "tesseract")
    assert job.env == {"region": "eu", "note": "a=b"}
    assert job.run_at == datetime(2099, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert (job.policy.retry.max_attempts, job.policy.timeout_s, job.policy.lease_s) == (9, 120, 45)
    assert job.policy.rerun_failed
    assert (event.actor, event.cause, event.request_id) == ("bob", "asked by phone", "req-1")


def test_settings_that_are_not_given_stay_those_of_the_lifecycle(site: Site) -> None:
    site.shown("enqueue", "ocr", "--lifecycle", "engine", "--id", "42", "--max-attempts", "2")

    with site.client() as client:
        policy, defaults = client.get("42").policy, client.lifecycle("engine").defaults
    assert (policy.lease_s, policy.heartbeat_s) == (defaults.lease_s, defaults.heartbeat_s)
    assert policy.retry.base_s == defaults.retry.base_s


def test_delay_is_counted_from_now(site: Site) -> None:
    job = site.json("enqueue", "ocr", "--delay", "2h")

    assert job.run_at - job.created_at == timedelta(hours=2)


@pytest.mark.parametrize("written", ["15m", "soon", "2026-13-01"])
def test_time_to_run_at_is_a_time_and_not_how_long_ago(site: Site, written: str) -> None:
    message = refused(site.detent("enqueue", "ocr", "--run-at", written), 2)

    assert f"'{written}' is no time" in message
    assert "--delay" in message
    assert not site.path.exists()


def test_payload_can_come_from_a_file_or_from_stdin(site: Site, tmp_path: Path) -> None:
    (tmp_path / "order.json").write_text('{"order": "é"}', encoding="utf-8")

    from_file = site.json("enqueue", "report", f"@{tmp_path}/order.json")
    from_stdin = site.detent("enqueue", "report", "-", "--id", "42", stdin='["x", 1]')

    assert from_file.payload == {"order": "é"}
    assert from_stdin.exit_code == 0
    with site.client() as client:
        assert client.get("42").payload == ["x", 1]


@pytest.mark.parametrize(
    ("payload", "told"),
    [
        ("{oops", "'{oops' is not JSON"),
        ("text", "Strings want quotes"),
        ("NaN", "is not JSON"),
        ("@nowhere.json", "'nowhere.json' cannot be read: No such file"),
        ("[" * 5_000, "is not JSON"),
        ('"\udcff"', "is not JSON"),
    ],
    ids=["broken", "unquoted", "NaN", "no file", "too deep", "not UTF-8"],
)
def test_payload_that_is_no_json_is_wrong_usage(site: Site, payload: str, told: str) -> None:
    assert told in refused(site.detent("enqueue", "ocr", payload), 2)
    assert refused_in_json(site.detent("enqueue", "ocr", payload, "--json"), 2)["code"] == "wrong_usage"
    assert not site.path.exists()


def test_own_lifecycle_is_registered_from_its_file(site: Site) -> None:
    site.shown("enqueue", "post", "--lifecycle", str(ARTICLE), "--id", "42")

    assert site.shown("enqueue", "post", "--lifecycle", "article", "--id", "43") == "43  queued\n"
    with site.client() as client:
        assert client.get("42").lifecycle == "article"


def test_document_is_created_and_submitted_in_one_transaction(site: Site) -> None:
    assert site.shown("enqueue", "ocr", "--lifecycle", "document", "--id", "42") == "42  QUEUED\n"

    with site.client() as client:
        created, submitted = client.history("42")
    assert (created.to_state, submitted.to_state) == ("CREATED", "QUEUED")
    assert created.at == submitted.at


def test_second_job_of_a_dedupe_key_is_the_first(site: Site) -> None:
    ask = ("enqueue", "ocr", "--dedupe-key", "a.pdf")
    site.shown(*ask, "--id", "42")

    assert site.shown(*ask) == "42  queued  (it exists already)\n"
    again = site.json(*ask)
    assert (again.id, again.answer) == ("42", "duplicate")


def test_repeated_request_says_so_and_makes_no_second_job(site: Site) -> None:
    ask = ("enqueue", "ocr", '{"n": 1}', "--request-id", "req-1")
    first = site.json(*ask)

    assert site.shown(*ask) == f"{first.id}  queued  (asked before)\n"
    again = site.json(*ask)
    assert (first.answer, again.answer, again.id) == ("applied", "repeat", first.id)


def test_other_content_under_a_used_request_id_is_a_conflict(site: Site) -> None:
    site.shown("enqueue", "ocr", "--request-id", "req-1", "--id", "42")

    result = site.detent("enqueue", "other", "--request-id", "req-1", "--id", "42", "--json")

    assert refused_in_json(result, 1)["code"] == "request_conflict"


@pytest.mark.parametrize("login", ["worker", "scheduler", "operator"])
def test_login_that_is_also_the_name_of_a_role_decides_nothing(site: Site, login: str) -> None:
    site.shown("enqueue", "ocr", "--id", "42", env={"LOGNAME": login})

    with site.client() as client:
        (event,) = client.history("42")
    assert (event.actor, event.role) == (login, "client")


def test_who_asked_is_the_login_name_or_who_was_named(site: Site) -> None:
    site.shown("enqueue", "ocr", "--id", "1")
    site.shown("enqueue", "ocr", "--id", "2", env={"DETENT_ACTOR": "deploy-7"})

    with site.client() as client:
        assert [client.history(job_id)[0].actor for job_id in ("1", "2")] == [LOGIN, "deploy-7"]


def test_mistyped_lifecycle_is_not_found_and_the_right_one_suggested(site: Site) -> None:
    result = site.detent("enqueue", "ocr", "--lifecycle", "docment")

    message = refused(result, 3)
    assert "no lifecycle 'docment'" in message
    assert "Did you mean 'document'? For one of your own give its .toml file" in message


def test_job_id_that_is_taken_is_refused(site: Site) -> None:
    site.shown("enqueue", "ocr", "--id", "42")

    error = refused_in_json(site.detent("enqueue", "ocr", "--id", "42", "--json"), 1)

    assert (error["code"], error["job_id"]) == ("job_exists", "42")


@pytest.mark.parametrize(
    "option", [("--env", "novalue"), ("--delay", "soon"), ("--max-attempts", "0"), ("--step", "-1")]
)
def test_value_that_cannot_be_meant_is_wrong_usage(site: Site, option: tuple[str, str]) -> None:
    assert option[0] in refused(site.detent("enqueue", "ocr", *option), 2)
