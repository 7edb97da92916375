"""Rules of the gate: which jobs they are about, which gives the verdict, and what is wrong with a file of them."""

import re
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import Struct

from detent.errors import PolicyError
from detent.runtime.gate import Rules, read_rules, rules_from_toml
from detent.runtime.gate.matching import is_subject

ROOT: Final = Path(__file__).resolve().parents[2]


class Made(Struct):
    """As much of a job as rules look at."""

    tenant: str = "default"
    topic: str | None = None
    kind: str = "scan"
    queue: str = "default"
    adapter_id: str | None = None
    priority: int = 0
    env: dict[str, str] = {}


def one_rule(said: str) -> Rules:
    return rules_from_toml(f'default = "deny"\n[[rule]]\nname = "it"\nverdict = "allow"\n{said}')


def fits(said: str, **job: Any) -> bool:
    return one_rule(said).judge(Made(**job)).rule == "it"


@pytest.mark.parametrize(
    ("pattern", "topic", "expected"),
    [
        ("job.chat.simple", "job.chat.simple", True),
        ("job.chat.simple", "job.chat.simple.more", False),
        ("job.*.simple", "job.chat.simple", True),
        ("job.*.simple", "job.chat.deep.simple", False),
        ("job.*", "job", False),
        ("job.*", "job.chat", True),
        ("job.*", "job.chat.simple", False),
        ("job.>", "job.chat.simple", True),
        ("job.>", "job", False),
        (">", "job.chat", True),
        ("*", "job", True),
        ("job.c+t", "job.cct", False),
        ("job.c+t", "job.c+t", True),
        ("job.chat", None, False),
        (">", None, False),
    ],
)
def test_topic_is_matched_as_a_bus_subject_is(pattern: str, topic: str | None, expected: bool) -> None:
    assert is_subject(pattern, topic) is expected


@pytest.mark.requirement("DSP-08")
@pytest.mark.parametrize(
    ("said", "yes", "no"),
    [
        ('tenant = "acme"', {"tenant": "acme"}, {}),
        ('topic = "job.*"', {"topic": "job.a"}, {"topic": "other.a"}),
        ('topic = ["a.b", "c.>"]', {"topic": "c.d.e"}, {"topic": "a.c"}),
        ('kind = ["scan", "mail"]', {"kind": "mail"}, {"kind": "crawl"}),
        ('queue = "slow"', {"queue": "slow"}, {}),
        ('adapter_id = "gpu"', {"adapter_id": "gpu"}, {}),
        ("priority = 5", {"priority": 5}, {"priority": 6}),
        ('priority = "critical"', {"priority": 20}, {"priority": 10}),
        ('priority = ["batch", "interactive"]', {"priority": 10}, {"priority": 20}),
        ('priority_min = "interactive"', {"priority": 15}, {"priority": 9}),
        ("priority_max = -1", {"priority": -1}, {"priority": 0}),
        ('env = { stage = "prod" }', {"env": {"stage": "prod", "x": "y"}}, {"env": {"stage": "test"}}),
        ('env = { stage = ["prod", "pre"] }', {"env": {"stage": "pre"}}, {"env": {}}),
        ('env = { user_id = "*" }', {"env": {"user_id": "7"}}, {"env": {"other": "7"}}),
        ('env = { a = "1", b = "2" }', {"env": {"a": "1", "b": "2"}}, {"env": {"a": "1"}}),
        ('kind = "scan"\nqueue = "q"', {"queue": "q"}, {"queue": "q", "kind": "mail"}),
        ("", {}, None),
    ],
)
def test_rule_is_about_the_jobs_of_which_all_that_it_says_is_so(
    said: str, yes: dict[str, Any], no: dict[str, Any] | None
) -> None:
    assert fits(said, **yes)
    assert no is None or not fits(said, **no)


@pytest.mark.requirement("DSP-08")
def test_first_rule_that_is_about_a_job_gives_the_verdict() -> None:
    text = "".join(f'[[rule]]\nname = "{name}"\nkind = "{kind}"\nverdict = "{verdict}"\n' for name, kind, verdict in (
        ("first", "mail", "deny"), ("second", "scan", "hold"), ("third", "scan", "deny"),
    ))  # fmt: skip

    assert rules_from_toml(text).judge(Made()).rule == "second"
    assert rules_from_toml(text).judge(Made(kind="crawl")).verdict == "allow"


@pytest.mark.parametrize("default", ["allow", "deny", "hold"])
def test_what_no_rule_is_about_has_the_verdict_of_the_rule_default(default: str) -> None:
    verdict = rules_from_toml(f'default = "{default}"').judge(Made())

    assert (verdict.verdict, verdict.rule) == (default, "default")


def test_throttle_has_a_delay_or_a_rate() -> None:
    base = '[[rule]]\nname = "slow"\nverdict = "throttle"\n'
    delayed = rules_from_toml(f"{base}delay_s = 2.5").judge(Made())
    paced = rules_from_toml(f"{base}rate_max = 30\nper_s = 60").judge(Made())

    assert (delayed.delay_s, delayed.every_s) == (2.5, None)
    assert paced.every_s == 2.0


GOOD = '[[rule]]\nname = "it"\nverdict = "deny"\n'


@pytest.mark.requirement("DSP-08")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[rule]\n", "this is not TOML: .*at line 1.*; mend it there"),
        ('defualt = "deny"', "line 1: the file has no key 'defualt'; did you mean 'default'?"),
        ('\ndefault = "throttle"', "line 2: default is 'throttle'; give allow, deny or hold"),
        ("rule = 7", "rule is no list of tables; begin each rule with [[rule]]"),
        ("rule = [7]", "rule 1 is 7; begin it with [[rule]]"),
        ('[[rule]]\nverdict = "deny"', "line 1: rule 1: it has no name; give it one"),
        ('[[rule]]\nname = ""\nverdict = "deny"', "line 2: rule '': name is empty; give it a name"),
        ('[[rule]]\nname = 3\nverdict = "deny"', "line 2: rule 1: name is 3; give text"),
        ('[[rule]]\nname = "it"', "line 1: rule 'it': it has no verdict; add one of allow, deny, hold, throttle"),
        ('[[rule]]\nname = "it"\nverdict = "alow"', "line 3: rule 'it': verdict is 'alow'; give one of allow"),
        (f'{GOOD}topik = "a"', "line 4: rule 'it': a rule has no key 'topik'; did you mean 'topic'?"),
        (f'{GOOD}topic = "job..a"', "line 4: rule 'it': topic is 'job..a'; give words between dots"),
        (f'{GOOD}topic = "job.>.a"', "topic is 'job.>.a'"),
        (f'{GOOD}topic = "job.a*"', "topic is 'job.a*'"),
        (f"{GOOD}topic = []", "topic lists 0 values; give 1 to 1,000, or leave the key out"),
        (f"{GOOD}kind = [1]", "kind is 1; give text, or a list of texts"),
        (f'{GOOD}priority = "urgent"', "give a number, or one of critical, interactive, batch"),
        (f"{GOOD}priority = 1.5", "priority is 1.5; give a whole number"),
        (f"{GOOD}priority_min = true", "priority_min is True; give a whole number"),
        (f'{GOOD}env = "prod"', "env is 'prod'; give keys with their values: env = { region"),
        (f"{GOOD}env = {{ a = 1 }}", "env.a is 1; give text, or a list of texts"),
        (f"{GOOD}delay_s = 3", "line 4: rule 'it': verdict is 'deny'; delay_s and rate_max are for 'throttle' only"),
        (GOOD.replace("deny", "throttle"), "line 3: rule 'it': 'throttle' needs delay_s, in seconds, or rate_max"),
        (GOOD.replace("deny", "throttle") + "delay_s = 'a'", "line 4: rule 'it': delay_s is 'a'; give a finite number"),
        (GOOD.replace("deny", "throttle") + "rate_max = 0", "line 4: rule 'it': rate_max is 0; give a whole number"),
        (GOOD + GOOD, "two rules are called 'it', the first at line 1; give one of them another name"),
    ],
)
def test_error_names_the_rule_the_line_and_what_to_write(text: str, said: str) -> None:
    with pytest.raises(PolicyError) as wrong:
        rules_from_toml(text, "'rules.toml'")

    assert wrong.value.code == "bad_rules"
    assert str(wrong.value).startswith("the rules in 'rules.toml' do not hold together:\n  - ")
    assert len(wrong.value.problems) == 1
    assert said in wrong.value.problems[0] or re.match(said, wrong.value.problems[0])


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(PolicyError) as wrong:
        rules_from_toml('[[rule]]\nname = "a"\nkind = 1\nverdict = "no"\n\n[[rule]]\nnmae = "b"\n')

    assert [problem.partition(";")[0] for problem in wrong.value.problems] == [
        "line 3: rule 'a': kind is 1",
        "line 4: rule 'a': verdict is 'no'",
        "line 7: rule 2: a rule has no key 'nmae'",
        "line 6: rule 2: it has no name",
        "line 6: rule 2: it has no verdict",
    ]


def test_file_has_a_bounded_number_of_rules() -> None:
    text = "".join(f'[[rule]]\nname = "r{number}"\nverdict = "deny"\n' for number in range(1_001))

    with pytest.raises(PolicyError, match="there are 1,001 rules; a file has at most 1,000"):
        rules_from_toml(text)


def test_example_in_the_documentation_holds_together_and_is_shown_as_it_is() -> None:
    example = ROOT / "docs" / "examples" / "rules.toml"
    page = (ROOT / "docs" / "how-to" / "gate-jobs.md").read_text(encoding="utf-8")
    rules = read_rules(example)

    assert len(rules.rules) == 5
    assert f"```toml\n{example.read_text(encoding='utf-8')}```" in page
