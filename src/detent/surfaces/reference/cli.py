"""The page of the command line, read off the commands themselves, so that none can be there and not on it."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Final

import click

from detent.errors import NotFound
from detent.surfaces.cli.command import EXIT_CODES, Command
from detent.surfaces.cli.failure import failure_of
from detent.surfaces.cli.root import main
from detent.surfaces.reference.markdown import code, codes, fence, page, section, table
from detent.surfaces.reference.shapes import Shapes

NAME: Final = "detent"
# What the terminal's own library minds; the others are read off the options.
_OF_THE_TERMINAL: Final = {
    "NO_COLOR": "set to anything: no colours",
    "COLUMNS": "how wide the output may be; else the terminal's width, or 160 where there is none",
}

Words = tuple[str, ...]


def cli_page(root: click.Group = main) -> str:
    found = commands(root)
    shapes = Shapes(shape for each in found.values() if (shape := shape_of(each)) is not None)
    return page(
        "Command line",
        "`detent` and `python -m detent` are the same. Data goes to stdout; remarks, questions and errors go to "
        "stderr. Every command has `--help`. "
        "[Operate from the shell](../how-to/operate-from-the-shell.md) shows them at work.",
        table(("command", ""), ((_link(path), each.get_short_help_str(200)) for path, each in found.items())),
        *_sections(root, (NAME,), shapes),
        section("Exit codes", table(("code", "meaning"), EXIT_CODES.items())),
        section("Environment variables", table(("variable", "meaning"), _variables(found).items())),
        section("Errors in JSON", *_errors()),
        section(
            "Shapes",
            "What `--json` prints, field by field. A time is a string in ISO 8601, in UTC.",
            *shapes.parts(),
        ),
    )


def commands(group: click.Group, path: Words = (NAME,)) -> dict[Words, click.Command]:
    """Every command that does something, by the words that call it, in the order of the help."""
    found: dict[Words, click.Command] = {}
    for name, each in group.commands.items():
        own = (*path, name)
        found |= commands(each, own) if isinstance(each, click.Group) else {own: each}
    return found


def shape_of(command: click.Command) -> object:
    return command.shape if isinstance(command, Command) else None


def options(command: click.Command) -> list[click.Option]:
    return [each for each in command.params if isinstance(each, click.Option)]


def _sections(group: click.Group, path: Words, shapes: Shapes) -> Iterator[str]:
    for name, each in group.commands.items():
        own = (*path, name)
        if isinstance(each, click.Group):
            parts = (_command(each.commands[sub], (*own, sub), shapes, "###") for sub in each.commands)
            yield section(" ".join(own), _help(each), *parts)
        else:
            yield _command(each, own, shapes, "##")


def _command(command: click.Command, path: Words, shapes: Shapes, level: str) -> str:
    usage = " ".join([*path, *command.collect_usage_pieces(_context(command))])
    blocks = [f"{level} {' '.join(path)}", _help(command), fence("text", usage)]
    if options(command):
        rows = (_row(option, _context(command)) for option in options(command))
        blocks.append(table(("option", "what", "default"), rows))
    if isinstance(command, Command):
        blocks += [fence("sh", command.example), *_printed(command, shapes)]
    return "\n\n".join(blocks)


def _printed(command: Command, shapes: Shapes) -> Iterator[str]:
    if command.shape is not None:
        yield f"With `--json`: {shapes.name(command.shape)}{', one to a line' if command.stream else ''}."


def _row(option: click.Option, context: click.Context) -> tuple[str, str, str]:
    if not option.help:
        raise ValueError(f"option {option.opts[0]} has no help; say what it does where it is declared")
    names = ", ".join(code(name) for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {code(_value(option, context))}"
    return names + value, f"{option.help}{_choices(option)}", _default(option)


def _value(option: click.Option, context: click.Context) -> str:
    return "N" if isinstance(option.type, click.IntRange) else option.make_metavar(context)


def _choices(option: click.Option) -> str:
    """What may be given, where the name of the value does not say it."""
    if isinstance(option.type, click.Choice) and option.metavar is not None:
        return f" One of {codes(map(str, option.type.choices))}."
    if isinstance(option.type, click.IntRange):
        least, most = option.type.min, option.type.max
        return f" {least} or more." if most is None else f" {least} to {most}."
    return ""


def _default(option: click.Option) -> str:
    value: Any = option.to_info_dict()["default"]
    if option.is_flag:
        value = option.opts[0] if value and option.secondary_opts else None
    plain = "" if value in (None, ()) else codes(map(_text, value if isinstance(value, tuple) else (value,)))
    variable = code(f"${option.envvar}") if option.envvar else ""
    return f"{variable}, else {plain}" if variable and plain else variable or plain


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _variables(found: Mapping[Words, click.Command]) -> dict[str, str]:
    named = {
        code(str(option.envvar)): f"what {code(option.opts[0])} is where it is not given"
        for each in found.values()
        for option in options(each)
        if option.envvar
    }
    return named | {code(name): meaning for name, meaning in _OF_THE_TERMINAL.items()}


def _errors() -> Iterator[str]:
    yield (
        "With `--json` an error is a line of JSON on stderr. Its `code` is [the error's own](errors.md), "
        "`wrong_usage`, `wait_timed_out`, `already_rerun`, `interrupted`, or `error` for what has none. A refusal has "
        "`job_id`, `state` and `allowed` too; a lifecycle that is not sound has its `problems`."
    )
    yield fence("json", failure_of(NotFound("there is no job 43 in tenant 'default'")).as_json())


def _help(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "")


def _link(path: Words) -> str:
    return f"[{' '.join(path)}](#{'-'.join(path)})"


def _context(command: click.Command) -> click.Context:
    """Wide enough that nothing depends on the terminal."""
    return click.Context(command, terminal_width=1_000, max_content_width=1_000)
