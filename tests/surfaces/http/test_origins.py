"""Where nobody is asked who they are, a web page of another site gets nothing, and nor does a name of its making."""

from collections.abc import Iterator

import pytest

from tests.surfaces.http.asking import Asking, askings
from tests.surfaces.http.serving import Served, served


@pytest.fixture(scope="module")
def open_to_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("open")
    with served(folder, is_authenticating=False, hosts=("jobs.example",), reconcile_s=None) as service:
        yield service


def with_port(service: Served, host: str) -> str:
    return host.replace("PORT", str(service.port))


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:PORT", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1", "0.0.0.0",
     "[::2]:PORT", "", "@localhost@evil", "[::1", "localhost evil"],
)  # fmt: skip
def test_name_that_is_not_loopbacks_is_refused(open_to_all: Served, host: str) -> None:
    answer = open_to_all.ask("GET", "/v1/jobs", token=None, headers={"host": with_port(open_to_all, host)})

    assert (answer.status, answer.code) == (403, "foreign_origin")


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:PORT", "LOCALHOST:1", "127.0.0.1:PORT", "127.8.9.1", "[::1]:PORT", "jobs.example"]
)
def test_names_of_loopback_and_those_that_were_set_are_good(open_to_all: Served, host: str) -> None:
    answer = open_to_all.ask("GET", "/v1/jobs", token=None, headers={"host": with_port(open_to_all, host)})

    assert answer.status == 200


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "", "file://", "x"]
)
def test_page_of_another_site_is_refused(open_to_all: Served, origin: str) -> None:
    answer = open_to_all.ask("POST", "/v1/jobs", {"kind": "k"}, token=None, headers={"origin": origin})

    assert (answer.status, answer.code) == (403, "foreign_origin")


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_page_that_sends_no_origin_is_known_by_its_site(open_to_all: Served, site: str) -> None:
    answer = open_to_all.ask("GET", "/v1/jobs", token=None, headers={"sec-fetch-site": site})

    assert (answer.status, answer.code) == (403, "foreign_origin")


@pytest.mark.parametrize("origin", ["http://localhost:3000", "http://127.0.0.1", "https://jobs.example"])
def test_page_of_this_machine_may_ask(open_to_all: Served, origin: str) -> None:
    answer = open_to_all.ask("POST", "/v1/jobs", {"kind": "k"}, token=None, headers={"origin": origin})

    assert answer.status == 201


@pytest.mark.parametrize("asking", askings(), ids=str)
def test_no_route_answers_a_page_of_another_site(open_to_all: Served, asking: Asking) -> None:
    headers = asking.headers | {"origin": "https://evil.example"}
    answer = open_to_all.ask(asking.method, asking.path(), asking.body, token=None, headers=headers)

    assert (answer.status, answer.code) == (403, "foreign_origin")


def test_form_that_needs_no_leave_of_the_browser_is_no_json(open_to_all: Served) -> None:
    for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = open_to_all.ask("POST", "/v1/jobs", {"kind": "k"}, token=None, headers={"content-type": media})

        assert answer.code == "unsupported_media"


def test_browser_that_asks_for_leave_gets_none(open_to_all: Served) -> None:
    asked = {"origin": "http://localhost", "access-control-request-method": "POST"}
    answer = open_to_all.ask("OPTIONS", "/v1/jobs", token=None, headers=asked)

    assert answer.status == 405
    assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_with_tokens_any_name_and_any_page_will_do(service: Served) -> None:
    """A browser sends no token of itself, and so a page can do nothing that its holder did not mean."""
    headers = {"host": "jobs.example", "origin": "https://other.example"}

    assert service.ask("GET", "/v1/jobs", headers=headers).status == 200
    assert service.ask("GET", "/v1/jobs", headers=headers, token=None).status == 401
