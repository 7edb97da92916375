"""What every command has besides its options: an example in its help, and the shape of what `--json` prints."""

from collections.abc import Mapping
from typing import Any, Final

import click

from detent.surfaces.cli.output import writing

HELP: Final = ("-h", "--help")
EXIT_CODES: Final[Mapping[int, str]] = {
    0: "done",
    1: "an error, or something was found that must not be",
    2: "wrong usage",
    3: "not found",
    10: "the job failed",
    11: "the job was cancelled",
    124: "waiting timed out",
    130: "interrupted",
}


class Telling(click.Command):
    """What help and version print is output like any other: its reader may leave, and its disk may be full."""

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        with writing():
            return super().make_context(*args, **extra)
        raise click.exceptions.Exit(0)  # the reader left, and has got what it wanted


class Command(Telling):
    """`example` is shown in the help and in the reference. `shape` is what `--json` prints; `stream`: one to a line."""

    def __init__(
        self, *args: Any, example: str = "", shape: object = None, stream: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.example = example
        self.shape = shape
        self.stream = stream

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        return [*HELP]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if self.example:
            with formatter.section("Example" if self.example.count("\n") == 0 else "Examples"):
                for line in self.example.splitlines():
                    formatter.write(f"{' ' * formatter.current_indent}{line}\n")
        super().format_epilog(ctx, formatter)


class Group(Telling, click.Group):
    """Commands are listed in the order in which they are declared: the first ones first."""

    command_class = Command
    sentence_chars_max = 1_000

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        return [*HELP]

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each with its whole first sentence, however many lines that takes: half a sentence says little."""
        with formatter.section("Commands"):
            sentences = {name: each.get_short_help_str(self.sentence_chars_max) for name, each in self.commands.items()}
            formatter.write_dl(list(sentences.items()))


Group.group_class = Group
