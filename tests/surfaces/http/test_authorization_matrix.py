"""Every route of the table, and everybody who must not get through; and those who may, who do."""

from typing import Final

import pytest
from msgspec import Struct

from detent.surfaces.http.routes import ROUTES
from tests.figures import Show
from tests.surfaces.http.asking import ABOUT_A_JOB, LEAST, Asking, askings
from tests.surfaces.http.serving import SCOPES, Served
from tests.surfaces.http.streams import Stream

SECRET: Final = "A" * 43


class Tokens(Struct, frozen=True, kw_only=True):
    """As they are presented. `of` has one of each scope alone, `all` has all but admin; `other` is another tenant's."""

    good: str
    wrong: dict[str, tuple[str | None, str]]
    of: dict[str, str]
    all: str
    tenant_admin: str
    other: str
    other_admin: str


@pytest.fixture(scope="module")
def tokens(service: Served) -> Tokens:
    good = service.new_token("admin", name="good")
    revoked = service.new_token("admin", name="revoked")
    service.ask("DELETE", f"/v1/tokens/{revoked.token.id}")
    plain = tuple(scope for scope in SCOPES if scope != "admin")
    wrong: dict[str, tuple[str | None, str]] = {
        "no token": (None, "token_missing"),
        "malformed": ("dt_nothing", "token_malformed"),
        "cut short": (good.text[:-1], "token_malformed"),
        "unknown": (f"dt_{'0' * 16}_{SECRET}", "token_unknown"),
        "wrong secret": (f"dt_{good.token.id}_{SECRET}", "token_unknown"),
        "expired": (service.new_token("admin", name="expired", expires_s=1e-6).text, "token_expired"),
        "revoked": (revoked.text, "token_revoked"),
    }
    return Tokens(
        good=good.text,
        wrong=wrong,
        of={scope: service.new_token(scope, name=f"only-{scope}").text for scope in SCOPES},
        all=service.new_token(*plain, name="all", worker="w").text,
        tenant_admin=service.new_token("admin", name="ann").text,
        other=service.new_token(*plain, name="all", worker="w", tenant="other").text,
        other_admin=service.new_token("admin", name="eve", tenant="other").text,
    )


@pytest.mark.parametrize("asking", askings(), ids=str)
def test_nobody_gets_in_without_a_token_that_holds(service: Served, tokens: Tokens, asking: Asking) -> None:
    for text, code in tokens.wrong.values():
        answer = service.ask(asking.method, asking.path(), asking.body, token=text, headers=asking.headers)

        assert (answer.status, answer.code) == (401, code)
        assert answer.headers["www-authenticate"] == 'Bearer realm="detent"'


@pytest.mark.parametrize("asking", askings(), ids=str)
def test_token_of_another_scope_is_refused(service: Served, tokens: Tokens, asking: Asking) -> None:
    for scope in SCOPES:
        if scope in asking.route.scopes or scope == "admin":
            continue
        answer = service.ask(asking.method, asking.path(), asking.body, token=tokens.of[scope], headers=asking.headers)

        assert (answer.status, answer.code) == (403, "scope_missing")


@pytest.mark.parametrize("asking", [each for each in askings() if not each.headers], ids=str)
def test_token_of_one_of_its_scopes_is_let_in(service: Served, tokens: Tokens, asking: Asking) -> None:
    for scope in {*asking.route.scopes, "admin"}:
        answer = service.ask(asking.method, asking.path(), asking.body, token=tokens.of[scope])

        # What all tenants share is kept from the admin of one.
        assert answer.status != 401
        assert answer.code in (None, "worker_denied") or answer.status != 403 or asking.route.name == "check"


@pytest.mark.parametrize("asking", askings(), ids=str)
def test_token_of_one_tenant_cannot_ask_for_another(service: Served, tokens: Tokens, asking: Asking) -> None:
    for token in (tokens.all, tokens.tenant_admin):
        headers = asking.headers | {"detent-tenant": "other"}
        answer = service.ask(asking.method, asking.path(), asking.body, token=token, headers=headers)

        assert (answer.status, answer.code) == (403, "tenant_denied")


@pytest.mark.parametrize("asking", askings(ABOUT_A_JOB), ids=str)
def test_job_of_another_tenant_is_not_there(service: Served, tokens: Tokens, asking: Asking) -> None:
    job = service.job(kind="secret")
    body = None if asking.body is None else LEAST.get(asking.route.name, {})
    before = service.ask("GET", f"/v1/jobs/{job['id']}").said

    for token in (tokens.other, tokens.other_admin):
        answer = service.ask(asking.method, asking.path(job_id=job["id"]), body, token=token)

        assert answer.status in (403, 404) or (asking.route.name, answer.said) == ("job_reruns", {"jobs": []})
        assert answer.code in ("not_found", "scope_missing", None)
        assert b"secret" not in answer.body
    assert service.ask("GET", f"/v1/jobs/{job['id']}").said == before


@pytest.mark.parametrize("scheme", ["Basic", "Bearer", "", "Digest"])
def test_what_is_no_bearer_token_counts_as_none(service: Served, tokens: Tokens, scheme: str) -> None:
    given = "bogus" if scheme == "Bearer" else tokens.good
    answer = service.ask("GET", "/v1/session", token=None, headers={"authorization": f"{scheme} {given}".strip()})

    assert (answer.status, answer.code) == (401, "token_malformed" if scheme == "Bearer" else "token_missing")


def test_scheme_is_written_in_any_case(service: Served, tokens: Tokens) -> None:
    answer = service.ask("GET", "/v1/session", token=None, headers={"authorization": f"bEARER  {tokens.good}"})

    assert answer.status == 200


def test_live_stream_lets_in_whoever_may_read(service: Served, tokens: Tokens) -> None:
    for scope in SCOPES:
        with Stream(service.port, tokens.of[scope]) as stream:
            assert stream.status == (200 if scope in ("read", "admin") else 403)


def test_whole_matrix_was_asked(tokens: Tokens, show: Show) -> None:
    asked = askings()
    wrong_scopes = sum(len(set(SCOPES) - {*each.route.scopes, "admin"}) for each in asked)
    refused = len(asked) * (len(tokens.wrong) + 2) + wrong_scopes + 2 * len(ABOUT_A_JOB)

    show(f"authorization: {len(ROUTES)} routes, {refused} requests of the matrix refused, each with its code")
    assert {each.route.name for each in asked} == {route.name for route in ROUTES if route.scopes}
    assert {route.name for route in ROUTES if not route.scopes} == {"healthz", "readyz", "openapi"}
