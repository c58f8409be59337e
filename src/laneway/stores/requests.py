"""Requests that wait to be written, and how a group of them is taken and answered."""

import asyncio
from collections import deque
from collections.abc import Iterable
from sys import maxsize
from typing import Any

from laneway.stores.limits import GROUP_BYTES_MAX, GROUP_REQUESTS_MAX

Request = tuple[Any, "asyncio.Future[Any]", int]
"""What is asked, the future of its answer, and how many bytes it counts for."""


class Requests(deque[Request]):
    """Requests in the order in which they came."""

    def __init__(self) -> None:
        super().__init__()
        self._alone = 0
        """How many of the next requests are written each in a group of its own."""

    def gather(self, limit: int = maxsize) -> list[Request]:
        """The requests of the next group: as many as its bounds allow, and at least one."""
        if self._alone:
            self._alone -= 1
            return [self.popleft()]
        group: list[Request] = []
        size = 0
        limit = min(limit, GROUP_REQUESTS_MAX)
        while self and len(group) < limit:
            size += self[0][2]
            if group and size > GROUP_BYTES_MAX:
                break
            group.append(self.popleft())
        return group

    def part(self, group: list[Request]) -> None:
        """One request of the group broke a law: find it by writing each of them alone."""
        self._alone += len(group)
        self.extendleft(reversed(group))


def refused(error: Exception) -> "asyncio.Future[Any]":
    """A future that has failed already: the answer of a store that is closed or has failed."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.set_exception(error.with_traceback(None))
    return future


def answer(group: Iterable[Request], answers: Iterable[object]) -> None:
    settle((future for _, future, _ in group), answers)


def settle(futures: Iterable["asyncio.Future[Any]"], answers: Iterable[object]) -> None:
    """Each future gets its answer, or raises it. One that is done has no caller that waits."""
    for future, found in zip(futures, answers, strict=True):
        if future.done():
            continue
        if isinstance(found, Exception):
            future.set_exception(found)
        else:
            future.set_result(found)
