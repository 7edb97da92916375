"""What must not be seen is not, wherever it stands; what was given stays as it was."""

from copy import deepcopy
from typing import Any

import pytest

from detent.telemetry.redaction import NAMES, REDACTED, TOO_MUCH, Redaction, redacted, redacted_text

RULES = Redaction()


@pytest.mark.parametrize("name", [each.replace("*", "client") for each in NAMES])
def test_each_usual_name_is_hidden_however_it_is_written(name: str) -> None:
    written = (name, name.upper(), name.replace("_", "-"), name.title())

    assert all(redacted({each: "hunter2"}, RULES) == {each: REDACTED} for each in written)
    assert all("hunter2" not in redacted_text(f"x {each}=hunter2, y", RULES) for each in written)


@pytest.mark.parametrize("name", ["apiKey", "clientSecret", "accessToken", "userPassword", "setCookie"])
def test_humps_are_words(name: str) -> None:
    assert redacted({name: "hunter2"}, RULES) == {name: REDACTED}


@pytest.mark.parametrize("name", ["tokens_used", "passwords", "user", "secretary", "keyboard"])
def test_other_names_are_shown(name: str) -> None:
    assert redacted({name: 7}, RULES) == {name: 7}


def test_what_is_given_stays_as_it_was() -> None:
    given = {"order": 7, "card": [{"token": "t"}, {"number": (1, 2)}], "url": "https://u:p@host/"}
    before = deepcopy(given)

    shown = redacted(given, RULES)

    assert given == before
    assert shown == {
        "order": 7,
        "card": [{"token": REDACTED}, {"number": [1, 2]}],
        "url": f"https://u:{REDACTED}@host/",
    }


def test_names_of_ones_own_come_to_the_usual_ones() -> None:
    rules = Redaction.of(" pin, iban* ,")

    assert redacted({"pin": 1, "IBAN-of": 2, "password": 3, "pins": 4}, rules) == {
        "pin": REDACTED,
        "IBAN-of": REDACTED,
        "password": REDACTED,
        "pins": 4,
    }
    assert Redaction.of(None) == Redaction.of("") == RULES


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://app:hunter2@db/jobs", f"postgresql://app:{REDACTED}@db/jobs"),
        ("postgresql://app:hun@ter2@db/jobs", f"postgresql://app:{REDACTED}@db/jobs"),
        ("redis://:hunter2@cache", f"redis://:{REDACTED}@cache"),
        ("GET https://x/y?token=hunter2&page=2", f"GET https://x/y?token={REDACTED}&page=2"),
        ("url=https://x/?page=2&api_key=hunter2", f"url=https://x/?page=2&api_key={REDACTED}"),
        ("sent Bearer hunter2.abc-_", f"sent Bearer {REDACTED}"),
        ("Authorization: Basic aHVudGVyMg==", f"Authorization: {REDACTED}"),
        ("Cookie: a=hunter2; b=hunter2", f"Cookie: {REDACTED}"),
        ("{'password': 'hunter2 too', 'page': 1}", f"{{'password': {REDACTED}, 'page': 1}}"),
        ('{"password":"hunter2","page":1}', f'{{"password":{REDACTED},"page":1}}'),
        (r'"{\"password\": \"hunter2\"}"', f'"{{\\"password\\": {REDACTED}}}"'),
        ("with dt_ab12_hunter2hunter2", f"with dt_{REDACTED}"),
        ("the password is not told; ask twice", "the password is not told; ask twice"),
        ("job 7 of http://localhost:8080/a@b", "job 7 of http://localhost:8080/a@b"),
    ],
)
def test_secrets_in_the_midst_of_text_are_hidden(text: str, shown: str) -> None:
    assert redacted_text(text, RULES) == shown


@pytest.mark.parametrize(
    "text",
    [
        r'{"password": "hun\"ter2"}', r"{'password': 'hun\'ter2'}", '{"password": "hunter2', "password='hunter2",
        '"token": ["a", "hunter2"]', '"credentials": {"user": "u", "pass": "hunter2"}',
        f'"private_key": "{"x" * 5_000}hunter2"', f"password={'x' * 5_000}hunter2",
    ],
)  # fmt: skip
def test_value_is_hidden_to_its_end(text: str) -> None:
    assert "ter2" not in redacted_text(text, RULES)


def test_depth_and_size_are_bounded() -> None:
    inside: list[Any] = []
    inside.extend([inside, inside])

    shown = str(redacted({"deep": inside}, RULES))

    assert TOO_MUCH in shown
    assert len(shown) < 2_000_000


def test_text_that_is_made_to_take_long_does_not() -> None:
    for part in ("a", " ", "token", "://a:", "'", "bearer ", "dt_a_", "token=", "x_", "\\"):
        redacted_text(part * 20_000, RULES)
