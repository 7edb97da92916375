"""`detent serve`: as a person starts it, in a process of its own, with real requests and real signals."""

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import click
import pytest

from detent.client import connect
from tests.client.conftest import store_kind, url
from tests.surfaces.http.certificates import certificate
from tests.surfaces.http.process import Services, received, until
from tests.surfaces.running import command_of, decoded, detent, refused
from tests.surfaces.terminal import Terminal

__all__ = ["store_kind", "url"]
HELD = ("POST /v1/jobs HTTP/1.1", "content-length: 15")
BODY = b'{"kind":"scan"}'


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return Services(tmp_path)


# -- from the first start on


def test_first_start_shows_address_and_a_token_that_opens_it(tmp_path: Path, url: str) -> None:
    with Services(tmp_path, url).running() as service:
        status, who = service.ask("GET", "/v1/session")
        job_id = service.enqueue("scan", {"page": 1})
        code, err = service.stopped()

    assert (status, who["scopes"], who["is_any_tenant"]) == (200, ["admin"], True)
    assert code == 0
    assert "INFO detent.serve: stopped after" in err
    with connect(url) as client:
        assert client.get(job_id).payload == {"page": 1}


def test_banner_has_the_token_once_and_the_next_one_says_how_to_make_another(services: Services) -> None:
    with Terminal(services.site, "serve", "--port", "0", columns=60) as first:
        first.expect("serving")
        first.interrupt()
        shown = first.rest()
    with Terminal(services.site, "serve", "--port", "0", columns=200) as second:
        second.expect("serving")
        second.interrupt()
        again = second.rest()

    assert re.search(r"dt_[0-9a-f]{16}_[\w-]{43}", shown)  # in one piece, however narrow the terminal
    assert "It is shown now, and never again" in shown
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert "dt_" not in again
    assert "to make one: detent token create NAME --scope SCOPE" in " ".join(again.split())


def test_json_is_one_document_and_tells_of_the_token_once(services: Services) -> None:
    with services.running() as first:
        first.stopped()
    with services.running() as second:
        assert second.ask("GET", "/v1/session")[0] == 200

    assert first.shown["token"]["text"].startswith("dt_")
    assert second.shown["token"] is None
    assert decoded(("serve",), json.dumps(first.shown)).pid == first.shown["pid"] == first.process.pid


def test_new_token_is_made_once_the_only_admin_lost_theirs(services: Services) -> None:
    with services.running() as service:
        service.ask("DELETE", f"/v1/tokens/{service.shown['token']['id']}")
    with services.running() as service:
        assert service.shown["token"] is not None


def test_nobody_is_let_in_without_a_token(services: Services) -> None:
    with services.running() as service:
        service.token = None
        status, problem = service.ask("GET", "/v1/jobs")

    assert (status, problem["code"]) == (401, "token_missing")


# -- where it listens


def test_busy_port_is_told_of_with_what_to_do(services: Services) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, said = services.refused("--port", str(port))

    assert code == 1
    assert f"port {port} at 127.0.0.1 is taken" in said
    assert "--port 0" in said


def test_service_of_a_service_is_refused(services: Services) -> None:
    message = refused(services.site.detent("serve", "--url", "http://127.0.0.1:1"), 1)

    assert "a service needs the store itself" in message


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_only_this_machine_is_served_without_tokens(services: Services, host: str) -> None:
    message = refused(services.site.detent("serve", "--no-auth", "--host", host), 2)

    assert "would let anybody who reaches it do anything" in message
    assert not services.site.path.exists()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.7"])
def test_on_loopback_nobody_need_be_asked(services: Services, host: str) -> None:
    with services.running("--no-auth", "--host", host) as service:
        status, who = service.ask("GET", "/v1/session")

    assert (status, who["name"], service.token) == (200, "anonymous", None)


def test_with_tokens_it_may_listen_to_others_and_warns_of_plain_text(services: Services) -> None:
    with Terminal(services.site, "serve", "--port", "0", "--host", "0.0.0.0", columns=100) as terminal:
        terminal.expect("serving")
        terminal.interrupt()
        shown = terminal.rest()

    assert "http://0.0.0.0:" in shown
    assert "put a proxy with TLS in front" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--host", "no.such.host.invalid"), 1, "cannot listen at port 0 at no.such.host.invalid"),
        (("--host", "192.0.2.1"), 1, "choose another --host"),
        (("--no-auth", "--host", "no.such.host.invalid"), 2, "is no address of this machine"),
        (("--tls-key", __file__), 2, "give both, or neither"),
        (("--tls-cert", __file__), 1, "no certificate and key can be read from"),
        (("--tls-cert", "/nowhere.pem"), 1, "/nowhere.pem: No such file or directory"),
        (("--port", "65536"), 2, "is not in the range"),
        (("--drain", "soon"), 2, "is no length of time"),
        (("--url", "postgresql://ann:secret@127.0.0.1:1/jobs?retry_s=0"), 1, "no server answers there"),
        (("--read-only",), 3, "there is no store"),
    ],
)
def test_what_stands_in_its_way_is_told_of(
    services: Services, arguments: tuple[str, ...], code: int, said: str
) -> None:
    given = arguments if "--port" in arguments else ("--port", "0", *arguments)
    result = services.refused(*given)

    assert result[0] == code, result[1]
    assert said in result[1]
    assert "secret" not in result[1]


def test_missing_packages_are_named(services: Services) -> None:
    program = "import sys; sys.modules['starlette'] = None; from detent.surfaces.cli import main; main(['serve'])"
    done = subprocess.run(
        [sys.executable, "-c", program], env=services.site.environment(), capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install 'detent[server]'" in done.stderr


# -- what can be set


def test_every_option_can_be_set_in_the_environment() -> None:
    options = [each for each in command_of(("serve",)).params if isinstance(each, click.Option)]
    named = {each.opts[0]: each.envvar for each in options if each.opts[0] not in ("--json", "--help")}

    assert named.pop("--nats") == "NATS_URL"  # as everybody else on a bus calls it
    assert named == {option: f"DETENT_{option[2:].upper().replace('-', '_')}" for option in named}


def test_flag_goes_before_the_environment(services: Services) -> None:
    with services.running("--host", "127.0.0.1", DETENT_HOST="0.0.0.0", DETENT_NO_AUTH="1") as service:
        assert service.url.startswith("http://127.0.0.1:")
        assert not service.shown["is_authenticating"]

    assert detent("serve", env={"DETENT_PORT": "none"}).exit_code == 2


def test_reader_service_changes_nothing(services: Services) -> None:
    with services.running() as service:
        job_id = service.enqueue("scan")
    with services.running("--read-only") as service:
        status, problem = service.ask("POST", "/v1/jobs", {"kind": "scan"})

        assert (status, problem["code"]) == (403, "read_only")
        assert service.state(job_id) == "queued"


def test_each_request_has_a_line_in_the_log_unless_it_is_to_be_quiet(services: Services) -> None:
    with services.running() as service:
        service.ask("GET", "/v1/session")
        _, told = service.stopped()
    with services.running("--quiet") as service:
        service.ask("GET", "/v1/session")
        _, quiet = service.stopped()

    assert "GET /v1/session -> 200" in told
    assert "session" not in quiet
    assert "stopped after" in quiet


def test_log_lines_can_be_json(services: Services) -> None:
    with services.running("--log-format", "json") as service:
        _, err = service.stopped()

    lines = [json.loads(line) for line in err.splitlines()]
    assert lines[-1]["message"].startswith("stopped after")


def test_tls_is_spoken_with_the_certificate_that_is_given(services: Services, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    with services.running("--tls-cert", str(cert), "--tls-key", str(key)) as service:
        answer = subprocess.run(
            ["curl", "-s", "--cacert", str(cert), f"{service.url}/healthz"], capture_output=True, text=True, check=True
        )

    assert service.url.startswith("https://127.0.0.1:")
    assert json.loads(answer.stdout) == {"status": "ok"}


def test_server_does_not_say_what_it_is(services: Services) -> None:
    with services.running() as service, service.raw("GET /healthz HTTP/1.1", "connection: close") as connection:
        head = received(connection).partition(b"\r\n\r\n")[0].lower()

    assert b"server:" not in head
    assert b"uvicorn" not in head


# -- how it ends


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_end_sends_waiting_claims_away_with_nothing_and_readers_with_their_place(
    services: Services, number: signal.Signals
) -> None:
    claim = json.dumps({"worker": "w1", "wait_s": 50})
    with services.running("--drain", "1h") as service:
        service.enqueue("scan", queue="other")
        waiting = service.raw("POST /v1/claims HTTP/1.1", f"content-length: {len(claim)}")
        reading = service.raw("GET /v1/events?cursor=0 HTTP/1.1", "accept: text/event-stream")
        with waiting, reading:
            waiting.sendall(claim.encode())
            seen = b""
            while b"job_queued" not in seen:
                seen += reading.recv(65_536)
                assert b"still here" not in seen  # then there is nothing more to come
            code, err = service.ended(number)
            claimed, rest = received(waiting), received(reading)

    assert (code, "Traceback" in err) == (0, False)
    assert claimed.startswith(b"HTTP/1.1 200")
    assert claimed.endswith(b'{"jobs":[]}')
    assert b"\nid: " in rest
    assert rest.endswith(b"0\r\n\r\n")  # the last chunk: nothing was cut off


def test_end_lets_a_request_finish_and_begins_no_other(services: Services) -> None:
    with services.running("--drain", "1h") as service, service.raw(*HELD) as held:
        until(service.is_ready)
        service.process.send_signal(signal.SIGTERM)
        until(lambda: not service.is_ready())
        held.sendall(BODY)
        answer = received(held)
        code, _ = service.ended()

    assert answer.startswith(b"HTTP/1.1 201")
    assert code == 0


@pytest.mark.parametrize(("drain", "signals"), [("100ms", 1), ("1h", 2)])
def test_request_that_does_not_finish_is_told_that_it_was_cut_off(services: Services, drain: str, signals: int) -> None:
    with services.running("--drain", drain) as service, service.raw(*HELD) as held:
        until(service.is_ready)
        service.process.send_signal(signal.SIGTERM)
        until(lambda: not service.is_ready())
        code, err = service.ended(*[signal.SIGINT] * (signals - 1))
        answer = received(held)

    assert answer.startswith(b"HTTP/1.1 503")
    assert b'"code":"closing"' in answer
    assert (code, "Traceback" in err) == (0, False)
