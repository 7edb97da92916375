"""SQL lives in .sql files, in blocks with a name: `-- name: claimable`. This reads them."""

from functools import cache
from importlib.resources import files

_MARK = "-- name: "


@cache
def blocks(package: str, file: str) -> dict[str, str]:
    """The statements of a file by name, without their comments."""
    text = files(package).joinpath(file).read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for part in text.split(_MARK)[1:]:
        name, _, body = part.partition("\n")
        lines = (line for line in body.splitlines() if line.strip() and not line.lstrip().startswith("--"))
        found[name.strip()] = "\n".join(lines).rstrip(" ;")
    return found
