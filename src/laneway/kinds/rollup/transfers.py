"""The way in for rollups' transactions: judged by the builder, then durable, each of them once."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from laneway.core.errors import BadRequest, LaneNotFound
from laneway.core.ids import LaneId
from laneway.core.intent import Answer, Arrival, Replayed
from laneway.kinds.arrivals import named_keys
from laneway.kinds.limits import TRANSFER_TRIES_MAX
from laneway.kinds.rollup.arrivals import RollupArrivals, intent_of, octets_of
from laneway.ports import Clock, Store

if TYPE_CHECKING:
    # The curve is an extra (`rollup`); contracts need none of it.
    from laneway.kinds.rollup.lanes import RollupLanes

Accept: TypeAlias = Callable[[Arrival], Awaitable[Answer]]
AcceptMany: TypeAlias = Callable[[Sequence[Arrival]], Awaitable[Sequence[Answer]]]


class Transfers:
    """Of all rollups of this process; without any, there is no lane to hand anything to."""

    def __init__(self, lanes: "RollupLanes | None", store: Store, clock: Clock) -> None:
        self._lanes = lanes
        self.arrivals = RollupArrivals(clock, store)

    async def checked(self, text: str, raw: bytes | str) -> "Checked":
        """BadRequest for what no block can hold any more, unless it is known: a caller who asks
        again gets what became of it. One that a block executed and this store does not know of
        comes in, and once that block is final its receipt is the answer."""
        if self._lanes is None:
            raise LaneNotFound(text)
        lane = self._lanes.lane(text)
        reads, content = self._lanes.account(lane).reads, octets_of(raw)
        try:
            return Checked(lane, content, await reads.check(content))
        except BadRequest:
            found = await reads.hash_of(content)
            receipt = await reads.receipt(found)
            if receipt is not None:
                return Checked(lane, content, found)
            if not await self.arrivals.is_known(lane, found):
                raise
            return Checked(lane, content, found, is_spent=True)

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
        """One transaction, in its newest try."""
        checked = await self.checked(text, raw)
        place = (checked.lane, checked.raw, checked.hash)
        arrival = self.arrivals.make(*place, key=key, scope=scope, valid_until_ms=valid_until_ms)
        answer = await accept(arrival)
        if not is_first(arrival, answer):
            return arrival, answer
        tried = await self._place(arrival, checked)
        if tried == 0:
            return arrival, answer
        arrival = renewed(arrival, checked, tried)
        return arrival, newest_answer(arrival, await accept(arrival), checked, tried)

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
        checked = [await self.checked(text, raw) for raw in raws]
        firsts = [
            self.arrivals.make(one.lane, one.raw, one.hash, key=key, valid_until_ms=valid_until_ms)
            for one, key in zip(checked, named, strict=True)
        ]
        # Asked before it is written: what is tried again keeps its place among the others.
        hashes = [one.hash for one in checked]
        ended = await self.arrivals.ended(checked[0].lane, hashes) if checked else {}
        places = list(zip(firsts, checked, strict=True))
        tries = [await self._place(*one) if one[1].hash in ended else 0 for one in places]
        answered = await self._accept(places, tries, accept)
        # Of what retention removed its answer alone is left, which is found one by one.
        left = [place for place, one in enumerate(answered) if tries[place] == 0 and is_first(*one)]
        newer = {place: await self._place(*places[place]) for place in left}
        newer = {place: tried for place, tried in newer.items() if tried}
        again = [places[place] for place in newer]
        answers = await self._accept(again, list(newer.values()), accept) if again else []
        for place, answer in zip(newer, answers, strict=True):
            answered[place] = answer
        return answered

    async def _accept(
        self,
        places: "Sequence[tuple[Arrival, Checked]]",
        tries: Sequence[int],
        accept: AcceptMany,
    ) -> list[tuple[Arrival, Answer]]:
        asked = zip(places, tries, strict=True)
        arrivals = [renewed(first, checked, tried) for (first, checked), tried in asked]
        answers = await accept(arrivals)
        answered = zip(arrivals, answers, places, tries, strict=True)
        return [
            (arrival, newest_answer(arrival, answer, checked, tried))
            for arrival, answer, (_, checked), tried in answered
        ]

    async def _place(self, arrival: Arrival, checked: "Checked") -> int:
        """Which try of its bytes it is."""
        newest = await self.arrivals.newest(checked.lane, checked.hash)
        if newest is None:
            return 0
        if checked.is_spent or not newest.is_open_again(arrival):
            return newest.number
        if newest.number + 1 >= TRANSFER_TRIES_MAX:
            problem = f"these bytes came to nothing {TRANSFER_TRIES_MAX} times; sign others"
            raise BadRequest("raw", problem)
        return newest.number + 1


class Checked(Struct, frozen=True):
    """A transaction that may come in, or came in before."""

    lane: LaneId
    raw: bytes
    hash: bytes
    is_spent: bool = False
    """No block can hold it any more: it is asked for, and not tried again."""


def renewed(first: Arrival, checked: Checked, tried: int) -> Arrival:
    return replace(first, id=intent_of(checked.lane, checked.hash, tried))


def is_first(arrival: Arrival, answer: Answer) -> bool:
    """Whether these bytes came before, so that there may be newer tries of them."""
    return isinstance(answer, Replayed) and answer.id == arrival.id


def newest_answer(arrival: Arrival, answer: Answer, checked: Checked, tried: int) -> Answer:
    """The key of an older try opens no other: it gets the newest that there is."""
    if tried and isinstance(answer, Replayed) and answer.id != arrival.id:
        return Replayed(intent_of(checked.lane, checked.hash, tried - 1))
    return answer
