"""Engines that are played by tests: the npm client `socket.io-client` in a process of Node, told line by line."""

import json
import queue
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from tests.surfaces.http.process import WAIT_S, Service
from tests.surfaces.running import ROOT

FOLDER: Final = ROOT / "tests" / "node"
KIND: Final = "BUILD_SCENE"
HURRIED: Final = {"lease_s": 3.0, "heartbeat_s": 1.0, "allow_unusual_lease": True}


def node() -> str:
    found = shutil.which("node")
    assert found, "there is no node on this machine; see make setup"
    assert (FOLDER / "node_modules").exists(), "tests/node is not installed; see make setup"
    return found


class Puppet:
    def __init__(self, process: "subprocess.Popen[str]", url: str) -> None:
        self._process = process
        self._url = url
        self._lines: queue.Queue[dict[str, Any]] = queue.Queue()
        self._kept: list[dict[str, Any]] = []
        self._asked = 0
        threading.Thread(target=self._read, daemon=True).start()

    def connect(self, token: str | None, **more: Any) -> None:
        auth = {"token": token, **more.pop("auth", {})} if token is not None else more.pop("auth", {})
        self._tell("connect", url=self._url, auth=auth, **({"transports": ["websocket"]} | more))

    def connected(self, token: str | None, **more: Any) -> "Puppet":
        self.connect(token, **more)
        self.heard("connect")
        return self

    def code_at_the_door(self, token: str | None) -> str | None:
        """Why it is not let in; None, if it is."""
        self.connect(token)
        said = self._found(lambda said: said["event"] in ("connect", "connect_error"))
        code: str | None = None if said["event"] == "connect" else said["data"][1]["code"]
        return code

    def ask(self, event: str, *data: Any) -> Any:
        """The server's answer."""
        self.send(event, *data)
        return self.answer()

    def send(self, event: str, *data: Any) -> None:
        self._asked += 1
        self._tell("emit", event=event, data=list(data), id=self._asked)

    def answer(self) -> Any:
        """To the last that was sent."""
        return self._found(lambda said: said["event"] == "answer" and said["id"] == self._asked)["data"][0]

    def registered(self, name: str, **more: Any) -> Any:
        answer = self.ask("register", {"engineId": name, "jobTypes": [KIND], **more})
        assert answer["accepted"], answer
        return answer

    def took(self, job_id: str) -> dict[str, Any]:
        """Offered and acknowledged."""
        offer = self._found(lambda said: said["event"] == "job_offer" and said["data"][0]["job"]["jobId"] == job_id)
        assert offer["data"][0]["job"]["status"] == "queued"
        answer: dict[str, Any] = self.ask("job_ack", {"jobId": job_id})
        assert answer["accepted"], answer
        return answer

    def heard(self, event: str) -> list[Any]:
        """What came with the next event of that name, whatever else came."""
        data: list[Any] = self._found(lambda said: said["event"] == event)["data"]
        return data

    def has_heard(self, event: str) -> bool:
        while not self._lines.empty():
            self._kept.append(self._lines.get_nowait())
        return any(said["event"] == event for said in self._kept)

    def disconnect(self) -> None:
        self._tell("disconnect")
        self.heard("disconnect")

    def _found(self, is_meant: Any) -> dict[str, Any]:
        for place, said in enumerate(self._kept):
            if is_meant(said):
                return self._kept.pop(place)
        while True:
            try:
                said = self._lines.get(timeout=WAIT_S)
            except queue.Empty:
                raise AssertionError(f"it was not heard of; what was: {self._kept}") from None
            if is_meant(said):
                return said
            self._kept.append(said)

    def _tell(self, act: str, **more: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"act": act, **more}) + "\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(json.loads(line))


@contextmanager
def puppet(url: str) -> Iterator[Puppet]:
    process = subprocess.Popen(
        [node(), str(FOLDER / "puppet.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=FOLDER
    )
    with process:
        try:
            yield Puppet(process, url)
        finally:
            process.kill()


def scene(service: Service, policy: dict[str, Any] | None = None, **more: Any) -> str:
    """A job for an engine."""
    given = {"lifecycle": "engine", "env": {"user_id": "u1"}, **more}
    kind, payload = given.pop("kind", KIND), given.pop("payload", {"scene": 7})
    return service.enqueue(kind, payload, **given, **({"policy": policy} if policy else {}))
