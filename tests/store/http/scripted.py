"""A server that answers as a test says, word for word, and remembers what it was asked."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Answer = bytes | None  # None: the connection is closed without one
Script = Callable[[int, bytes], Answer]  # of the number of the request, and its first line


class Scripted:
    def __init__(self, script: Script) -> None:
        self._script = script
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.asked: list[bytes] = []
        self.sent: list[bytes] = []
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        self._socket.close()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            while request := self._received(connection):
                line = request.partition(b"\r\n")[0]
                self.asked.append(line)
                self.sent.append(request)
                answer = self._script(len(self.asked), line)
                if answer is None:
                    return
                connection.sendall(answer)

    def _received(self, connection: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            data += (more := connection.recv(65_536))
            if not more:
                return b""
        head, _, body = data.partition(b"\r\n\r\n")
        lines = [each.partition(b":") for each in head.lower().split(b"\r\n")]
        length = next((int(value) for name, _, value in lines if name == b"content-length"), 0)
        while len(body) < length:
            body += connection.recv(65_536)
        return head + b"\r\n\r\n" + body


def json(text: str, status: str = "200 OK", *headers: str) -> bytes:
    return answer(text, status, "content-type: application/json", *headers)


def problem(code: str, status: str, *headers: str) -> bytes:
    number = status.partition(" ")[0]
    text = f'{{"type":"x","title":"x","status":{number},"detail":"no","code":"{code}"}}'
    return answer(text, status, "content-type: application/problem+json", *headers)


def answer(text: str, status: str, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"content-length: {len(text.encode())}", *headers, "", text]
    return "\r\n".join(lines).encode()


SESSION = json('{"name":"ci","tenant":"acme","scopes":["work"],"worker":"w","is_any_tenant":false,"version":"9.9"}')


@contextmanager
def scripted(script: Script) -> Iterator[Scripted]:
    server = Scripted(script)
    try:
        yield server
    finally:
        server.close()
