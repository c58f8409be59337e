"""What waits to be sent to one client, within bounds.

A client that asks is made to wait while its answers are not read; one that is only told, and does
not keep up, is cut off.
"""

import asyncio
from collections import deque

from laneway.devnets.jam.limits import OUTGOING_BYTES_MAX, OUTGOING_COUNT_MAX


class Outbox:
    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._filled = asyncio.Event()
        self._has_room = asyncio.Event()
        self._has_room.set()

    def put(self, content: bytes) -> bool:
        """Whether there was room. One message always has, whatever its size."""
        is_full = len(self._waiting) >= OUTGOING_COUNT_MAX
        if is_full or (self._waiting and self._size + len(content) > OUTGOING_BYTES_MAX):
            return False
        self._waiting.append(content)
        self._size += len(content)
        self._filled.set()
        if self._is_half_full():
            self._has_room.clear()
        return True

    async def take(self) -> bytes:
        """The oldest message, as soon as there is one."""
        while not self._waiting:
            self._filled.clear()
            await self._filled.wait()
        content = self._waiting.popleft()
        self._size -= len(content)
        if not self._is_half_full():
            self._has_room.set()
        return content

    async def room(self) -> None:
        """Until half of it is free again, so that the other half stays for what is told."""
        await self._has_room.wait()

    def _is_half_full(self) -> bool:
        return 2 * len(self._waiting) >= OUTGOING_COUNT_MAX or 2 * self._size >= OUTGOING_BYTES_MAX
