"""Settings for every test. What a developer's own environment says must not matter."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from tests.alone import pytest_configure_node, pytest_runtest_protocol, pytest_unconfigure
from tests.chance import IS_EXPLORING, examples
from tests.figures import pytest_terminal_summary, show
from tests.postgres import programs
from tests.postgres.fixtures import pg_emptied, pg_server, pg_server_on_disk, pg_shared, pg_url

__all__ = [
    "pg_emptied", "pg_server", "pg_server_on_disk", "pg_shared", "pg_url", "pytest_configure_node",
    "pytest_runtest_protocol", "pytest_terminal_summary", "pytest_unconfigure", "show",
]  # fmt: skip

# A shell lets what it runs in the background ignore Ctrl-C, and so would all that the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "detent",
    derandomize=not IS_EXPLORING,
    print_blob=IS_EXPLORING,  # what brings a failure back
    deadline=None,  # a busy machine is no bug
    max_examples=examples(150),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("detent")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DETENT_URL", "DETENT_TENANT", "DETENT_ACTOR", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        monkeypatch.delenv(name, raising=False)
    # The processes that tests start would compile all of Detent anew, each of them.
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)


def pytest_report_header() -> str:
    return f"postgresql: {programs.described()}"
