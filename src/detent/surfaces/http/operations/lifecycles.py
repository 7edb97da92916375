"""Lifecycles: the state machines that the store keeps."""

from typing import Any, Final

from msgspec import Struct, to_builtins

from detent.client.arguments import listed
from detent.errors import NotFound
from detent.lifecycle import Lifecycle
from detent.lifecycle.describe import describe
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.route import Route

REGISTERED_MAX: Final = 100


class LifecycleShape(Struct, frozen=True, kw_only=True):
    """A state machine: `states` and `moves` in short, `definition` in whole, as it is declared in TOML."""

    name: str
    version: int
    digest: str
    states: list[dict[str, Any]]
    moves: list[dict[str, Any]]
    definition: dict[str, Any]


class LifecyclesShape(Struct, frozen=True, kw_only=True):
    """All versions of each."""

    lifecycles: list[LifecycleShape]


class LifecyclesBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    lifecycles: list[Lifecycle]


class VersionQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`version`: the latest, if none is named."""

    version: int | None = None


async def lifecycles(ask: Ask) -> LifecyclesShape:
    """Every definition that is kept, all versions of each."""
    return LifecyclesShape(lifecycles=[_shape(each) for each in await ask.client.lifecycles()])


async def lifecycle(ask: Ask, name: str, query: VersionQuery) -> LifecycleShape:
    """One definition."""
    return _shape(await ask.client.lifecycle(name, query.version))


async def register_lifecycles(ask: Ask, body: LifecyclesBody) -> LifecyclesShape:
    """Keep definitions. The same version with other content is refused (`lifecycle_conflict`).

    All tenants share them, and a new version is what the next job of its name gets: so only a token for any tenant adds
    one. Any admin may bring those that are kept already.
    """
    given = listed("lifecycles", body.lifecycles, of="definitions", most=REGISTERED_MAX)
    if not given:
        raise NotFound("no lifecycle is given; give at least one")
    if not {_key(each) for each in given} <= {_key(each) for each in await ask.client.lifecycles()}:
        ask.grant.check_any_tenant()
    return LifecyclesShape(lifecycles=[_shape(each) for each in await ask.client.store.register(*given)])


def _key(lifecycle: Lifecycle) -> tuple[str, int, str]:
    return lifecycle.name, lifecycle.version, lifecycle.digest


def _shape(lifecycle: Lifecycle) -> LifecycleShape:
    told = describe(lifecycle)
    return LifecycleShape(
        name=lifecycle.name, version=lifecycle.version, digest=lifecycle.digest, states=list(told["states"]),
        moves=list(told["moves"]), definition=to_builtins(lifecycle),
    )  # fmt: skip


ROUTES: Final = (
    Route(
        method="GET", path="/v1/lifecycles", handler=lifecycles, scopes=("read", "submit", "work", "operate"),
        tag="lifecycles",
    ),
    Route(
        method="GET", path="/v1/lifecycles/{name}", handler=lifecycle, scopes=("read", "submit", "work", "operate"),
        tag="lifecycles",
    ),
    Route(
        method="POST", path="/v1/lifecycles", handler=register_lifecycles, scopes=("admin",), tag="lifecycles"
    ),
)  # fmt: skip
