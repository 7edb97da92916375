"""From what was asked to a service that is ready to run: the port is taken, and the store not yet opened."""

import ssl
from errno import EACCES, EADDRINUSE
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from detent.client import connect
from detent.client.connecting import address_of
from detent.errors import DetentError
from detent.surfaces.cli.failure import Failure, failure_of
from detent.surfaces.cli.serve.plan import Plan
from detent.surfaces.http.listening import Listener, listen

if TYPE_CHECKING:
    from detent.surfaces.http.attaching import Attachment
    from detent.surfaces.http.kinds import Kinds
    from detent.surfaces.http.service import Service
    from detent.surfaces.http.serving import Serving

EXTRA: Final = ("starlette", "uvicorn", "socketio", "wsproto", "jsonschema_rs")
BUS_EXTRA: Final = ("nats", "google.protobuf", "cryptography")


class Site(NamedTuple):
    service: "Service"
    serving: "Serving"
    address: str


def site_of(plan: Plan) -> Site:
    """What stands in the way is an error that says so: an address, a missing package, a busy port, a certificate."""
    plan.check()
    service = _service(plan)
    listener = _listener(plan)
    try:
        return Site(service, _serving(plan, service, listener), listener.url(is_tls=plan.tls_cert is not None))
    except BaseException:
        listener.close()
        raise


def _service(plan: Plan) -> "Service":
    if address_of(plan.url).startswith(("http://", "https://")):
        raise Failure("a service needs the store itself; give the address of one, such as sqlite:///detent.db")
    if not all(map(find_spec, EXTRA)):
        raise Failure("the service needs packages that are not installed; run: pip install 'detent[server]'")
    connecting = connect(plan.url, create=not plan.read_only, admission=_kinds(plan.kinds))
    from detent.surfaces.http.service import Service
    from detent.surfaces.http.settings import Settings

    usual = Settings()
    settings = Settings(
        is_authenticating=not plan.no_auth,
        is_read_only=plan.read_only,
        drain_s=plan.drain_s,
        reconcile_s=None if plan.no_reconcile else usual.reconcile_s,
        redact=plan.redact,
    )
    return Service(connecting, settings, _attached(plan))


def _kinds(path: str | None) -> "Kinds | None":
    if path is None:
        return None
    from detent.surfaces.http.kinds import Kinds

    try:
        return Kinds.read(Path(path))
    except DetentError as wrong:
        raise failure_of(wrong) from None


def _attached(plan: Plan) -> list["Attachment"]:
    """A service in which nothing can be changed has no use for engines."""
    if plan.read_only:
        return []
    from detent.surfaces.engine_socket.settings import EngineSettings
    from detent.surfaces.engine_socket.socket import EngineSocket

    engines = EngineSocket(EngineSettings(emits_legacy=plan.legacy_events))
    return [engines] if plan.nats is None else [engines, _bus(plan.nats, plan.bus)]


def _bus(url: str, path: str | None) -> "Attachment":
    if not all(map(_is_installed, BUS_EXTRA)):
        raise Failure("the bus needs packages that are not installed; run: pip install 'detent[nats]'")
    from detent.surfaces.bus.bus import Bus
    from detent.surfaces.bus.settings import BusSettings

    try:
        return Bus(url, None if path is None else BusSettings.read(Path(path)))
    except DetentError as wrong:
        raise failure_of(wrong) from None


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # not even what it is a part of
        return False


def _listener(plan: Plan) -> Listener:
    where = f"port {plan.port} at {plan.host}"
    try:
        return listen(plan.host, plan.port)
    except OSError as error:
        if error.errno == EADDRINUSE:
            other = "choose another with --port, or let one be chosen with --port 0"
            raise Failure(
                f"{where} is taken, maybe by a `detent serve` that is running; stop that, or {other}"
            ) from None
        if error.errno == EACCES:
            raise Failure(f"{where} is not for everybody; choose one above 1023 with --port") from None
        raise Failure(f"the service cannot listen at {where}: {error.strerror}; choose another --host") from None


def _serving(plan: Plan, service: "Service", listener: Listener) -> "Serving":
    from detent.surfaces.http.serving import Serving, Tls

    try:
        return Serving(service, listener, None if plan.tls_cert is None else Tls(plan.tls_cert, plan.tls_key))
    except (ssl.SSLError, OSError) as error:
        files = " and ".join(each for each in (plan.tls_cert, plan.tls_key) if each)
        raise Failure(f"no certificate and key can be read from {files}: {error.strerror or error}") from None
