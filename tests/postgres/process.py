"""A PostgreSQL server as a process: its folder, its port, its start and its end. Its databases are in server.py."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, Self

from tests.postgres import programs
from tests.postgres.folders import new_folder
from tests.postgres.ports import free_port

GUARDIAN: Final = Path(__file__).with_name("guardian.py")
STARTS_MAX: Final = 5
WAIT_S: Final = 60.0
LOOK_AGAIN_S: Final = 0.01
READY: Final = "ready   "
LOG_BYTES_MAX: Final = 4_000

StopMode = Literal["fast", "immediate"]


class ServerFailed(AssertionError):
    """The server did not start."""


class Process:
    """One server in folders of its own; leaving the block stops it and removes them."""

    def __init__(self, settings: Mapping[str, str], *, in_memory: bool) -> None:
        self.user = programs.user()
        # Programs need not run from memory, so only the data goes there.
        self.folder = new_folder(self.user)
        self.data_folder = new_folder(self.user, in_memory=in_memory)
        self.port = 0
        self._settings = settings
        self._guardian: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:  # whatever it was, the block will not be left
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start it: on a free port the first time, and where it was before after a stop."""
        if not self._data.exists():
            self._create()
        for _ in range(1 if self.port else STARTS_MAX):
            if self._starts_on(self.port or free_port()):
                return
        raise ServerFailed(f"PostgreSQL did not start. The last it wrote:\n{self.log()}")

    def stop(self, mode: StopMode = "fast") -> None:
        """Stop it: "fast" ends every connection in good order, "immediate" drops everything as a crash does."""
        guardian, self._guardian = self._guardian, None
        if guardian is not None:
            guardian.communicate(f"{mode}\n".encode(), timeout=WAIT_S)

    def restart(self, mode: StopMode = "fast") -> None:
        self.stop(mode)
        self.start()

    def close(self) -> None:
        """Stop it, and leave nothing behind."""
        self.stop("immediate")
        for folder in self._folders:
            shutil.rmtree(folder)

    @property
    def is_running(self) -> bool:
        return self._guardian is not None and self._guardian.poll() is None

    @property
    def pid(self) -> int:
        """Of the first of its processes, while it runs."""
        return int(self._lock_file()[0])

    def log(self) -> str:
        """The end of what it wrote."""
        return self._log.read_bytes()[-LOG_BYTES_MAX:].decode(errors="replace")

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    @property
    def _folders(self) -> list[Path]:
        return [self.folder, self.data_folder]

    @property
    def _data(self) -> Path:
        return self.data_folder / "data"

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _create(self) -> None:
        self._bin = programs.bin_folder(self.user, self.folder)
        # Nothing in it is worth a wait for the disk yet.
        options = ["-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
        made = subprocess.run(
            [str(self._bin / "initdb"), *options],
            capture_output=True,
            text=True,
            cwd="/",
            env=programs.environment(),
            **programs.identity(self.user),
        )
        if made.returncode != 0:
            raise ServerFailed(f"initdb failed:\n{made.stderr}")

    def _starts_on(self, port: int) -> bool:
        before = self._lock_file()  # one that was killed leaves it
        guardian = self._guardian = self._guarded(port)
        give_up_at = time.monotonic() + WAIT_S
        while guardian.poll() is None and time.monotonic() < give_up_at:
            # Whoever answers on the port may be somebody else; this is surely ours.
            now = self._lock_file()
            if now != before and now[7:] == [READY]:
                self.port = port
                return True
            time.sleep(LOOK_AGAIN_S)
        self.stop("immediate")
        return False

    def _guarded(self, port: int) -> subprocess.Popen[bytes]:
        settings = {**self._settings, "port": str(port)}
        command = [str(self._bin / "postgres"), "-D", str(self._data)]
        command += [f"--{name}={value}" for name, value in settings.items()]
        identity = programs.identity(self.user)
        duty = {"command": command, "identity": identity, "folders": [str(folder) for folder in self._folders]}
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARDIAN), json.dumps(duty)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=programs.environment(),
                start_new_session=True,  # Ctrl-C is for the test run, which then says how to stop
            )

    def _lock_file(self) -> list[str]:
        """What the server says of itself there: its process id, ..., and eighth how far it is."""
        try:
            return (self._data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []
