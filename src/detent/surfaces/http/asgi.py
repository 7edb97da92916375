"""The ASGI app: from the table of routes to something that any server can serve, under any prefix."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Final
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from detent.client.arguments import check_text_name
from detent.errors import DetentError, InvalidArgument, ServiceError, StoreError
from detent.lifecycle.bounds import NAME_CHARS_MAX
from detent.store.clock import new_id
from detent.surfaces.http.answering import SECURITY_HEADERS, answer, refusal, without_places
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.grants import Grant
from detent.surfaces.http.origins import check_local
from detent.surfaces.http.reading import body_of, decoded, query_of
from detent.surfaces.http.route import Route
from detent.surfaces.http.routes import ROUTES
from detent.surfaces.http.service import Service
from detent.surfaces.http.telling import ABOUT, about_trace, tell_fault, tell_request, tell_trouble_of
from detent.telemetry import tracing

_HEADERS: Final = tuple((name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items())
_HTTPS_ONLY: Final = (b"strict-transport-security", b"max-age=31536000")
_NOTHING_SAID: Final = 500  # what a server says for an app that has said nothing
_CUT_OFF: Final = 503

Handler = Callable[[Request, Exception], Awaitable[Response]]


def app_of(service: Service) -> ASGIApp:
    """Its lifespan opens and closes the service. A mounted app has none: whoever mounts it does both."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await service.open()
        try:
            yield
        finally:
            await service.close()

    paths = [Path(route.path, _endpoint(service, route), methods=[route.method]) for route in ROUTES]
    handlers = {404: _bounded(service, _lost), 405: _bounded(service, _wrong_method), Exception: _broken}
    starlette = Starlette(routes=paths, lifespan=lifespan, exception_handlers=handlers)
    starlette.router.redirect_slashes = False
    return Front(starlette, {each.mounted_at: each for each in service.attached if each.mounted_at is not None})


class Front:
    """Around all of it: paths as they were sent, headers that every answer has, and a line in the log for each.

    `attached` are apps beside the routes, by the path under which they are.
    """

    def __init__(self, app: ASGIApp, attached: Mapping[str, ASGIApp]) -> None:
        self._routes = app
        self._attached = attached

    def _app(self, scope: Scope) -> ASGIApp:
        if scope["type"] == "lifespan":
            return self._routes
        own = scope["path"].removeprefix(scope.get("root_path", ""))
        return next((app for path, app in self._attached.items() if f"{own}/".startswith(f"{path}/")), self._routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope)(scope, receive, send)
            return
        scope = {**scope, "path": _sent_path(scope), ABOUT: about_trace(scope)}
        sending, begun_s = Sending(send, is_secure=scope.get("scheme") == "https"), perf_counter()
        try:
            await self._app(scope)(scope, receive, sending)
        except asyncio.CancelledError:
            sending.status = sending.status or _CUT_OFF  # whoever cut it off answers
            raise
        except Exception as error:
            # Answered by `_broken`, if nothing had been said yet; a server would put its message into the log.
            tell_fault(scope, error, new_id())
        finally:
            tell_request(scope, sending.status or _NOTHING_SAID, perf_counter() - begun_s)


class Sending:
    """Adds what every answer has, and remembers its status."""

    def __init__(self, send: Send, *, is_secure: bool) -> None:
        self._send = send
        self._headers = (*_HEADERS, _HTTPS_ONLY) if is_secure else _HEADERS
        self.status: int | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            known = {name for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *[each for each in self._headers if each[0] not in known]]
        await self._send(message)


def _sent_path(scope: Scope) -> str:
    """A slash that belongs to a name is sent as %2F, and is none that divides a path."""
    raw: bytes | None = scope.get("raw_path")
    return raw.partition(b"?")[0].decode("latin-1") if raw else quote(scope["path"])


def _endpoint(service: Service, route: Route) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        if not tracing.is_loaded():
            return await answered(request)
        from detent.telemetry import otel

        with otel.serving(f"{route.method} {route.path}", _attributes(route, request), request.headers) as span:
            response = await answered(request)
            span.set_attribute("http.response.status_code", response.status_code)
            if response.status_code >= 500:
                otel.fail(span, "ServiceError", "the service could not answer")
            return response

    async def answered(request: Request) -> Response:
        try:
            return await _answered(service, route, request)
        except StoreError as error:
            tell_trouble_of(request.scope, error)
            return refusal(without_places(error))
        except DetentError as error:
            return refusal(error)
        except Exception as error:
            ref = new_id()
            tell_fault(request.scope, error, ref)
            return refusal(ServiceError("internal_error", f"the service made a mistake; its log has it as {ref}"))

    return endpoint


def _attributes(route: Route, request: Request) -> dict[str, str]:
    """The path as it is declared: with ids in it every request would be a kind of its own."""
    return {"http.request.method": route.method, "http.route": route.path, "url.scheme": request.url.scheme}


async def _answered(service: Service, route: Route, request: Request) -> Response:
    grant = await _let_in(service, route, request)
    request.scope[ABOUT]["asker"] = grant.name
    if service.is_closing and not route.is_vital:
        raise ServiceError("closing", "the service is shutting down; ask again, it or another one")
    _check_heeded(route, request)
    given = {name: _unquoted(request.path_params[name]) for name in route.parameters}
    request.scope[ABOUT]["job_id"] = given.get("job_id", "")[:NAME_CHARS_MAX] or None
    if "query" in route.hints:
        given["query"] = query_of(request, route.query)
    else:
        query_of(request, None)
    with service.load.carried(grant.tenant) as add:
        if route.body is not None:
            given["body"] = decoded(await body_of(request, service.settings, add), route.body, request)
        ask = Ask(service, request, grant, service.client_of(grant.tenant), route.status)
        if route.preconditions and "job_id" in given:
            await _compare(ask, given["job_id"])
        return answer(ask, await route.handler(ask, **given, **route.fixed))


async def _compare(ask: Ask, job_id: str) -> None:
    """Read only for who says which job was meant; a bare revision is compared where the move is decided."""
    match = ask.match
    if match is not None and match.born is not None:
        (job,) = await ask.client.store.get(ask.grant.tenant, [check_text_name("job_id", job_id)])
        ask.compare(job)


def _check_heeded(route: Route, request: Request) -> None:
    """Whoever sends one of these relies on it: a batch that is repeated under a key would be carried out twice."""
    for name, is_heeded in (("Idempotency-Key", route.idempotent), ("If-Match", route.preconditions)):
        if route.changes and not is_heeded and name in request.headers:
            raise InvalidArgument(f"{name} is not heeded here; leave it out, or give each request its own")


async def _let_in(service: Service, route: Route, request: Request) -> Grant:
    if not service.settings.is_authenticating:
        check_local(request.headers, service.settings.hosts)
    if not route.is_vital and not (route.scopes and service.settings.is_authenticating):
        service.strangers.take(request)
    if not route.scopes:
        return Grant("anybody", "default", frozenset())
    grant = await service.door.let_in(request)
    grant.check(*route.scopes)
    if route.changes and service.settings.is_read_only:
        raise ServiceError("read_only", "this service only lets you look; ask another one to change something")
    return grant


def _unquoted(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise ServiceError("no_such_path", "the path holds bytes that are no text") from None


def _bounded(service: Service, handler: Handler) -> Handler:
    """Nobody was asked for a token yet."""

    async def handle(request: Request, error: Exception) -> Response:
        try:
            service.strangers.take(request)
        except ServiceError as refused:
            return refusal(refused)
        return await handler(request, error)

    return handle


async def _broken(request: Request, error: Exception) -> Response:
    return refusal(ServiceError("internal_error"))


async def _lost(request: Request, error: Exception) -> Response:
    return refusal(ServiceError("no_such_path"))


async def _wrong_method(request: Request, error: Exception) -> Response:
    response = refusal(ServiceError("method_not_allowed"))
    allowed = getattr(error, "headers", None) or {}
    response.headers.update(allowed)
    return response
