"""What carries out the effects of one kind of lane, and what all performers share."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from laneway.core.ids import LaneId

T = TypeVar("T")

Permit: TypeAlias = Callable[[], str | None]
"""Returns why an effect must not be begun any more, or None if it may be."""


class Parked(Exception):
    """A transaction would cost more than its caller or the operator allows. The message names what
    is asked, what is allowed, and by whom."""


class Performer(Protocol):
    """Carries out the effects of one lane kind; it answers always and raises never."""

    prompt: bool
    """Whether some of its effects need no waiting, so that `perform_now` is worth asking."""

    def perform(self, lane: LaneId, effect: Any) -> Awaitable[Any]: ...

    def perform_now(self, lane: LaneId, effect: Any) -> Any:
        """The answer to an effect that needs no waiting; None if nothing was done yet."""

    def decline(self, lane: LaneId, effect: Any, reason: str) -> Any:
        """The answer to an effect that was not begun and never will be."""


@runtime_checkable
class Batcher(Protocol):
    """A Performer that carries out many effects of one lane and one class together, and of one
    node where they name it as their `node`."""

    def perform_all(
        self, lane: LaneId, effects: Sequence[Any], permit: Permit
    ) -> Awaitable[Sequence[Any]]:
        """The events that answer them. `permit` is asked again right before anything leaves that
        had to wait here."""


@runtime_checkable
class FollowingPerformer(Protocol):
    """A Performer that receives news of the world without having asked."""

    async def follow(self, post: Callable[[LaneId, Any], None]) -> None:
        """Post what happens, until it is cancelled; it raises nothing."""


class BatchPerformer:
    """A Batcher whose effects all have to wait for a node, a signer or a builder."""

    prompt = False

    async def perform(self: Batcher, lane: LaneId, effect: Any) -> Any:
        (event,) = await self.perform_all(lane, (effect,), lambda: None)
        return event

    def perform_now(self, _lane: LaneId, _effect: Any) -> None:
        return None


async def all_of(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """What each of these calls returns, in their order. A single one gets no task of its own."""
    under_way = list(calls)
    if len(under_way) == 1:
        return [await under_way[0]]
    return list(await asyncio.gather(*under_way))
