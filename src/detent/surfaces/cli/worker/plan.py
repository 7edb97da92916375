"""What a worker is asked to do on the command line, and the worker that this makes of an app."""

import os
import socket
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from detent.app import App
from detent.runtime import Observer, Settings, Worker
from detent.store.clock import new_id
from detent.surfaces.cli.failure import Misused, guess
from detent.surfaces.cli.worker.finding import found_app
from detent.surfaces.telemetry.children import prepare
from detent.surfaces.telemetry.logs import LogFormat, LogSettings

SERVICE: Final = "detent-worker"  # what its spans are from, unless OTEL_SERVICE_NAME says otherwise


class Plan(Struct, frozen=True, kw_only=True):
    """It goes to other processes as JSON. None: as the app, or `Settings`, has it."""

    target: str
    name: str
    url: str | None = None
    tenant: str | None = None
    queues: tuple[str, ...] = ()
    concurrency: int | None = None
    threads: int | None = None
    children: int | None = None
    grace_s: float | None = None
    is_watched: bool = False  # somebody is at a terminal
    log_format: LogFormat = "text"

    def logs(self, *, is_one_of_several: bool) -> LogSettings:
        return LogSettings(
            format=self.log_format, worker=self.name, is_watched=self.is_watched, is_one_of_several=is_one_of_several
        )

    def settings(self, app: App) -> Settings:
        served = app.registrations(self.queues or None)
        queues = tuple(self.queues) or tuple(dict.fromkeys(each.queue for each in served))
        adapters = tuple(dict.fromkeys(adapter for each in served for adapter in each.adapters))
        default = Settings()
        return replace(
            default,
            queues=queues,
            adapters=adapters or None,
            concurrency=self.concurrency or default.concurrency,
            threads=self.threads or default.threads,
            children=self.children or default.children,
            grace_s=default.grace_s if self.grace_s is None else self.grace_s,
        )


def made_up_name() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{new_id()[-4:]}"


def app_of(plan: Plan) -> App:
    """The app, at the store that was asked for. What it cannot do is told before anything is opened."""
    app = found_app(plan.target)
    check_queues(app, plan.queues)
    if plan.url is not None or plan.tenant is not None:
        app.move(url=plan.url, tenant=plan.tenant)
    return app


def check_queues(app: App, asked: tuple[str, ...]) -> None:
    known = dict.fromkeys(each.queue for each in app.registrations())
    for queue in asked:
        if queue not in known:
            message = f"no job of this app is declared for queue '{queue}'.{guess(queue, known)}"
            raise Misused(f"{message} There are: {', '.join(known)}")


def worker_of(plan: Plan, app: App, observer: Observer, logs: LogSettings | None = None) -> Worker:
    """`logs`: how its child processes are to log; None if the program sees to that itself."""
    is_moved = plan.url is not None or plan.tenant is not None
    return Worker(
        app.worker_connector(),
        app.handlers(plan.queues or None),
        settings=plan.settings(app),
        name=plan.name,
        observer=observer,
        resolver=app.resolver,
        policy=app.policy,
        cron=app.cron(),
        prepare=partial(prepare, logs, SERVICE, partial(app_of, plan) if is_moved else None),
    )
