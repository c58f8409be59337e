"""The way in for rollups' transactions: judged by the builder, then durable, each of them once."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from laneway.core.errors import BadRequest, LaneNotFound
from laneway.core.ids import LaneId
from laneway.core.intent import Answer, Arrival
from laneway.ports import Clock, Store
from laneway.wiring.arrivals import named_keys
from laneway.wiring.limits import TRANSFER_TRIES_MAX
from laneway.wiring.rollup_arrivals import RollupArrivals, octets_of

if TYPE_CHECKING:
    # The curve is an extra (`rollup`); contracts need none of it.
    from laneway.wiring.rollup import RollupLanes

Accept: TypeAlias = Callable[[Arrival], Awaitable[Answer]]
AcceptMany: TypeAlias = Callable[[Sequence[Arrival]], Awaitable[Sequence[Answer]]]


class Transfers:
    """Of all rollups of this process; without any, there is no lane to hand anything to."""

    def __init__(self, lanes: "RollupLanes | None", store: Store, clock: Clock) -> None:
        self._lanes = lanes
        self.arrivals = RollupArrivals(clock, store)

    def _served(self, text: str) -> "tuple[RollupLanes, LaneId]":
        if self._lanes is None:
            raise LaneNotFound(text)
        return self._lanes, self._lanes.lane(text)

    async def checked(self, text: str, raw: bytes | str) -> tuple[LaneId, bytes, bytes]:
        """Lane, bytes and hash of a transaction. BadRequest for what no block can hold any more,
        unless it is known here: whoever asks again is told what became of it."""
        lanes, lane = self._served(text)
        content = octets_of(raw)
        try:
            return lane, content, lanes.check(lane, content)
        except BadRequest:
            found = lanes.hash_of(lane, content)
            if not await self.arrivals.is_known(lane, found):
                raise
            return lane, content, found

    async def submit(
        self,
        text: str,
        raw: bytes | str,
        accept: Accept,
        *,
        key: str | None = None,
        scope: str = "",
        valid_until_ms: int | None = None,
    ) -> tuple[Arrival, Answer]:
        """One transaction. What came to nothing under another key is tried again, so often."""
        lane, content, found = await self.checked(text, raw)
        for tried in range(TRANSFER_TRIES_MAX):
            arrival = self.arrivals.make(
                lane,
                content,
                found,
                key=key,
                scope=scope,
                valid_until_ms=valid_until_ms,
                tried=tried,
            )
            answer = await accept(arrival)
            if not await self.arrivals.is_open_again(arrival, answer):
                return arrival, answer
        problem = f"these bytes came to nothing {TRANSFER_TRIES_MAX} times; sign others"
        raise BadRequest("raw", problem)

    async def submit_many(
        self,
        text: str,
        raws: Sequence[bytes | str],
        accept: AcceptMany,
        *,
        keys: Sequence[str | None] | None = None,
        valid_until_ms: int | None = None,
    ) -> list[tuple[Arrival, Answer]]:
        """A batch in one write, all of it judged before."""
        named = named_keys(keys, len(raws), "transactions")
        arrivals = [
            self.arrivals.make(
                *(await self.checked(text, raw)), key=key, valid_until_ms=valid_until_ms
            )
            for raw, key in zip(raws, named, strict=True)
        ]
        return list(zip(arrivals, await accept(arrivals), strict=True))
