"""`detent serve` in a process of its own, as a person starts it, and what others ask it over real sockets."""

import json
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import urllib3

from tests.surfaces.running import Site

WAIT_S: Final = 40.0
CALLERS_MAX: Final = 16
JSON: Final = {"content-type": "application/json"}


class Service:
    """A service that runs. `token` is the first admin's, where one was made at its start or before."""

    def __init__(
        self, process: "subprocess.Popen[str]", log: Path, shown: dict[str, Any], token: str | None = None
    ) -> None:
        self.process = process
        self._log = log
        self.shown = shown
        self.url: str = shown["address"]
        self.port = int(self.url.rpartition(":")[2])
        self.token = token if shown["token"] is None else shown["token"]["text"]
        self._http = urllib3.PoolManager(retries=False, timeout=WAIT_S, maxsize=CALLERS_MAX)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Status, and what stands in the answer."""
        sent = None if body is None else json.dumps(body).encode()
        answer = self._http.request(method, f"{self.url}{path}", body=sent, headers=self.headers() | headers)
        return answer.status, json.loads(answer.data) if answer.data else None

    def text(self, path: str) -> str:
        """Of what does not answer in JSON."""
        return self._http.request("GET", f"{self.url}{path}", headers=self.headers()).data.decode()

    def headers(self) -> dict[str, str]:
        return JSON | ({} if self.token is None else {"authorization": f"Bearer {self.token}"})

    def enqueue(self, kind: str, payload: Any = None, **more: Any) -> str:
        status, job = self.ask("POST", "/v1/jobs", {"kind": kind, "payload": payload} | more)
        assert status == 201, job
        job_id: str = job["id"]
        return job_id

    def state(self, job_id: str) -> str:
        state: str = self.ask("GET", f"/v1/jobs/{job_id}")[1]["state"]
        return state

    def token_for(self, name: str, *scopes: str) -> str:
        status, made = self.ask("POST", "/v1/tokens", {"name": name, "scopes": scopes})
        assert status == 201, made
        text: str = made["text"]
        return text

    def is_ready(self) -> bool:
        try:
            return self.ask("GET", "/readyz")[0] == 200
        except urllib3.exceptions.HTTPError:
            return False

    def raw(self, *lines: str) -> socket.socket:
        """A connection on which the head of a request was sent, and nothing of its body."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)
        head = [*lines, "host: here", *(f"{name}: {value}" for name, value in self.headers().items())]
        connection.sendall("\r\n".join([*head, "", ""]).encode())
        return connection

    def ended(self, *signals: int) -> tuple[int, str]:
        """After these signals: exit code, and what it said on stderr."""
        for each in signals:
            self.process.send_signal(each)
        return self.process.wait(WAIT_S), self._log.read_text(encoding="utf-8")

    def stopped(self) -> tuple[int, str]:
        return self.ended(signal.SIGTERM)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(WAIT_S)


class Services:
    """Starts services on one store, one after the other; each is killed at the end if it is still there."""

    def __init__(self, folder: Path, url: str | None = None) -> None:
        self.site = Site(folder)
        self.site.url = url or f"sqlite:///{folder}/jobs.db?synchronous=normal"
        self.token: str | None = None
        self._log = folder / "serve.log"

    @contextmanager
    def running(self, *arguments: str, port: int = 0, **env: str) -> Iterator[Service]:
        with self.started(*arguments, "--json", "--port", str(port), **env) as process:
            service = Service(process, self._log, _document(process), self.token)
            self.token = service.token
            yield service

    @contextmanager
    def started(self, *arguments: str, **env: str) -> Iterator["subprocess.Popen[str]"]:
        """What it says goes to a file: it has a line for each request, and nobody reads it meanwhile."""
        with self._log.open("w", encoding="utf-8") as log:
            process = self.site.process("serve", *arguments, env=env, stderr=log)
        with process:
            try:
                yield process
            finally:
                process.kill()

    def refused(self, *arguments: str, **env: str) -> tuple[int, str]:
        """Of a service that does not come to serve: its exit code, and what it said, in one line."""
        with self.started(*arguments, **env) as process:
            out, _ = process.communicate(timeout=WAIT_S)
        said = self._log.read_text(encoding="utf-8")
        assert out == ""
        assert "Traceback" not in said
        return process.returncode, " ".join(said.split())


def _document(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """One, over several lines, and then nothing more."""
    assert process.stdout is not None
    lines = [""]
    while lines[-1] != "}\n":
        lines.append(process.stdout.readline())
        assert lines[-1], f"it ended with {process.wait(WAIT_S)}, and said why in its log"
    document: dict[str, Any] = json.loads("".join(lines))
    return document


def received(connection: socket.socket) -> bytes:
    """All that comes, until the other side closes."""
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
    return b"".join(parts)


def until(is_so: Callable[[], object]) -> None:
    ends_s = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < ends_s, "it never came to be"
        time.sleep(0.02)
