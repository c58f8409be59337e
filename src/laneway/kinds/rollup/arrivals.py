"""A rollup's transaction → an arrival, which the same bytes make once.

Its intent is named by the transaction's hash: a caller who hands the same bytes in again, under
another key or none, gets the intent that they made. What ended without an effect may be tried
again, and then the newest try counts: what was refused is tried again by anyone who asks, since its
signer can make no other bytes; what a person cancelled, or its time, only under a key that it had
not.
"""

from collections.abc import Sequence
from hashlib import blake2b

from msgspec import Struct

from laneway.core.errors import BadRequest
from laneway.core.ids import IntentId, LaneId, intent_id
from laneway.core.intent import Arrival
from laneway.core.outcome import Status
from laneway.engine.waiters import PRUNED_INDEX
from laneway.kinds.arrivals import checked_key, digest
from laneway.kinds.limits import ANSWERS_ASKED_MAX
from laneway.ports import Clock, Store

TAG = b"laneway-rollup-intent/1\0"
WITHOUT_EFFECT = (Status.REFUSED.value, Status.CANCELLED.value, Status.EXPIRED.value)
"""It is in no block and never will be: its bytes may be handed in again."""


def intent_of(lane: LaneId, transaction_hash: bytes, tried: int = 0) -> IntentId:
    """The intent of a transaction; `tried`: how many before it came to nothing."""
    named = TAG + lane.encode() + b"\0" + transaction_hash + tried.to_bytes(4, "big")
    found = blake2b(named, digest_size=16).digest()
    # In an id a time stands first, which nobody reads: here it is as random as the rest.
    return intent_id(int.from_bytes(found[:6], "big"), found[6:])


class RollupArrivals:
    """Makes arrivals of rollups' transactions. They have one class: blocks keep their order."""

    def __init__(self, clock: Clock, store: Store) -> None:
        self._clock = clock
        self._store = store

    def make(
        self,
        lane: LaneId,
        raw: bytes,
        transaction_hash: bytes,
        *,
        key: str | None = None,
        scope: str = "",
        valid_until_ms: int | None = None,
        tried: int = 0,
    ) -> Arrival:
        key = checked_key(key, valid_until_ms)
        return Arrival(
            id=intent_of(lane, transaction_hash, tried),
            lane=lane,
            payload=raw,
            digest=b"" if key is None else digest(raw, 0, valid_until_ms),
            accepted_ms=self._clock.now_ms(),
            key=key,
            scope=scope,
            valid_until_ms=valid_until_ms,
        )

    async def is_known(self, lane: LaneId, transaction_hash: bytes) -> bool:
        return await self._tried(lane, transaction_hash, 0) is not None

    async def ended(self, lane: LaneId, hashes: Sequence[bytes]) -> dict[bytes, None]:
        """Those of the transactions whose first try ended without an effect, in a few questions;
        those that retention removed are left out."""
        named = {intent_of(lane, one): one for one in hashes}
        intents = list(named)
        found: dict[bytes, None] = {}
        for begin in range(0, len(intents), ANSWERS_ASKED_MAX):
            asked = intents[begin : begin + ANSWERS_ASKED_MAX]
            for result in await self._store.answers(lane, asked):
                if result.status in WITHOUT_EFFECT:
                    found[named[result.intent]] = None
        return found

    async def newest(self, lane: LaneId, transaction_hash: bytes) -> "Tried | None":
        """The last try of a transaction. There are no gaps, so it is found by binary search."""
        newest: Tried | None = None
        missing = 0
        while (found := await self._tried(lane, transaction_hash, missing)) is not None:
            newest, missing = found, 2 * missing + 1
        while newest is not None and missing - newest.number > 1:
            middle = (newest.number + missing) // 2
            found = await self._tried(lane, transaction_hash, middle)
            if found is None:
                missing = middle
            else:
                newest = found
        return newest

    async def _tried(self, lane: LaneId, transaction_hash: bytes, number: int) -> "Tried | None":
        intent = intent_of(lane, transaction_hash, number)
        view = await self._store.intent(intent)
        if view is not None:
            status = "" if view.result is None else view.result.status
            return Tried(number, status, view.intent.scope, view.intent.key)
        left = await self._store.find(PRUNED_INDEX, intent)
        return None if left is None else Tried(number, left.status)


class Tried(Struct, frozen=True):
    """One try of a transaction."""

    number: int
    status: str
    """Empty while it is open."""
    scope: str = ""
    key: str | None = None
    """Not known any more of what retention removed."""

    def is_open_again(self, arrival: Arrival) -> bool:
        """Whether it came to nothing, and this arrival may be one more try."""
        if self.status not in WITHOUT_EFFECT:
            return False
        if arrival.key is None:
            return self.status == Status.REFUSED.value
        return (self.scope, self.key) != (arrival.scope, arrival.key)


def octets_of(raw: object) -> bytes:
    """A transaction as a caller gives it: bytes, or their hexadecimal digits."""
    if isinstance(raw, bytes):
        return raw
    if not isinstance(raw, str):
        raise BadRequest("raw", f"bytes or hexadecimal digits, not {type(raw).__name__}")
    try:
        return bytes.fromhex(raw.removeprefix("0x"))
    except ValueError:
        raise BadRequest("raw", "not hexadecimal digits") from None
