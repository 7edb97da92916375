"""Roles of a database as roles.sql makes them, and a URL for each."""

from typing import Final
from urllib.parse import urlsplit

import psycopg

from tests.postgres.clients import opened
from tests.postgres.server import Server, database_of
from tests.store.sqlite.files import ROOT

ROLES: Final = (ROOT / "src/detent/store/postgres/roles.sql").read_text()
OWNER: Final = "some_owner"
APP, MAINTENANCE, READER = "detent_app", "detent_maintenance", "detent_reader"
# Who logs in, and as a member of which role.
PEOPLE: Final = {"web": APP, "janitor": MAINTENANCE, "ann": READER}
STRANGER: Final = "stranger"


def as_role(url: str, role: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{role}@{parts.hostname}:{parts.port}").geturl()


def owned(server: Server, url: str) -> str:
    """The database's URL for its owner, who is no superuser and may make no roles."""
    _make(server, OWNER, STRANGER)
    server.psql(f"alter database {database_of(url)} owner to {OWNER}")
    # On 14 and older everybody may create tables there, and the owner of the database is nobody special.
    server.psql(f"revoke create on schema public from public; grant all on schema public to {OWNER}", url)
    return as_role(url, OWNER)


def cast(server: Server, url: str) -> None:
    """Migrated by its owner, who then gives the roles their rights. Whoever runs the server has made the roles."""
    with opened(owned(server, url)):
        pass
    _make(server, *PEOPLE, *PEOPLE.values())
    for person, role in PEOPLE.items():
        server.psql(f"grant {role} to {person}")
    give_rights(url)


def give_rights(url: str) -> None:
    with psycopg.connect(as_role(url, OWNER), autocommit=True) as owner:
        owner.execute(ROLES)


def _make(server: Server, *roles: str) -> None:
    for role in roles:
        if not server.psql("select 1 from pg_roles where rolname = %s", given=(role,)):
            server.psql(f"create role {role} login")
