"""Where the server is, and how connections to it are to be: what stands in the address, and what does not."""

from typing import Any, Final

from msgspec import Struct
from psycopg import conninfo

CONNECT_S: Final = 10
LOCK_MS: Final = 250  # for what somebody else has just locked; then others go first, and it is asked again
IDLE_MS: Final = 60_000  # a transaction of ours that lies open for so long has lost its program
# Statements here lead from a few rows to others by an index, whatever the statistics say. A plan that was made while
# the tables were empty, or just loaded, must not turn into a walk over all of them.
_PLANS: Final = {
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_material": "off",
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
}


_LIMITS: Final = {"lock_timeout": str(LOCK_MS), "idle_in_transaction_session_timeout": str(IDLE_MS)}


class Address(Struct, frozen=True, kw_only=True):
    """`prepare=False` also asks for nothing that has to last beyond a transaction: for poolers such as pgbouncer."""

    url: str
    connections: int = 3
    prepare: bool = True
    busy_s: float = 10.0
    retry_s: float = 30.0
    create: bool = True

    @property
    def shown(self) -> str:
        """Without the password: errors end up in logs."""
        parts = conninfo.conninfo_to_dict(self.url)
        host, port = parts.get("host") or "localhost", parts.get("port") or 5432
        user = f"{parts['user']}@" if parts.get("user") else ""
        return f"postgresql://{user}{host}:{port}/{parts.get('dbname') or ''}"

    @property
    def begin(self) -> str:
        """How a transaction begins. Behind a pooler a connection has no settings of ours: each brings its own."""
        return "begin" if self.prepare else "; ".join(["begin", *_settings_of_one()])

    def keywords(self, *, is_writing: bool) -> dict[str, Any]:
        """What psycopg is given for a connection of the store's."""
        given = self.plain()
        if self.prepare:
            given["options"] = " ".join([str(given.get("options") or ""), *_options(is_writing=is_writing)]).strip()
        return given

    def plain(self) -> dict[str, Any]:
        """What stands in the address. A half-open connection is noticed within seconds, not hours."""
        kept = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
        own: dict[str, Any] = {"connect_timeout": CONNECT_S, "application_name": "detent", **kept}
        return {**own, **conninfo.conninfo_to_dict(self.url)}


def _options(*, is_writing: bool) -> list[str]:
    settings = _LIMITS | _PLANS if is_writing else _LIMITS | {"jit": "off"}
    return [f"-c {name}={value}" for name, value in settings.items()]


def _settings_of_one() -> list[str]:
    return [f"set local {name} = {value}" for name, value in (_LIMITS | _PLANS).items()]
