"""How a test runs `detent`, in this process or in one of its own, and stores with jobs for it to look at."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import UnionType
from typing import Any, Final, get_args

import click
import msgspec
from click.testing import CliRunner, Result

from detent.client import Job, SyncClient, connect
from detent.lifecycle import from_toml
from detent.surfaces.cli import main
from detent.surfaces.cli.command import Command

ROOT: Final = Path(__file__).resolve().parents[2]
ARTICLE: Final = ROOT / "docs" / "examples" / "article.toml"
RULES: Final = ROOT / "docs" / "examples" / "rules.toml"
LOGIN: Final = "ann"
# What the machine that runs the tests may have set, and what a login name is read from.
PLAIN: Final[dict[str, str | None]] = {
    "DETENT_URL": None, "DETENT_TENANT": None, "DETENT_ACTOR": None, "NO_COLOR": None, "FORCE_COLOR": None,
    "TERM": "xterm-256color", "LOGNAME": LOGIN,
}  # fmt: skip
BUSY: Final = {"type": "TransientError", "message": "scanner is busy"}
BROKEN: Final = {"type": "PermanentError", "message": "no such page"}

Path_ = tuple[str, ...]
Env = Mapping[str, str | None]
NOTHING: Final[Env] = {}


def detent(*arguments: str, stdin: str | bytes = "", columns: int = 80, env: Env = NOTHING) -> Result:
    """A command in this process: quick, and stdout and stderr apart."""
    around = {**PLAIN, "COLUMNS": str(columns), **env}
    return CliRunner(env=around).invoke(main, arguments, input=stdin, prog_name="detent")


class Site:
    """A file with jobs, and commands that are run on it."""

    def __init__(self, folder: Path, name: str = "jobs.db") -> None:
        self.path = folder / name
        self.url = f"sqlite:///{self.path}"

    def client(self, tenant: str = "default", **more: Any) -> AbstractContextManager[SyncClient]:
        quicker: dict[str, Any] = {"synchronous": "normal"} if self.url.startswith("sqlite:") else {}
        return connect(self.url, tenant=tenant, **quicker, **more)

    def detent(self, *arguments: str, stdin: str | bytes = "", columns: int = 80, env: Env = NOTHING) -> Result:
        return detent(*arguments, stdin=stdin, columns=columns, env={"DETENT_URL": self.url, **env})

    def shown(self, *arguments: str, columns: int = 80, env: Env = NOTHING) -> str:
        """What a command prints that ends well and has nothing to remark."""
        result = self.detent(*arguments, columns=columns, env=env)
        assert (result.exit_code, result.stderr) == (0, ""), result.output
        return result.stdout

    def told(self, *arguments: str, columns: int = 80, env: Env = NOTHING) -> str:
        """The same in one line, however it was wrapped."""
        return " ".join(self.shown(*arguments, columns=columns, env=env).split())

    def json(self, *arguments: str, exit_code: int = 0, env: Env = NOTHING) -> Any:
        """What a command prints with --json, in the very shape it declares."""
        result = self.detent(*arguments, "--json", env=env)
        assert result.exit_code == exit_code, result.output
        return decoded(arguments, result.stdout)

    def environment(self, **env: str) -> dict[str, str]:
        """For a process of its own. Its columns are those of its terminal, if it has one."""
        given = {name: value for name, value in os.environ.items() if name not in {*PLAIN, "COLUMNS"}}
        return given | {"DETENT_URL": self.url, "LOGNAME": LOGIN, "PYTHONUNBUFFERED": ""} | env

    def process(self, *arguments: str, env: dict[str, str] | None = None, **how: Any) -> "subprocess.Popen[str]":
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
        command = [sys.executable, "-m", "detent", *arguments]
        return subprocess.Popen(command, env=self.environment(**(env or {})), text=True, **streams)


def decoded(arguments: Path_, text: str) -> Any:
    """Strictly, and with nothing in it that its shape does not have. A stream is a list, an item to a line."""
    command = command_of(arguments)
    assert command.shape is not None, f"{arguments} declares no shape"
    kind: Any = command.shape
    if not command.stream:
        return _decoded(text, kind)
    return [_decoded(line, kind) for line in text.splitlines()]


def _decoded(text: str, kind: Any) -> Any:
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)  # a command may have a shape or another
    fitting = [value for each in kinds if (value := _fitting(text, each)) is not None]
    assert len(fitting) == 1, f"this is not of the shape {kind}: {text}"
    return fitting[0]


def _fitting(text: str, kind: Any) -> Any:
    try:
        value = msgspec.json.decode(text, type=kind, strict=True)
    except msgspec.ValidationError:
        return None
    return value if json.loads(msgspec.json.encode(value)) == json.loads(text) else None


def refused(result: Result, exit_code: int) -> str:
    """The message of a command that failed: on stderr, and nothing on stdout."""
    assert (result.exit_code, result.stdout) == (exit_code, ""), result.output
    assert "Traceback" not in result.stderr
    return " ".join(result.stderr.split())


def refused_in_json(result: Result, exit_code: int) -> dict[str, Any]:
    """The same with --json: one line of JSON on stderr."""
    assert (result.exit_code, result.stdout) == (exit_code, ""), result.output
    (line,) = result.stderr.splitlines()
    error: dict[str, Any] = json.loads(line)["error"]
    assert error["code"]
    assert error["message"]
    return error


def command_of(arguments: Path_) -> Command:
    """The command that these arguments name."""
    found: click.Command = main
    for word in arguments:
        if not isinstance(found, click.Group):
            break
        found = found.commands[word]
    assert isinstance(found, Command), f"{arguments} is no command of ours"
    return found


def commands(group: click.Group = main, path: Path_ = ()) -> Iterator[tuple[Path_, click.Command]]:
    """Every command that can be reached, groups included, each with the words that lead to it."""
    for name, command in group.commands.items():
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


def article() -> Any:
    return from_toml(ARTICLE.read_text(encoding="utf-8"))


def run_one(client: SyncClient, job_id: str, *, queue: str = "default", worker: str = "w1") -> Job:
    """Make a job and have a worker run it."""
    client.enqueue("scan", job_id=job_id, queue=queue)
    client.claim(worker=worker, queues=[queue])
    return client.start(job_id, worker=worker, attempt=1)


def succeed(client: SyncClient, job_id: str, result: Any = None) -> Job:
    run_one(client, job_id)
    return client.complete(job_id, worker="w1", attempt=1, result=result)


def fail(client: SyncClient, job_id: str) -> Job:
    run_one(client, job_id)
    return client.fail(job_id, worker="w1", attempt=1, error=BROKEN)


def bury(client: SyncClient, job_id: str, **how: Any) -> Job:
    """A dead letter, as an operator makes one."""
    about = {name: how.pop(name) for name in ("reason_code", "stage", "error") if name in how}
    client.enqueue(how.pop("kind", "scan"), job_id=job_id, **how)
    return client.dead_letter(job_id, role="operator", actor="ops", **about)


def widest(text: str) -> int:
    return max((len(line) for line in text.splitlines()), default=0)
