"""A rollup's transaction → an arrival, which the same bytes make once.

Its intent is named by the transaction's hash: whoever hands the same bytes in again, under another
key or none, is told of the intent that they made first. What ended without an effect may be tried
again under a key that it did not have.
"""

from hashlib import blake2b

from laneway.core.errors import BadRequest
from laneway.core.ids import IntentId, LaneId, idempotency_key, intent_id
from laneway.core.intent import Answer, Arrival, Replayed
from laneway.core.outcome import Status
from laneway.engine.waiters import PRUNED_INDEX
from laneway.ports import Clock, Store
from laneway.wiring.arrivals import check_text, digest, is_count

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
        if key is not None:
            check_text("key", key)
            key = idempotency_key(key)
        if valid_until_ms is not None and not is_count(valid_until_ms):
            raise BadRequest("valid_until_ms", "milliseconds since 1970, a whole number")
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
        intent = intent_of(lane, transaction_hash)
        if await self._store.intent(intent) is not None:
            return True
        return await self._store.find(PRUNED_INDEX, intent) is not None

    async def is_open_again(self, arrival: Arrival, answer: Answer) -> bool:
        """Whether what was handed in before ended without an effect, under another key than this:
        then it may be tried once more."""
        if not isinstance(answer, Replayed) or arrival.key is None or answer.id != arrival.id:
            return False
        view = await self._store.intent(arrival.id)
        if view is not None:
            is_over = view.result is not None and view.result.status in WITHOUT_EFFECT
            return is_over and (view.intent.scope, view.intent.key) != (arrival.scope, arrival.key)
        left = await self._store.find(PRUNED_INDEX, arrival.id)
        return left is not None and left.status in WITHOUT_EFFECT


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
