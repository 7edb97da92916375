"""How long things took, in a few numbers."""

from collections.abc import Sequence
from math import ceil


def share(took_s: Sequence[float], of: float) -> float:
    """So long, at most, did this share of them take: 0.99 is the 99th percentile."""
    return sorted(took_s)[max(ceil(of * len(took_s)) - 1, 0)]


def spread(took_s: Sequence[float]) -> str:
    return f"p50 {share(took_s, 0.5):.3f} s, p99 {share(took_s, 0.99):.3f} s, max {max(took_s):.3f} s"
