"""Between a client and a service: what is asked again, what nobody knows, and what is told of it."""

import asyncio
import os
import socket
import threading
from collections.abc import Coroutine
from typing import Any, Final

import pytest

from detent.client.sync import run
from detent.errors import DetentError, Forbidden, InvalidArgument, StoreError, Unauthorized
from detent.kernel import parse
from detent.store import Request
from detent.store.http import Address, HttpStore
from tests.store.http.scripted import SESSION, Answer, Script, Scripted, answer, json, problem, scripted

TOKEN: Final = "dt_0123456789abcdef_" + "s" * 43
DENIED: Final = json('{"answers":[{"problem":{"type":"x","title":"x","status":404,"detail":"no","code":"not_found"}}]}')
RETRY: Final = "retry-after: 0"


def store_at(url: str, **more: Any) -> HttpStore:
    return HttpStore(Address(url=url, token=TOKEN, **{"retry_s": 5.0, "timeout_s": 5.0, **more}))


def then(*answers: Answer) -> Script:
    """The session first, and these to whatever is asked then; the last one stays."""
    return lambda number, _: SESSION if number == 1 else answers[min(number - 2, len(answers) - 1)]


def opened(url: str, **more: Any) -> HttpStore:
    store = store_at(url, **more)
    run(store.open())
    return store


def refused(call: Coroutine[Any, Any, Any]) -> DetentError:
    with pytest.raises(DetentError) as caught:
        run(call)
    assert TOKEN not in str(caught.value)
    return caught.value


def cancel(**more: Any) -> list[Request]:
    return [Request("acme", "j", parse("cancel", more))]


def test_service_that_is_not_there_is_told_of_by_its_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    error = refused(store_at(url, retry_s=0.1).open())

    assert isinstance(error, StoreError)
    assert error.code == "store_unavailable"
    assert url in str(error)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (answer("<h1>It works!</h1>", "200 OK", "content-type: text/html"), "200 and text/html"),
        (answer("moved", "301 Moved", "location: http://elsewhere/", "content-type: text/plain"), "301"),
        (answer("no", "502 Bad Gateway", "content-type: text/html"), "502"),
        (json('{"hello":"world"}'), "cannot be read"),
        (json("nonsense"), "cannot be read"),
    ],
)
def test_what_is_no_service_of_ours_is_told_of_with_what_it_answered(said: bytes, told: str) -> None:
    with scripted(lambda number, line: said) as server:
        error = refused(store_at(server.url, retry_s=0.05).open())

    assert isinstance(error, StoreError)
    assert server.url in str(error)
    assert told in str(error)


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [("token_unknown", "401 No", Unauthorized), ("tenant_denied", "403 No", Forbidden)],
)
def test_token_that_does_not_hold_is_told_of_when_the_store_is_opened(
    code: str, status: str, kind: type[DetentError]
) -> None:
    with scripted(lambda number, line: problem(code, status)) as server:
        error = refused(store_at(server.url).open())

    assert isinstance(error, kind)
    assert error.code == code
    assert len(server.asked) == 1


def test_no_redirect_is_followed() -> None:
    with scripted(lambda number, line: answer("", "307 There", "location: /elsewhere")) as server:
        refused(store_at(server.url, retry_s=0.05).open())

    assert server.asked == [b"GET /v1/session HTTP/1.1"]


def test_lost_read_is_asked_again() -> None:
    with scripted(then(None, None, json('{"cursor":"7"}'))) as server:
        store = opened(server.url)

        assert run(store.wait(None, 0)) == "7"
        run(store.close())


def test_of_a_lost_move_nobody_knows_and_it_is_not_asked_again() -> None:
    with scripted(then(None)) as server:
        store = opened(server.url)
        error = refused(store.apply(cancel()))
        run(store.close())

    assert error.code == "outcome_unknown"
    assert len(server.asked) == 2


def test_lost_move_that_has_a_request_id_is_asked_again() -> None:
    with scripted(then(None, DENIED)) as server:
        store = opened(server.url)
        run(store.apply(cancel(request_id="r")))
        run(store.close())

    assert len(server.asked) == 3


@pytest.mark.parametrize("said", [json('{"answers":[]}'), json("{}"), answer("?", "200 OK", "content-type: text/html")])
def test_answer_to_a_move_that_cannot_be_read_leaves_open_what_became_of_it(said: bytes) -> None:
    with scripted(then(said)) as server:
        store = opened(server.url)
        error = refused(store.apply(cancel()))
        run(store.close())

    assert (type(error), error.code) == (StoreError, "outcome_unknown")


@pytest.mark.parametrize("status", ["503 Busy", "429 Slowly"])
def test_what_a_service_puts_off_is_asked_again_even_if_it_is_a_move(status: str) -> None:
    busy = problem("too_many_requests", status, RETRY)
    with scripted(then(busy, busy, DENIED)) as server:
        store = opened(server.url)
        run(store.apply(cancel()))
        run(store.close())

    assert len(server.asked) == 4


def test_move_is_not_repeated_because_something_before_the_service_says_later() -> None:
    with scripted(then(answer("later", "503 Busy", "content-type: text/html", RETRY), DENIED)) as server:
        store = opened(server.url)
        error = refused(store.apply(cancel()))
        run(store.close())

    assert (error.code, len(server.asked)) == ("outcome_unknown", 2)


@pytest.mark.parametrize(("request_id", "asked"), [(None, 2), ("r", 3)])
def test_move_that_a_service_was_stopped_in_is_repeated_only_with_a_request_id(
    request_id: str | None, asked: int
) -> None:
    with scripted(then(problem("outcome_unknown", "503 No"), DENIED)) as server:
        store = opened(server.url)
        if request_id is None:
            assert refused(store.apply(cancel())).code == "outcome_unknown"
        else:
            run(store.apply(cancel(request_id=request_id)))
        run(store.close())

    assert len(server.asked) == asked


def test_service_that_stays_busy_is_given_up_as_a_store_in_trouble() -> None:
    with scripted(then(problem("closing", "503 Busy", RETRY))) as server:
        store = opened(server.url, retry_s=0.3)
        error = refused(store.apply(cancel()))
        run(store.close())

    assert isinstance(error, StoreError)
    assert error.code == "store_unavailable"


def test_older_service_is_told_of_with_both_versions() -> None:
    with scripted(then(problem("no_such_path", "404 No"))) as server:
        store = opened(server.url)
        error = refused(store.key_use("acme", "k"))
        run(store.close())

    assert isinstance(error, StoreError)
    assert "9.9" in str(error)
    assert server.url in str(error)


def test_tenant_is_named_only_where_it_is_another_than_the_tokens() -> None:
    with scripted(then(json('{"queues":[]}'))) as server:
        store = opened(server.url)
        run(store.queues("acme"))
        run(store.queues("other"))
        run(store.close())

    assert [b"detent-tenant" in each.lower() for each in server.sent] == [False, False, True]


def test_whatever_a_name_holds_it_is_one_part_of_the_path() -> None:
    with scripted(then(answer("", "204 No Content"))) as server:
        store = opened(server.url)
        for name in ("a/b", "..", "é ?"):
            run(store.resume_queue("acme", name))
        run(store.close())

    paths = [line.split()[1] for line in server.asked[1:]]
    assert paths == [b"/v1/queues/a%2Fb/resume", b"/v1/queues/%2E%2E/resume", b"/v1/queues/%C3%A9%20%3F/resume"]


def test_who_waits_is_cut_off_when_the_store_is_closed() -> None:
    held = threading.Event()

    def script(number: int, line: bytes) -> Answer:
        if number > 1:
            held.wait(10)
        return SESSION if number == 1 else None

    with scripted(script) as server:
        store = opened(server.url)
        caught: list[DetentError] = []
        thread = threading.Thread(target=lambda: caught.append(refused(store.news(None, 60))))
        thread.start()
        while len(server.asked) < 2:
            thread.join(0.01)
        run(store.close())
        thread.join(5)
        held.set()

    assert [each.code for each in caught] == ["not_connected"]


def test_closing_ends_those_who_wait_for_a_connection() -> None:
    held = threading.Event()

    def script(number: int, line: bytes) -> Answer:
        if number > 1:
            held.wait(10)
        return SESSION if number == 1 else json('{"queues":[]}')

    with scripted(script) as server:
        store = opened(server.url, connections=1)
        caught: list[DetentError] = []
        first = threading.Thread(target=lambda: run(store.queues("acme")), daemon=True)
        second = threading.Thread(target=lambda: caught.append(refused(store.queues("acme"))), daemon=True)
        first.start()
        while len(server.asked) < 2:
            first.join(0.01)
        second.start()
        second.join(0.1)
        run(store.close())
        second.join(5)
        held.set()
        first.join(5)

    assert [each.code for each in caught] == ["not_connected"]


def test_call_that_is_cancelled_ends_on_its_thread_too() -> None:
    held = threading.Event()

    def script(number: int, line: bytes) -> Answer:
        if number > 1:
            held.wait(10)
        return SESSION if number == 1 else None

    async def scene(server: Scripted) -> None:
        store = store_at(server.url, timeout_s=60.0)
        await store.open()
        asking = asyncio.create_task(store.queues("acme"))
        while len(server.asked) < 2:
            await asyncio.sleep(0.01)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await store.close()

    with scripted(script) as server:
        asyncio.run(scene(server))
        threads = [each for each in threading.enumerate() if each.name.startswith("detent-http")]
        for each in threads:
            each.join(5)
        held.set()

    assert not any(each.is_alive() for each in threads)


def test_those_who_wait_keep_nobody_from_asking() -> None:
    held = threading.Event()

    def script(number: int, line: bytes) -> Answer:
        if b"/v1/news" in line:
            held.wait(10)
            return None
        return SESSION if number == 1 else json('{"queues":[]}')

    async def scene(url: str) -> list[Any]:
        store = store_at(url, connections=1)
        await store.open()
        waiting = [asyncio.create_task(store.news(None, 60)) for _ in range(5)]
        await asyncio.sleep(0.05)
        found = await asyncio.wait_for(store.queues("acme"), 5)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        await store.close()
        return found

    with scripted(script) as server:
        assert asyncio.run(scene(server.url)) == []
        held.set()


def test_store_that_is_not_open_is_no_store_to_ask() -> None:
    store = store_at("http://127.0.0.1:1")

    assert refused(store.queues("acme")).code == "not_connected"


def test_store_opened_before_a_fork_is_refused_after_it() -> None:
    with scripted(then(json('{"queues":[]}'))) as server:
        store = opened(server.url)
        pid = os.fork()
        if pid == 0:
            os._exit(0 if refused(store.queues("acme")).code == "forked" else 1)
        _, status = os.waitpid(pid, 0)
        run(store.close())

    assert status == 0


def test_transactions_and_migrations_are_the_services_own() -> None:
    store = store_at("http://127.0.0.1:1")

    assert refused(store.apply([], tx=object())).code == "bad_transaction"
    assert "detent migrate" in str(refused(store.migrations()))


@pytest.mark.parametrize("token", ["", "a b", "a\r\nx: y", "é", "x" * 513])
def test_what_cannot_stand_in_a_header_is_no_token_and_is_not_shown(token: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Address(url="http://host", token=token)

    assert not token or token not in str(caught.value)


def test_token_is_in_no_repr() -> None:
    address = Address(url="http://host", token=TOKEN)

    assert TOKEN not in repr(address) + repr(HttpStore(address))
