"""The real clock and the real entropy, and this process's name."""

import os
import socket
import time

from laneway.core.ids import Owner


class SystemClock:
    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic_ms(self) -> int:
        return time.monotonic_ns() // 1_000_000


class SystemEntropy:
    """Random bytes, fetched from the kernel by the page: a call for ten bytes costs as much."""

    _PAGE = 4_096

    def __init__(self) -> None:
        self._page = b""
        self._used = 0

    def token(self, size: int) -> bytes:
        if self._used + size > len(self._page):
            self._page = os.urandom(max(self._PAGE, size))
            self._used = 0
        self._used += size
        return self._page[self._used - size : self._used]


def fresh_owner() -> Owner:
    """A name that no other start of any process has ever borne."""
    return Owner(f"{socket.gethostname()}-{os.getpid()}-{os.urandom(8).hex()}")
