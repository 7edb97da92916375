"""Django's part in the tests: one database in its settings, and `atomic()` taken apart into how it begins and ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.db import connections, transaction


class Undone(Exception):
    """What a block of `atomic()` is left with, so that it rolls back."""


class Block:
    """One `atomic()`, left once: with or without an exception."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self._atomic = transaction.atomic()
        self._atomic.__enter__()
        self.is_open = True

    def say(self, sql: str) -> list[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return [] if cursor.description is None else cursor.fetchall()

    def commit(self) -> None:
        self.is_open = False
        self._atomic.__exit__(None, None, None)

    def rollback(self) -> None:
        self.is_open = False
        self._atomic.__exit__(Undone, Undone(), None)


@contextmanager
def atomic(url: str) -> Iterator[Block]:
    connection = connected(url)
    block = Block(connection)
    try:
        yield block
    finally:
        if block.is_open:
            block.rollback()
        connection.close()


def connected(url: str) -> Any:
    """Django's connection, now to this database."""
    parts = urlsplit(url)
    here = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.removeprefix("/"),
        "USER": parts.username,
        "HOST": parts.hostname,
        "PORT": parts.port,
    }
    if not settings.configured:
        settings.configure(DATABASES={"default": here})
        django.setup()
    connection = connections["default"]
    connection.settings_dict.update(here)
    return connection
