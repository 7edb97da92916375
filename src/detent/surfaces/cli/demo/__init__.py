"""`detent demo`: scenes and a script as data, processes that play it, a view to watch it by, and the audit."""

from detent.surfaces.cli.demo.command import demo

__all__ = ["demo"]
