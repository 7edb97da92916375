"""`detent policy check`: rules are judged, and tried on a job, without anything being decided."""

from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.running import RULES, Site, refused, refused_in_json

NAMES = ["no-drops-in-production", "large-models-need-a-yes", "people-first", "think-again", "crawl-gently"]


def tried(site: Site, *job: str) -> Any:
    return site.json("policy", "check", str(RULES), *job).given


def test_sound_rules_are_listed_in_their_order(site: Site) -> None:
    shown = site.told("policy", "check", str(RULES), columns=120)
    listed = site.json("policy", "check", str(RULES))

    assert shown.startswith("sound: 5 rules, and what none is about: allow")
    assert "throttle for 600 s" in shown
    assert "throttle to 30 in 60 s" in shown
    assert [rule.name for rule in listed.rules] == NAMES
    assert [rule.verdict for rule in listed.rules] == ["deny", "hold", "allow", "throttle", "throttle"]
    assert RULES.read_text(encoding="utf-8").splitlines()[listed.rules[0].line - 1] == "[[rule]]"
    assert (listed.default, listed.given) == ("allow", None)


@pytest.mark.requirement("DSP-08")
@pytest.mark.parametrize(
    ("job", "verdict", "rule"),
    [
        (("--topic", "job.db.drop", "--env", "stage=prod", "--env", "user_id=7"), "deny", NAMES[0]),
        (("--topic", "job.db.main.drop", "--env", "stage=prod", "--env", "user_id=7"), "deny", NAMES[0]),
        (("--topic", "job.db.drop", "--env", "stage=prod"), "allow", "default"),
        (("--topic", "job.model.llm.train", "--adapter", "gpu"), "hold", NAMES[1]),
        (("--topic", "job.model.llm.train"), "allow", "default"),
        (("--kind", "send-newsletter", "--priority", "critical"), "allow", NAMES[2]),
        (("--kind", "send-newsletter"), "throttle", NAMES[3]),
        (("--queue", "crawl", "--tenant", "acme", "--priority", "0"), "throttle", NAMES[4]),
        (("--queue", "crawl"), "allow", "default"),
        (("--priority", "0"), "allow", "default"),
    ],
)
def test_job_that_is_described_is_told_its_verdict_and_the_rule(
    site: Site, job: tuple[str, ...], verdict: str, rule: str
) -> None:
    given = tried(site, *job)

    assert (given.verdict, given.rule, given.job_id) == (verdict, rule, None)


def test_job_of_the_store_is_told_its_verdict_and_is_not_touched(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="j", lifecycle="dispatch", topic="job.model.big", adapter_id="gpu")
    shown = site.told("policy", "check", str(RULES), "--job", "j")
    given = tried(site, "--job", "j")

    assert "hold, by rule 'large-models-need-a-yes' at line 15" in shown
    assert (given.job_id, given.verdict) == ("j", "hold")
    with site.client() as client:
        assert client.get("j").state == "PENDING"


def test_job_that_there_is_not_is_not_found(site: Site) -> None:
    with site.client():
        pass

    assert "there is no job nope" in refused(site.detent("policy", "check", str(RULES), "--job", "nope"), 3)


def test_job_is_named_or_described_and_not_both(site: Site) -> None:
    message = refused(site.detent("policy", "check", str(RULES), "--job", "j", "--topic", "t"), 2)

    assert "give one or the other" in message


def test_rules_that_do_not_hold_together_are_told_all_their_problems(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text('[[rule]]\nname = "a"\nverdict = "alow"\ntopik = "b"\n', encoding="utf-8")
    message = refused(site.detent("policy", "check", str(path)), 1)
    error = refused_in_json(site.detent("policy", "check", str(path), "--json"), 1)

    assert "line 3: rule 'a': verdict is 'alow'; give one of allow, deny, hold, throttle" in " ".join(message.split())
    assert "did you mean 'topic'?" in message
    assert error["code"] == "bad_rules"
    assert len(error["problems"]) == 2


def test_file_that_is_not_there_is_not_found(site: Site, tmp_path: Path) -> None:
    assert "there is no file" in refused(site.detent("policy", "check", str(tmp_path / "none.toml")), 3)


def test_folder_is_no_file_of_rules(site: Site, tmp_path: Path) -> None:
    error = refused_in_json(site.detent("policy", "check", str(tmp_path), "--json"), 1)

    assert error["code"] == "policy_unreachable"


def test_priority_that_is_neither_a_number_nor_a_name_is_wrong_usage(site: Site) -> None:
    message = refused(site.detent("policy", "check", str(RULES), "--priority", "urgent"), 2)

    assert "write a number, or one of critical, interactive, batch" in " ".join(message.split())


@pytest.mark.requirement("DSP-04")
def test_priority_of_a_new_job_has_a_name(site: Site) -> None:
    job = site.json("enqueue", "scan", "--lifecycle", "dispatch", "--priority", "interactive")

    assert job.priority == 10
