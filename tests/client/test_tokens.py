"""Access tokens: which can be made, what their texts are, and what is said to whoever presents one."""

import hmac
import pickle
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from rich.pretty import pretty_repr

from detent import DetentError, InvalidArgument, NotFound, Unauthorized
from detent.client import tokens
from detent.client.moments import to_moment
from detent.client.sync import run
from detent.client.tokens import NewToken, authenticated
from detent.errors import TOKEN_ERRORS
from detent.store.tokens import SCOPES, KeptToken, Token
from detent.testing import MemoryStore
from tests.client.world import World

TEXT = re.compile(r"dt_[0-9a-f]{16}_[A-Za-z0-9_-]{43}")
ID, SECRET = "0123456789abcdef", "s" * 43
DAY = timedelta(days=1)


def refusal(world: World, text: str | None) -> Unauthorized:
    with pytest.raises(Unauthorized) as refused:
        run(authenticated(world.client.store, text))
    return refused.value


def test_token_has_what_it_was_made_with_and_no_digest(fresh: World) -> None:
    new = fresh.blocking.create_token("ci", scopes=["read", "submit"], actor="ann")
    now = to_moment(fresh.clock())

    assert (new.token.name, new.token.tenant, new.token.scopes) == ("ci", "default", ("submit", "read"))
    assert (new.token.created_by, new.token.created_at, new.token.expires_at) == ("ann", now, now + 90 * DAY)
    assert (new.token.worker, new.token.revoked_at, new.token.revoked_by) == (None, None, None)
    assert not hasattr(new.token, "digest")
    assert fresh.blocking.tokens() == [new.token]


def test_text_is_good_and_names_the_token(fresh: World) -> None:
    new = fresh.blocking.create_token("ci", scopes=["submit"])
    held = run(authenticated(fresh.client.store, new.text))

    assert TEXT.fullmatch(new.text)
    assert new.text.startswith(f"dt_{new.token.id}_")
    assert (held.id, held.tenant, held.scopes) == (new.token.id, "default", ("submit",))


def test_no_two_tokens_are_alike(fresh: World) -> None:
    made = [fresh.blocking.create_token("ci", scopes=["submit"]) for _ in range(20)]

    assert len({each.token.id for each in made}) == len({each.text[20:] for each in made}) == 20


@pytest.mark.parametrize(("worker", "expected"), [(None, "box-1"), ("ocr", "ocr")])
def test_token_that_works_has_a_workers_name(fresh: World, worker: str | None, expected: str) -> None:
    new = fresh.blocking.create_token("box-1", scopes=["work"], worker=worker)

    assert new.token.worker == expected


def test_token_that_lasts_for_ever_says_so(fresh: World) -> None:
    assert fresh.blocking.create_token("ci", scopes=["read"], expires_s=None).token.expires_at is None


def test_shortest_lifetime_there_is_is_over_at_the_next_moment(fresh: World) -> None:
    new = fresh.blocking.create_token("ci", scopes=["read"], expires_s=1e-9)
    run(authenticated(fresh.client.store, new.text))
    fresh.clock.pass_s(0.000_001)

    assert refusal(fresh, new.text).code == "token_expired"


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("default", {"scopes": []}, "at least one of submit, work, read, operate, admin"),
    ("default", {"scopes": ["work", "work"]}, "each at most once"),
    ("default", {"scopes": ["root"]}, "the choices are submit, work"),
    ("default", {"scopes": ["read"], "worker": "w1"}, "without the scope 'work'"),
    ("default", {"scopes": ["read"], "expires_s": 0}, "more than 0"),
    ("default", {"scopes": ["read", "operate"], "any_tenant": True}, "wants the scope 'admin'"),
    ("other", {"scopes": ["admin"], "any_tenant": True}, "by the tenant 'default'"),
]


@pytest.mark.parametrize(("tenant", "asked", "said"), WRONG)
def test_token_that_makes_no_sense_is_refused_and_none_is_kept(
    fresh: World, tenant: str, asked: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said):
        fresh.beside(tenant=tenant).create_token("ci", **asked)

    assert fresh.blocking.tokens(all_tenants=True) == []


def test_only_the_default_tenant_looks_after_the_tokens_of_all(fresh: World) -> None:
    other = fresh.beside(tenant="other")
    for ask in (lambda: other.tokens(all_tenants=True), lambda: other.revoke_token("x", all_tenants=True)):
        with pytest.raises(InvalidArgument, match="by the tenant 'default'"):
            ask()


def test_token_that_is_not_there_cannot_be_revoked(fresh: World) -> None:
    with pytest.raises(NotFound, match=r"no token 'nobody' in tenant 'default'; see: detent token list"):
        fresh.blocking.revoke_token("nobody")


def test_token_that_was_found_somewhere_is_revoked_by_its_text_which_no_error_repeats(fresh: World) -> None:
    new = fresh.blocking.create_token("ci", scopes=["submit"])
    fresh.blocking.revoke_token(new.text)

    assert refusal(fresh, new.text).code == "token_revoked"
    with pytest.raises(NotFound) as unknown:
        fresh.beside(tenant="other").revoke_token(new.text)
    assert new.text[20:] not in str(unknown.value)


HOSTILE: list[str] = [
    "dt", "dt_", f"dt_{ID}", f"dt_{ID}_", f"dt_{ID}_{SECRET}s", f"dt_{ID}_{SECRET[1:]}", f"DT_{ID}_{SECRET}",
    f" dt_{ID}_{SECRET}", f"dt_{ID}_{SECRET}\n", f"dt_{ID}_{SECRET}\0", f"dt_{ID.upper()}_{SECRET}",
    f"dt_{ID[1:]}_{SECRET}", f"dt_{'٣' * 16}_{SECRET}", f"dt_{ID}_{'é' * 43}", f"dt_{ID}_{'s' * 42}\ud800",
    f"dt_{ID}_{'s' * 10_000_000}", "x" * 10_000_000, f"Bearer dt_{ID}_{SECRET}", "'; drop table detent_tokens; --",
    f"dt_%_{SECRET}", "\ud800", "\0",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: ascii(text[:40]))
def test_what_is_not_written_like_a_token_is_malformed_and_never_reaches_the_store(text: str) -> None:
    class Untouched(MemoryStore):
        async def token(self, token_id: str) -> KeptToken | None:
            raise AssertionError("it was asked for")

    with pytest.raises(Unauthorized) as refused:
        run(authenticated(Untouched(), text))

    assert refused.value.code == "token_malformed"
    assert str(refused.value) == "what was presented is no token; send it whole, as it was printed: dt_ID_SECRET"


@pytest.mark.parametrize("text", [None, ""])
def test_who_presents_nothing_is_told_how(fresh: World, text: str | None) -> None:
    error = refusal(fresh, text)

    assert error.code == "token_missing"
    assert "Authorization: Bearer TOKEN" in str(error)


def test_wrong_secret_of_a_token_is_told_no_more_than_an_unknown_id(fresh: World) -> None:
    new = fresh.blocking.create_token("ci", scopes=["submit"])
    fresh.blocking.revoke_token(new.token.id)
    guessed, unknown = refusal(fresh, f"dt_{new.token.id}_{SECRET}"), refusal(fresh, f"dt_{ID}_{SECRET}")

    assert (guessed.code, unknown.code) == ("token_unknown", "token_unknown")
    assert str(guessed) == str(unknown)
    assert refusal(fresh, new.text).code == "token_revoked"


def test_one_character_of_the_secret_makes_it_another(fresh: World) -> None:
    text = fresh.blocking.create_token("ci", scopes=["submit"]).text
    for place in range(20, len(text)):
        other = text[:place] + ("a" if text[place] != "a" else "b") + text[place + 1 :]

        assert refusal(fresh, other).code == "token_unknown"


def test_no_refusal_has_the_secret_and_each_says_what_to_do_next(fresh: World) -> None:
    expired = fresh.blocking.create_token("old", scopes=["submit"], expires_s=1)
    revoked = fresh.blocking.create_token("gone", scopes=["submit"])
    fresh.blocking.revoke_token(revoked.token.id, actor="ann")
    fresh.clock.pass_s(1)
    texts = [None, f"dt_{ID}_{SECRET}", expired.text, revoked.text, f"{revoked.text}!"]
    errors = [refusal(fresh, text) for text in texts]

    assert {error.code for error in errors} == TOKEN_ERRORS.keys()
    assert all("detent token create" in str(error) or "as it was printed" in str(error) for error in errors)
    assert "was revoked by ann" in str(errors[3])
    for error, text in zip(errors, texts, strict=True):
        assert text is None or text[20:63] not in f"{error} {error!r} {error.__dict__} {pickle.dumps(error.args)!r}"


@pytest.mark.parametrize("is_known", [True, False])
def test_digests_are_compared_in_constant_time_whether_the_id_is_known_or_not(
    monkeypatch: pytest.MonkeyPatch, is_known: bool
) -> None:
    store, compared = MemoryStore(), list[tuple[str, str]]()
    if is_known:
        kept = Token(id=ID, name="ci", tenant="default", scopes=SCOPES, digest="f" * 64, created_by="ann")
        run(store.keep_token(kept))

    def compare(a: str, b: str) -> bool:
        compared.append((a, b))
        return hmac.compare_digest(a, b)

    monkeypatch.setattr(tokens, "compare_digest", compare)
    with pytest.raises(Unauthorized):
        run(authenticated(store, f"dt_{ID}_{SECRET}"))

    assert [len(a) == len(b) == 64 for a, b in compared] == [True]


SHOWN: list[Callable[[object], str]] = [repr, str, "{}".format, pretty_repr, lambda new: repr([new])]


@pytest.mark.parametrize("show", SHOWN)
def test_new_token_does_not_show_its_text(fresh: World, show: Callable[[object], str]) -> None:
    new = fresh.blocking.create_token("ci", scopes=["submit"])

    assert isinstance(new, NewToken)
    assert new.token.id in show(new)
    assert new.text[20:] not in show(new)


def test_secret_is_nowhere_in_the_store(fresh: World) -> None:
    new = fresh.blocking.create_token("ci", scopes=["submit"])
    fresh.blocking.revoke_token(new.token.id)
    kept = fresh.place.bytes_kept()

    assert new.token.id.encode() in kept
    assert new.text[20:].encode() not in kept


@pytest.mark.parametrize("code", TOKEN_ERRORS)
def test_refusals_are_errors_of_detents(code: str) -> None:
    assert isinstance(Unauthorized("no", code=code), DetentError)


def test_state_says_what_became_of_a_token(fresh: World) -> None:
    new = fresh.blocking.create_token("ci", scopes=["submit"], expires_s=10)
    now = to_moment(fresh.clock())

    assert [new.token.state_at(now + timedelta(seconds=each)) for each in (0, 9.999_999, 10)] == [
        "live", "live", "expired",
    ]  # fmt: skip
    fresh.blocking.revoke_token(new.token.id)
    assert fresh.blocking.tokens()[0].state_at(now) == "revoked"
