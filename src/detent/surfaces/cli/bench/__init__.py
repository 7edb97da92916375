"""`detent bench`: where to measure, the store beside plain SQL, a worker, a service, and how it is shown."""

from detent.surfaces.cli.bench.command import bench

__all__ = ["bench"]
