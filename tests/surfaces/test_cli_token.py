"""`detent token`: the text is printed once, alone on stdout; what is over is listed as such; revoked is revoked."""

import re
import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest

from detent.client.sync import run
from detent.client.tokens import NewToken, authenticated
from tests.surfaces.running import LOGIN, Site, refused, refused_in_json

TEXT = re.compile(r"dt_([0-9a-f]{16})_[A-Za-z0-9_-]{43}\n")


@pytest.fixture
def store(site: Site) -> Site:
    with site.client():
        return site


def made(site: Site, name: str = "ci", **more: Any) -> NewToken:
    with site.client() as client:
        return client.create_token(name, **{"scopes": ["submit"], "actor": "ann", **more})


def held(site: Site, text: str) -> Any:
    with site.client() as client:
        return run(authenticated(client.client.store, text))


def test_text_is_alone_on_stdout_and_is_good(store: Site) -> None:
    result = store.detent("token", "create", "ci", "--scope", "submit", "--scope", "read")
    token = held(store, result.stdout.strip())

    assert result.exit_code == 0
    assert TEXT.fullmatch(result.stdout)
    assert (token.name, token.scopes, token.tenant, token.created_by) == ("ci", ("submit", "read"), "default", LOGIN)
    assert re.fullmatch(
        rf"Token {token.id} may submit, read in tenant 'default', until \d{{4}}-\d\d-\d\d\. "
        r"Keep its text now: it is not shown again\.\n",
        result.stderr,
    )


def test_secret_is_not_among_the_remarks_and_not_in_the_file(store: Site) -> None:
    result = store.detent("token", "create", "ci", "--scope", "submit")
    secret = result.stdout.strip()[20:]

    assert secret not in result.stderr
    assert all(secret.encode() not in path.read_bytes() for path in store.path.parent.iterdir())
    for asked in (("token", "list"), ("token", "list", "--json"), ("token", "revoke", result.stdout.strip())):
        assert secret not in store.detent(*asked).output


def test_shell_can_take_the_text_into_a_variable(store: Site) -> None:
    script = f'TOKEN=$({sys.executable} -m detent token create ci --scope submit); printf "<%s>" "$TOKEN"'
    done = subprocess.run(["sh", "-c", script], env=store.environment(), capture_output=True, text=True, check=True)

    assert re.fullmatch(rf"<{TEXT.pattern.strip()[:-2]}>", done.stdout)


def test_json_has_the_text_and_no_remark(store: Site) -> None:
    new = store.json("token", "create", "box-1", "--scope", "work", "--expires", "12h")

    assert held(store, new.text).id == new.id
    assert (new.worker, new.expires_at - new.created_at) == ("box-1", timedelta(hours=12))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--scope", "work", "--worker", "ocr"), "may work in tenant 'default' as 'ocr', until "),
        (("--scope", "read", "--expires", "never"), "may read in tenant 'default', for ever."),
        (("--scope", "read", "--tenant", "shop"), "may read in tenant 'shop', until "),
        (("--scope", "admin", "--any-tenant"), "may admin in any tenant, until "),
    ],
)
def test_it_is_said_what_the_token_is_good_for(store: Site, options: tuple[str, ...], said: str) -> None:
    assert said in store.detent("token", "create", "ci", *options).stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "Missing option '--scope'"),
        (("--scope", "root"), "'root' is not one of 'submit', 'work', 'read', 'operate', 'admin'"),
        (("--scope", "read", "--scope", "read"), "each at most once"),
        (("--scope", "read", "--worker", "w"), "worker is given without the scope 'work'"),
        (("--scope", "read", "--any-tenant"), "any_tenant wants the scope 'admin'"),
        (("--scope", "admin", "--any-tenant", "--tenant", "shop"), "by the tenant 'default'"),
        (("--scope", "read", "--expires", "0"), "it must be more than 0"),
        (("--scope", "read", "--expires", "soon"), "'soon' is no length of time; write 12h, 90d, or never."),
        (("--scope", "read", "--expires", "inf"), "'inf' is no length of time"),
    ],
)
def test_what_makes_no_sense_is_wrong_usage_and_makes_no_token(
    store: Site, options: tuple[str, ...], said: str
) -> None:
    assert said in refused(store.detent("token", "create", "ci", *options, columns=200), 2)
    assert store.json("token", "list", "--all-tenants") == []


def test_list_says_what_became_of_each(store: Site) -> None:
    made(store, "brief", expires_s=0.000_001)
    revoked = made(store, "gone")
    made(store, "box-1", scopes=["work", "read"], expires_s=None)
    with store.client() as client:
        client.revoke_token(revoked.token.id, actor="bob")
    lines = store.shown("token", "list", columns=160).splitlines()

    rows = [" ".join(line.split()) for line in lines[2:]]
    assert re.fullmatch(r"[0-9a-f]{16} box-1 live work, read default box-1 never .* ago by ann", rows[0])
    assert re.fullmatch(r"[0-9a-f]{16} gone revoked submit default in 90 days .* ago by bob .* ago by ann", rows[1])
    assert re.fullmatch(r"[0-9a-f]{16} brief expired submit default .* ago .* ago by ann", rows[2])
    assert [each.state for each in store.json("token", "list")] == ["live", "revoked", "expired"]


def test_tokens_of_all_tenants_are_listed_where_that_is_asked_for(store: Site) -> None:
    made(store, "wide", scopes=["admin"], any_tenant=True)
    store.detent("token", "create", "theirs", "--scope", "read", "--tenant", "shop")

    assert [each.name for each in store.json("token", "list", "--tenant", "shop")] == ["theirs"]
    assert store.json("token", "list") == []
    assert [(each.name, each.tenant) for each in store.json("token", "list", "--all-tenants")] == [
        ("theirs", "shop"), ("wide", None),
    ]  # fmt: skip


def test_revoked_token_is_shown_as_such_and_again_the_second_time(store: Site) -> None:
    new = made(store)

    assert store.told("token", "revoke", new.token.id) == f"{new.token.id} revoked ci"
    assert store.json("token", "revoke", new.token.id, env={"DETENT_ACTOR": "bob"}).revoked_by == LOGIN


def test_token_for_any_tenant_is_revoked_where_all_tenants_are_meant(store: Site) -> None:
    new = made(store, "wide", scopes=["admin"], any_tenant=True)
    refused(store.detent("token", "revoke", new.token.id), 3)

    assert store.json("token", "revoke", new.token.id, "--all-tenants").state == "revoked"


def test_mistyped_id_hears_what_is_spelled_like_it_and_a_name_its_ids(store: Site) -> None:
    new = made(store)
    mistyped = new.token.id[1:] + new.token.id[0]

    assert f"Did you mean '{new.token.id}'?" in refused(store.detent("token", "revoke", mistyped, columns=200), 3)
    assert f"Of that name: {new.token.id}" in refused(store.detent("token", "revoke", "ci", columns=200), 3)
    assert refused_in_json(store.detent("token", "revoke", "nobody", "--json"), 3)["code"] == "not_found"


def test_store_without_tokens_says_so(store: Site) -> None:
    result = store.detent("token", "list")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "There are no tokens.\n")
