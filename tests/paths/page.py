"""The failure paths as a page of the reference, written from the table that the tests go through."""

from collections.abc import Iterator
from typing import Final

from detent.surfaces.reference.markdown import code, page, section, table
from tests.paths.path import Deed, Moves, Path
from tests.paths.table import PATHS

# Verbs that need no word on the way: without them no job would get anywhere.
PLAIN: Final = frozenset({"enqueue", "submit", "schedule", "claim", "start", "complete"})
HEADINGS: Final = ("what happens", "the way of the job", "what the record says", "shows")
COUNTED: Final = ("attempt", "failure", "crash", "interruption")


def paths_page() -> str:
    count = sum(len(paths) for paths in PATHS.values())
    return page(
        "Failure paths",
        f"{count} ways in which a job does not simply succeed. The tests go through each with real workers, every one\n"
        "a `detent worker` in a process of its own, on SQLite and on PostgreSQL. Workers are killed, paused and told\n"
        "to stop; people cancel, approve and run again on the command line.",
        "A way names the states in their order, and the verb where it is not one that every job goes by; renewals\n"
        "are left out. The tests ask for exactly that way, for the counters and the error as they stand here, and for\n"
        "a record in which `detent verify` finds nothing. Another test goes over what the lifecycles declare: a move\n"
        "that is on no way fails it.",
        *(section(code(name), table(HEADINGS, map(_row, paths))) for name, paths in PATHS.items()),
    )


def _row(path: Path) -> tuple[str, ...]:
    done = "".join(f" ({_told(deed)})" for deed in path.deeds)
    return f"{path.name}{done}", _way(path), "; ".join(_record(path)), ", ".join(path.shows)


def _told(deed: Deed) -> str:
    words = " ".join(word for word in deed.words if word != "--yes")
    if deed.by == "cli":
        return code(f"detent {words}") + (f", refused: {code(deed.refused)}" if deed.refused else "")
    return f"{code(words)} {'by its owner' if deed.by == 'elsewhere' else f'by {deed.by}'}"


def _way(path: Path) -> str:
    way = _steps(path.moves)
    if path.instead:
        return f"{way}; or, if the reconciler is first: {_steps(path.instead)}"
    if path.rests:
        return f"{way}, and stays there"
    if path.heir is None:
        return way
    what = "run again by a new job" if path.heir.what == "rerun" else "undone by a new job"
    return f"{way}; {what}: {_steps(path.heir.moves)}"


def _steps(moves: Moves) -> str:
    steps = (move.split() for move in moves)
    return " → ".join(state if verb in PLAIN else f"*{verb}* {state}" for verb, state in steps)


def _record(path: Path) -> Iterator[str]:
    if path.error is not None:
        said = (path.error.category, path.error.reason, f"stage {path.error.stage}", path.error.code)
        yield ", ".join([code(path.error.type), *(word for word in said if word)])
    elif path.last:
        yield f"last error {code(path.last)}"
    counts = (path.attempts, path.failures, path.crashes, path.interruptions)
    yield ", ".join(_counted(count, name) for count, name in zip(counts, COUNTED, strict=True) if count) or "no attempt"
    if path.artifact is not None:
        yield f"its artifact is {path.artifact}"
    elif path.notes:
        yield f"a note: {', '.join(path.notes)}"


def _counted(count: int, name: str) -> str:
    return f"{count} {name}" if count == 1 else f"{count} {name}{'es' if name.endswith('sh') else 's'}"
