"""Several programs of one kind, let go at the same moment."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager

from tests.store.processes.program import WAIT_S, Line, Program


@contextmanager
def gathered(name: str, given: Sequence[Mapping[str, object]]) -> Iterator[list[Program]]:
    """One for each, all of which have said that they are here. Leaving the block ends them, whatever they do."""
    with ExitStack() as running:
        programs = [running.enter_context(Program(name, **each)) for each in given]
        for program in programs:
            program.hear()
        yield programs


def let_go(programs: Sequence[Program], wait_s: float = WAIT_S, **facts: object) -> list[Line]:
    """What each of them says at its end."""
    for program in programs:
        program.say(**facts)
    return [program.ended(wait_s)[0] for program in programs]
