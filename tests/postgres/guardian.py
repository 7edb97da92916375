"""Runs one PostgreSQL server for as long as the test run lives. process.py starts this file as a process of its own.

A test run may end without a chance to clean up. Its end of the pipe closes all the same; the server is then stopped
and its folders removed from here. A word on the pipe, "fast" or "immediate", stops the server and leaves the folders.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from typing import Any

SIGNALS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}
WORD_BYTES_MAX = 64


def main(command: list[str], identity: dict[str, Any], folders: list[str]) -> int:
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, cwd="/", **identity)
    orphaned = threading.Event()
    threading.Thread(target=listen, args=(server, orphaned), daemon=True).start()
    ended_with = server.wait()
    if orphaned.is_set():
        for folder in folders:
            shutil.rmtree(folder)
    return abs(ended_with)


def listen(server: subprocess.Popen[bytes], orphaned: threading.Event) -> None:
    # Straight from the pipe: a thread that waits in sys.stdin holds a lock that the interpreter's end needs.
    word = os.read(0, WORD_BYTES_MAX).decode().strip()
    if not word:
        orphaned.set()
    server.send_signal(SIGNALS[word or "immediate"])


if __name__ == "__main__":
    sys.exit(main(**json.loads(sys.argv[1])))
