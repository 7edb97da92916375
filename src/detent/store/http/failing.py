"""What went wrong between here and the service, in the words of a store's errors. A token is in none of them."""

from ssl import SSLCertVerificationError
from typing import Final, Literal

from urllib3 import exceptions
from urllib3.response import BaseHTTPResponse

from detent.errors import DetentError, ServiceError, StoreError
from detent.version import __version__

# unreached: certainly nothing was asked. lost: nobody knows. wrong: it will be so again.
Trouble = Literal["unreached", "lost", "wrong"]
_UNREACHED: Final = (exceptions.NewConnectionError, exceptions.ConnectTimeoutError)
_OLD: Final = ("no_such_path", "method_not_allowed")
_REMEDY: Final = "see that it runs, and that the address is right: detent serve"


def trouble_of(error: exceptions.HTTPError) -> Trouble:
    if isinstance(error, _UNREACHED):
        return "unreached"
    if isinstance(error, exceptions.LocationValueError) or _certificate_of(error) is not None:
        return "wrong"
    return "lost"


def unavailable(where: str, error: exceptions.HTTPError) -> StoreError:
    reason = _certificate_of(error) or _reason(error)
    return StoreError(f"the service at {where} cannot be reached ({reason}); {_REMEDY}", code="store_unavailable")


def unknown(where: str, what: str, why: str) -> StoreError:
    message = f"the connection to {where} was lost during {what} ({why}); whether it was carried out is not known"
    return StoreError(f"{message}. Look before you ask again, or use a request_id", code="outcome_unknown")


def strange(where: str, what: str, response: BaseHTTPResponse, *, may_have_happened: bool) -> StoreError:
    """An answer that no service of ours gives: that of a proxy, or of another program altogether."""
    media = response.headers.get("content-type", "no content")[:80]
    message = f"{where} answered {what} with {response.status} and {media}, as no Detent service does"
    return StoreError(f"{message}; see what is at that address, or in between", code=_code(may_have_happened))


def unreadable(where: str, what: str, why: str, version: str | None, *, may_have_happened: bool = False) -> StoreError:
    whose = "a service of a version not known" if version is None else f"Detent {version}"
    message = f"the answer of {where} to {what} cannot be read ({why}): it is {whose}, and this is {__version__}"
    return StoreError(f"{message}; use the same on both sides", code=_code(may_have_happened))


def told(where: str, what: str, error: DetentError, version: str | None) -> DetentError:
    """What a service says of itself, as a store would say it: whoever asks again after a store's troubles does here."""
    if not isinstance(error, ServiceError):
        return error
    if error.code == "read_only":
        return StoreError(f"{where}: {error}", code="store_read_only")
    if error.code in _OLD:
        return unreadable(where, what, f"there is no such route: {error.code}", version)
    if error.code == "internal_error":
        return StoreError(f"{where}: {error}", code="outcome_unknown")
    if error.code in ("message_too_large", "unsupported_media", "not_acceptable", "foreign_origin"):
        return error
    return StoreError(f"{where}: {error}", code="store_unavailable")


def _code(may_have_happened: bool) -> str:
    return "outcome_unknown" if may_have_happened else "store_unavailable"


def _certificate_of(error: exceptions.HTTPError) -> str | None:
    cause = error.args[0] if error.args else None
    if isinstance(error, exceptions.SSLError) and isinstance(cause, SSLCertVerificationError):
        return f"its certificate is not trusted: {cause.verify_message}"
    return None


def _reason(error: exceptions.HTTPError) -> str:
    """The last words of what urllib3 says, which repeats the address before them."""
    return str(error).rpartition(": ")[2][:200] or type(error).__name__
