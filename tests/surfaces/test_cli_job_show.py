"""`detent job show`, `job notes` and `job artifacts`: what is known of one job, was said of it, and came of it."""

from datetime import UTC, datetime, timedelta

import pytest

from detent import Artifact, Codec, Compensation, Policy, Retry
from detent.errors import Refused
from detent.surfaces.shapes import JobShape, NoteShape
from tests.surfaces.running import BROKEN, NOTHING, Env, Site, fail, refused, refused_in_json, run_one, succeed


def turned(plain: bytes) -> bytes:
    return bytes(byte ^ 0x5A for byte in plain)


def facts(site: Site, job_id: str, env: Env = NOTHING) -> dict[str, str]:
    """What is shown, by its name; a fact may take several lines."""
    known: dict[str, str] = {}
    name = ""
    for line in site.shown("job", "show", job_id, env=env).partition("\n\n")[0].splitlines():
        begun, _, rest = line.partition("  ")  # a name has single blanks, and a line that goes on has none
        name = begun or name
        known[name] = f"{known.get(name, '')} {rest.strip()}".strip()
    return known


def test_running_job_is_shown_with_its_owner_and_its_times(site: Site) -> None:
    with site.client() as client:
        run_one(client, "42")
        client.renew(
            "42", worker="w1", attempt=1, checkpoint={"page": 2}, progress={"fraction": 0.4, "message": "p. 2"}
        )

    known = facts(site, "42")

    assert known["state"] == "running  (active)"
    assert known["kind"] == "scan, on lifecycle standard v1"
    assert known["attempt"] == "1, revision 4"
    assert known["owner"].startswith("w1, end of its lease: in ")
    assert (known["checkpoint"], known["progress"]) == ('{"page":2}', "40% p. 2")
    assert known["started"].endswith("ago")
    assert known.keys() >= {"created", "claimed"}


def test_ended_job_is_shown_with_its_result(site: Site) -> None:
    with site.client() as client:
        succeed(client, "42", {"text": "…"})

    known = facts(site, "42")

    assert (known["state"], known["result"], known["last owner"]) == ("succeeded  (ended)", '{"text":"…"}', "w1")
    assert "owner" not in known


def test_progress_of_an_attempt_is_left_out_once_the_job_has_ended(site: Site) -> None:
    with site.client() as client:
        run_one(client, "42")
        client.renew("42", worker="w1", attempt=1, progress={"fraction": 0.4, "message": "p. 2"})
        client.complete("42", worker="w1", attempt=1)

    assert "progress" not in facts(site, "42")
    assert site.json("job", "show", "42").progress.fraction == 0.4


def test_long_value_is_cut_and_its_length_told(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", "x" * 12_343, job_id="42")

    told = site.told("job", "show", "42")

    assert "x… (12,345 characters; --json has all)" in told
    assert told.count("x") < 600
    assert site.json("job", "show", "42").payload == "x" * 12_343


def test_failed_job_is_shown_with_its_error_and_what_was_lost(site: Site) -> None:
    with site.client() as client:
        fail(client, "42")

    known = facts(site, "42")

    assert (known["error"], known["lost"]) == ("PermanentError: no such page (stage exec)", "1 failure")


def test_links_and_keys_are_shown_where_there_are_any(site: Site) -> None:
    with site.client(tenant="acme") as client:
        client.enqueue(
            "scan", job_id="42", correlation_id="order-1", parent_job_id="41", workflow_id="wf", step_index=0,
            topic="default", dedupe_key="k", adapter_id="a", context_ptr="s3://c", trace_id="t", env={"region": "eu"},
        )  # fmt: skip

    known = facts(site, "42", env={"DETENT_TENANT": "acme"})

    links = {"tenant": "acme", "correlation": "order-1", "parent": "41", "workflow": "wf", "step index": "0"}
    keys = {"topic": "default", "dedupe key": "k", "adapter": "a", "context ptr": "s3://c", "trace": "t"}
    assert links.items() | keys.items() | {("env", "region=eu")} <= known.items()


def test_what_a_plain_job_does_not_have_is_left_out(site: Site) -> None:
    site.shown("enqueue", "scan", "--id", "42")

    assert set(facts(site, "42")) == {"job", "state", "kind", "queue", "attempt", "created", "claimable"}


def test_verdict_of_the_policy_is_shown_with_its_rule(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="42", lifecycle="dispatch")
        client.schedule("42", verdict="hold", rule="big-orders")

    assert facts(site, "42")["verdict"] == "hold by rule big-orders"


def test_json_has_every_field_of_the_job(site: Site) -> None:
    with site.client() as client:
        job = succeed(client, "42", ["x"])

    shape = site.json("job", "show", "42")

    assert isinstance(shape, JobShape)
    assert (shape.result, shape.rev, shape.policy, shape.unreadable) == (["x"], 4, job.policy, [])
    assert datetime.now(UTC) - shape.created_at < timedelta(minutes=5)


def test_next_step_can_be_pasted_whatever_the_id_is(site: Site) -> None:
    site.shown("enqueue", "scan", "--id", "order 42; ls")

    assert "detent job history 'order 42; ls'" in site.shown("job", "show", "order 42; ls")


def test_sealed_values_are_named_and_no_error(site: Site) -> None:
    with site.client(codec=Codec(encrypt=turned, decrypt=turned)) as client:
        client.enqueue("letter", {"to": "Ann"}, job_id="42")

    assert facts(site, "42")["payload"] == "sealed by a codec that this command does not have"
    shape = site.json("job", "show", "42")
    assert (shape.payload, shape.unreadable) == (None, ["payload"])
    assert "Ann" not in site.shown("job", "show", "42")


@pytest.mark.parametrize("command", ["show", "list", "history", "explain", "tree"])
def test_store_sealed_by_a_codec_can_be_looked_at(site: Site, command: str) -> None:
    with site.client(codec=Codec(encrypt=turned, decrypt=turned)) as client:
        succeed(client, "42", {"secret": "Ann"})
    arguments = ("job", command) if command == "list" else ("job", command, "42")

    assert "42" in site.shown(*arguments)
    assert site.json(*arguments)


def test_sealed_job_can_be_run_again_unread(site: Site) -> None:
    codec = Codec(encrypt=turned, decrypt=turned)
    with site.client(codec=codec) as client:
        client.enqueue("letter", {"to": "Ann"}, job_id="42")
        client.cancel("42")

    again = site.json("job", "rerun", "42")

    assert again.unreadable == ["payload"]
    with site.client(codec=codec) as client:
        assert client.get(again.id).payload == {"to": "Ann"}


def test_notes_tell_progress_and_results_that_came_too_late(site: Site) -> None:
    with site.client() as client:
        run_one(client, "42")
        client.progress("42", 0.5, "half", worker="w1", attempt=1)
        client.cancel("42", mode="hard")
        with pytest.raises(Refused):
            client.complete("42", worker="w1", attempt=1, result={"pages": 3})

    told = site.told("job", "notes", "42", columns=200)
    progress, late = site.json("job", "notes", "42")

    assert "progress from w1 50% half" in " ".join(told.split())
    assert "came too late" in told
    assert 'by then the job had ended or gone on; its result: {"pages":3}' in told
    assert isinstance(late, NoteShape)
    assert (progress.payload["fraction"], late.kind, late.payload["result"]) == (0.5, "late_result", {"pages": 3})


def test_long_late_result_is_cut_for_people_and_kept_as_text_where_it_is_not_whole(site: Site) -> None:
    with site.client() as client:
        run_one(client, "42")
        client.cancel("42", mode="hard")
        with pytest.raises(Refused):
            client.complete("42", worker="w1", attempt=1, result="x" * 100_000)

    told = site.told("job", "notes", "42", columns=400)
    (late,) = site.json("job", "notes", "42")

    assert 'its result, the beginning of it: "' + "x" * 199 + "…" in told
    assert late.payload["is_whole"] is False
    assert late.payload["result"].startswith('"xxx')


def test_late_failure_is_told_with_its_error(site: Site) -> None:
    with site.client() as client:
        run_one(client, "42")
        client.cancel("42", mode="hard")
        with pytest.raises(Refused):
            client.fail("42", worker="w1", attempt=1, error=BROKEN)

    assert "it said that it had failed: PermanentError: no such page" in site.told("job", "notes", "42", columns=200)


def test_late_result_that_is_sealed_is_called_so(site: Site) -> None:
    with site.client(codec=Codec(encrypt=turned, decrypt=turned)) as client:
        run_one(client, "42")
        client.cancel("42", mode="hard")
        with pytest.raises(Refused):
            client.complete("42", worker="w1", attempt=1, result="Ann")

    assert "its result is sealed by a codec" in site.told("job", "notes", "42", columns=200)
    assert isinstance(site.json("job", "notes", "42")[0].payload["result"], str)


def test_job_without_notes_says_so(site: Site) -> None:
    site.shown("enqueue", "scan", "--id", "42")

    result = site.detent("job", "notes", "42")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "Nothing was said of it.\n")
    assert site.json("job", "notes", "42") == []


@pytest.mark.parametrize("command", ["show", "notes", "history", "explain", "tree"])
def test_job_that_is_not_there_is_not_found(site: Site, command: str) -> None:
    site.shown("enqueue", "scan", "--id", "order-1042")

    message = refused(site.detent("job", command, "order-1024"), 3)

    assert "there is no job order-1024 in tenant 'default'" in message
    assert message.endswith("Did you mean 'order-1042'?")
    assert refused_in_json(site.detent("job", command, "order-1024", "--json"), 3)["code"] == "not_found"


@pytest.mark.parametrize("command", ["show", "notes", "history", "explain", "tree", "wait", "cancel", "rerun"])
def test_job_of_another_tenant_is_not_found(site: Site, command: str) -> None:
    with site.client(tenant="acme") as client:
        succeed(client, "42")

    message = refused(site.detent("job", command, "42"), 3)

    assert "there is no job 42 in tenant 'default'; look at the id and the tenant" in message
    assert "Did you mean" not in message


# -- artifacts -------------------------------------------------------------------------------------------------------


def made(site: Site, *names: str) -> None:
    with site.client() as client:
        run_one(client, "42")
        for name in names:
            client.artifact("42", name=name, pointer=f"s3://made/{name}", size=1_234, worker="w1", attempt=1)


@pytest.mark.requirement("STD-22")
def test_artifacts_are_listed_with_what_became_of_them(site: Site) -> None:
    made(site, "page", "text")
    with site.client() as client:
        client.complete("42", worker="w1", attempt=1)

    first, *_, page, text = site.shown("job", "artifacts", "42").splitlines()

    assert first.split() == ["name", "status", "attempt", "size", "pointer", "when"]
    assert page.split()[:5] == ["page", "final", "1", "1,234", "s3://made/page"]
    assert text.split()[:2] == ["text", "final"]


@pytest.mark.requirement("STD-22")
def test_artifacts_in_json_are_all_that_is_known_of_them(site: Site) -> None:
    made(site, "page")

    (shape,) = site.json("job", "artifacts", "42")

    assert isinstance(shape, Artifact)
    assert (shape.name, shape.status, shape.size, shape.digest) == ("page", "partial", 1_234, None)


@pytest.mark.requirement("STD-22")
def test_job_without_artifacts_says_so(site: Site) -> None:
    made(site)

    result = site.detent("job", "artifacts", "42")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "It has registered no artifacts." in result.stderr


@pytest.mark.requirement("STD-22")
def test_job_is_shown_with_its_artifacts_though_not_with_all_of_many(site: Site) -> None:
    made(site, *(f"page-{number:02}" for number in range(22)))

    shown = site.shown("job", "show", "42").splitlines()
    listed = [line for line in shown if line.startswith("artifact")]

    assert listed[0].split(maxsplit=1)[1] == "page-00, partial, at s3://made/page-00"
    assert len(listed) == 20
    assert any("… and 2 more; detent job artifacts has all" in line for line in shown)


@pytest.mark.requirement("STD-22", "STD-19")
def test_story_tells_what_was_made_and_what_undoes_it(site: Site) -> None:
    policy = Policy(retry=Retry.never(), compensate=Compensation(kind="undo"))
    with site.client() as client:
        client.enqueue("scan", job_id="42", policy=policy)
        client.claim(worker="w1", start=True)
        client.artifact("42", name="page", pointer="s3://made/page", worker="w1", attempt=1)
        client.fail("42", error=BROKEN, worker="w1", attempt=1)
        (undo,) = client.claim(worker="w1", start=True)
        client.complete(undo.id, worker="w1", attempt=1)

    told = site.shown("job", "history", "42", columns=200)

    assert "made 'page', says w1" in told
    assert f"; to be undone by job {undo.id}" in told
    assert f"undone by job {undo.id}\n" in told
