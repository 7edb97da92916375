"""Free ports on the loopback, for servers and proxies."""

import random
import socket
from typing import Final

# Below the ports that systems give to outgoing connections: while a server restarts, a client that happens to call
# its port from that very port would otherwise reach itself.
PORTS: Final = range(20_000, 32_000)
TRIED_MAX: Final = 100


def free_port() -> int:
    """One that nobody listened on a moment ago; somebody else may be quicker."""
    # Test runs side by side must not look in the same order, whatever seeds they set.
    for port in random.SystemRandom().sample(PORTS, TRIED_MAX):
        if _is_free(port):
            return port
    raise RuntimeError(f"{TRIED_MAX} ports between {PORTS.start} and {PORTS.stop} are all taken.")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        # As PostgreSQL does: a connection that has just ended does not make its port taken.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
