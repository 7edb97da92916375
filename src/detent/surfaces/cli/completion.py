"""`detent completion`: what makes a shell complete commands, options, lifecycles and job ids."""

import click
from click.shell_completion import get_completion_class

from detent.surfaces.cli.command import Command
from detent.surfaces.cli.output import write

SHELLS = ("bash", "zsh", "fish")


@click.command(
    cls=Command,
    example="""eval "$(detent completion bash)"     # in ~/.bashrc
eval "$(detent completion zsh)"      # in ~/.zshrc
detent completion fish > ~/.config/fish/completions/detent.fish""",
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Make a shell complete commands, options and job ids: print the script for SHELL."""
    kind = get_completion_class(shell)
    assert kind is not None, "click knows the shells that are offered"
    write(kind(context.find_root().command, {}, "detent", "_DETENT_COMPLETE").source())
