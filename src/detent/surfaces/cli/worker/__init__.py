"""`detent worker`: run the handlers of an app, in this process or in several."""

from detent.surfaces.cli.worker.command import worker

__all__ = ["worker"]
