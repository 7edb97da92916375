"""The command line. A command is a click command in a module of its own, listed in `root.COMMANDS`."""

from detent.surfaces.cli.root import main

__all__ = ["main"]
