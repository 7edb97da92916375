"""`detent serve` on a bus, in a process of its own, and what its record says."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from tests.surfaces.http.process import Service, Services, until


class BusSite:
    def __init__(
        self,
        folder: Path,
        nats_url: str,
        settings: str = "",
        *arguments: str,
        is_awaited: bool = True,
        url: str | None = None,
    ) -> None:
        """`url`: of the store; without one, a file in the folder. `arguments` are the service's, beside the bus's."""
        self._arguments = arguments
        self.services = Services(folder, url)
        self.nats_url = nats_url
        self._settings = folder / "bus.toml"
        self._settings.write_text(settings, encoding="utf-8")
        self._log = folder / "serve.log"
        self._stack = ExitStack()
        self._is_awaited = is_awaited
        self.service: Service | None = None

    def __enter__(self) -> Self:
        self.start()
        if self._is_awaited:
            self.wait_until_joined()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start(self) -> None:
        running = self.services.running("--nats", self.nats_url, "--bus", str(self._settings), *self._arguments)
        self.service = self._stack.enter_context(running)

    def wait_until_joined(self) -> None:
        """What is submitted before there is an inbox is kept by nobody."""
        until(lambda: "on the bus" in self.log())

    def kill(self) -> None:
        assert self.service is not None
        self.service.kill()

    def log(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def job(self, job_id: str) -> dict[str, Any] | None:
        """As the service shows it, or None if there is none."""
        assert self.service is not None
        status, shown = self.service.ask("GET", f"/v1/jobs/{job_id}")
        return dict(shown) if status == 200 else None

    def in_state(self, job_id: str, *states: str) -> dict[str, Any] | None:
        found = self.job(job_id)
        return found if found is not None and found["state"] in states else None

    def events(self, job_id: str) -> list[dict[str, Any]]:
        assert self.service is not None
        status, shown = self.service.ask("GET", f"/v1/jobs/{job_id}/events")
        assert status == 200, shown
        return list(shown["events"])

    def notes(self, job_id: str) -> list[dict[str, Any]]:
        assert self.service is not None
        status, shown = self.service.ask("GET", f"/v1/jobs/{job_id}/notes")
        assert status == 200, shown
        return list(shown["notes"])
