"""From `MODULE:APP` to the app: the module is imported as Python would, with the current directory first."""

import sys
import traceback
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from detent.app import App
from detent.surfaces.cli.failure import Failure, Missing, Misused, guess

FRAMES_MAX: Final = 5  # of a traceback, the last ones: where it broke
NAMES_MAX: Final = 5


def found_app(target: str) -> App:
    """Or a failure that says what of it is wrong."""
    place, colon, name = target.partition(":")
    if place.endswith(".py") or "/" in place:
        raise Misused(f"'{target}' names a file; name the module: {_as_module(place)}:{name or 'app'}")
    if not place or (colon and not name):
        raise Misused(f"'{target}' names no app; write MODULE:APP, such as shop.jobs:app")
    module = _imported(place)
    if not colon:
        raise Misused(f"'{target}' names a module, and not which of its apps.{_apps(module)}")
    return _checked(_attribute(module, name), module, target)


def _imported(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            message = f"there is no module '{error.name}', neither in {here} nor where Python looks for packages"
            raise Missing(f"{message}; go where it is, or set PYTHONPATH") from None
        raise _broken(name, error) from None
    except (Exception, SystemExit) as error:  # whatever the module itself does
        raise _broken(name, error) from None


def _attribute(module: ModuleType, name: str) -> Any:
    value: Any = module
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            known = guess(part, vars(module)) or _apps(module)
            raise Missing(f"module '{module.__name__}' has no '{name}'.{known}") from None
    return value


def _checked(value: Any, module: ModuleType, target: str) -> App:
    if not isinstance(value, App):
        kind = type(value).__name__
        raise Misused(f"'{target}' is no App but {_article(kind)} {kind}.{_apps(module)}")
    if not value.registrations():
        raise Misused(f"'{target}' declares no job, so there is nothing to run; decorate a function with @app.job")
    return value


def _apps(module: ModuleType) -> str:
    """` It has: shop:app`, or nothing."""
    names = [f"{module.__name__}:{name}" for name, value in vars(module).items() if isinstance(value, App)]
    return f" It has: {', '.join(names[:NAMES_MAX])}" if names else " It has no App at its top level"


def _broken(name: str, error: BaseException) -> Failure:
    """With the end of its own traceback: what is wrong is in there, and not here."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if not _is_ours(each.filename)]
    told = traceback.format_list(frames[-FRAMES_MAX:]) + traceback.format_exception_only(error)
    lines = [line for each in told for line in each.rstrip().split("\n")]
    failure = Failure("\n".join([f"module '{name}' cannot be imported; it raised:", *lines]))
    failure.error_code = "import_failed"
    return failure


def _is_ours(filename: str) -> bool:
    return filename == __file__ or filename.startswith("<frozen importlib") or "/importlib/" in filename


def _as_module(path: str) -> str:
    return path.removesuffix(".py").strip("./").replace("/", ".")


def _article(word: str) -> str:
    return "an" if word[:1].lower() in "aeiou" else "a"
