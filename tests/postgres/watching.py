"""A database as its server sees it: who is connected, and who waits for whom."""

from typing import Final

from tests.postgres.server import Server, database_of
from tests.postgres.waiting import until

_CONNECTED: Final = """
select count(*) from pg_stat_activity where datname = %s and application_name = 'detent'
"""


def connections(server: Server, url: str) -> int:
    """How many connections Detent has to a database."""
    ((count,),) = server.psql(_CONNECTED, given=(database_of(url),))
    return int(count)


def come_to(server: Server, url: str, count: int) -> bool:
    """Are there so many in the end? A server takes a moment to see that one was closed."""
    return until(lambda: connections(server, url) == count)
