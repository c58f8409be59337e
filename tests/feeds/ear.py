"""A client of the event stream, without a socket."""

import asyncio

import pytest

from laneway.feeds.stream import StreamReader


class Ear:
    """A client of one follower; it takes everything at once unless it is told to be slow."""

    def __init__(self, follower: StreamReader, beat_s: float = 60.0) -> None:
        self._follower = follower
        self._frames: asyncio.Queue[bytes] = asyncio.Queue()
        self._drained = asyncio.Event()
        self.slow = False
        self.task = asyncio.create_task(follower.run(self._write, self._drain, beat_s))

    def _write(self, frames: bytes) -> bool:
        self._frames.put_nowait(frames)
        return not self.slow

    async def _drain(self) -> None:
        await self._drained.wait()

    def quicken(self) -> None:
        self.slow = False
        self._drained.set()

    async def read(self, wait_s: float) -> bytes | None:
        """The next frames; None when there will be none."""
        getting = asyncio.create_task(self._frames.get())
        first = asyncio.FIRST_COMPLETED
        done, _ = await asyncio.wait((getting, self.task), timeout=wait_s, return_when=first)
        if not done:
            pytest.fail(f"nothing came within {wait_s} s")
        if getting.done():
            return getting.result()
        getting.cancel()
        return None

    def leave(self) -> None:
        self.task.cancel()
        self._follower.leave()
