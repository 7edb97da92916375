"""`detent serve`: jobs over HTTP, for programs in any language."""

from detent.surfaces.cli.serve.command import serve

__all__ = ["serve"]
