"""When an app opens its store, how often, and what becomes of it: threads, event loops, forks, ends."""

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from detent import App, DetentError, LifecycleError, connect
from detent.lifecycle import Lifecycle
from detent.lifecycles.standard import STANDARD
from tests.postgres.test_forked import in_a_child

TOGETHER = 20


def declare(app: App, **options: Any) -> Any:
    @app.job(**options)
    def scan(path: str) -> None: ...

    return scan


def own(name: str, **changed: Any) -> Lifecycle:
    """A lifecycle of one's own, which is the standard one under another name."""
    fields = {field: getattr(STANDARD, field) for field in STANDARD.__struct_fields__}
    return Lifecycle(**{**fields, "name": name, **changed})


def test_nothing_is_opened_or_made_before_it_is_needed(tmp_path: Path) -> None:
    app = App(f"sqlite:///{tmp_path}/jobs.db")
    scan = declare(app)
    app.handlers()
    scan.call("a")
    app.close()

    assert list(tmp_path.iterdir()) == []
    with app:
        assert (tmp_path / "jobs.db").exists()


def test_address_is_that_of_the_environment_when_it_is_first_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = App()
    scan = declare(app)

    monkeypatch.setenv("DETENT_URL", f"sqlite:///{tmp_path}/named.db")
    with app:
        scan.enqueue("a")

    assert (tmp_path / "named.db").exists()


def test_without_an_address_the_store_is_a_file_beside_you(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with App() as app:
        declare(app).enqueue("a")

    assert (tmp_path / "detent.db").exists()


def test_closed_app_opens_again_when_it_is_used_again(url: str) -> None:
    app = App(url)
    scan = declare(app)
    first = scan.enqueue("a")
    app.close()
    app.close()

    second = scan.enqueue("b")

    assert (first.state, second.state) == ("queued", "queued")
    app.close()


def test_tasks_that_come_together_open_it_once(url: str) -> None:
    app = App(url)
    scan = declare(app)

    async def together() -> int:
        async with app:
            await app.aclose()
            handles = await asyncio.gather(*(scan.aenqueue(str(n)) for n in range(TOGETHER)))
            clients = await asyncio.gather(*(app.aclient() for _ in range(TOGETHER)))
            assert len(set(map(id, clients))) == 1
            return len(handles)

    assert asyncio.run(together()) == TOGETHER
    with connect(url) as client:
        assert client.count() == {(): TOGETHER}


def test_threads_that_come_together_open_it_once(url: str) -> None:
    app = App(url)
    scan = declare(app)
    made: list[Any] = []
    threads = [threading.Thread(target=lambda: made.append(scan.enqueue("a"))) for _ in range(TOGETHER)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({handle.id for handle in made}) == TOGETHER
    app.close()


def test_loops_one_after_another_and_plain_code_share_an_app(app: App) -> None:
    scan = declare(app)

    states = [asyncio.run(_made(scan)), scan.enqueue("b").state, asyncio.run(_made(scan))]

    assert states == ["queued"] * 3


async def _made(scan: Any) -> str:
    state: str = await (await scan.aenqueue("a")).astate()
    return state


def test_client_of_its_own_reads_the_same_store(app: App) -> None:
    handle = declare(app).enqueue("a")

    with app.connect() as client:
        assert client.get(handle.id).kind == "scan"


def test_lifecycle_that_is_declared_after_the_store_was_opened_is_registered(app: App) -> None:
    declare(app, kind="first").enqueue("a")

    handle = declare(app, lifecycle=own("later")).enqueue("a")

    assert handle.job().lifecycle == "later"


def test_lifecycle_that_the_store_knows_otherwise_is_refused_and_others_go_on(url: str) -> None:
    with App(url, lifecycles=[own("mine")]):
        pass
    app = App(url)
    plain = declare(app, kind="plain")
    other = App(url)
    wrong = declare(other, lifecycle=own("mine", implies_start=True))

    with pytest.raises(LifecycleError, match="version 1 with other content"):
        wrong.enqueue("a")

    assert plain.enqueue("a").state == "queued"
    app.close()
    other.close()


def test_app_that_was_used_before_a_fork(url: str, store_kind: str) -> None:
    """A server is connected to anew; a SQLite file cannot be, and whoever tries is told."""
    with App(url) as app:
        scan = declare(app)
        scan.enqueue("parent")

        def child() -> None:
            try:
                scan.enqueue("child")
            except DetentError as told:
                os._exit(7 if told.code == "forked" else 8)

        assert in_a_child(child) == (7 if store_kind == "sqlite" else 0)

        scan.enqueue("parent again")
        assert app.client().count() == {(): 2 if store_kind == "sqlite" else 3}


def test_app_that_was_not_used_before_a_fork_works_on_both_sides(url: str) -> None:
    app = App(url)
    scan = declare(app)

    assert in_a_child(lambda: scan.enqueue("child")) == 0

    scan.enqueue("parent")
    assert app.client().count() == {(): 2}
    app.close()
