"""Ports of loopback for servers that must be told theirs.

The kernel hands out ports from 32768 on (`ip_local_port_range`) to whoever binds none or connects.
A port from there that is free now may be a stranger's by the time a server is up, so ours lie
below, and none is given out twice while the process that asked for it lives.
"""

import os
import socket
from itertools import count

FIRST = 12_000
COUNT = 10_000
"""A Cluster's bus takes the port 10,000 above its server's: below 32,000 too."""

_held: list[socket.socket] = []
_tried = count(os.getpid() * 37)


def free_port() -> int:
    """A port where nobody listens, and this process alone will."""
    for _ in range(COUNT):
        port = FIRST + next(_tried) % COUNT
        mark = socket.socket(socket.AF_UNIX)
        try:
            # A name of the kernel's own, gone with the process: no file is left behind.
            mark.bind(f"\0laneway-tests-port-{port}")
        except OSError:
            mark.close()
            continue
        if is_free(port) and is_free(port + COUNT):
            _held.append(mark)
            return port
        mark.close()
    raise AssertionError("no free port")


def is_free(port: int) -> bool:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
