"""What the library may be asked of rollups: their transactions in, their blocks heard of."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from laneway.core.errors import BadRequest
from laneway.core.intent import Answer, Arrival
from laneway.engine.bundle.rollup import Heard
from laneway.wiring.commands import Commands
from laneway.wiring.handle import Handle, taken
from laneway.wiring.transfers import Transfers

if TYPE_CHECKING:
    # The curve is an extra (`rollup`); contracts need none of it.
    from laneway.wiring.rollup import RollupLanes


class RollupCalls(Commands):
    """The part of a running engine that is about rollups."""

    rollup: "RollupLanes | None"
    transfers: Transfers
    """Where rollups' transactions come in."""
    shared: bool

    async def transfer(
        self,
        lane: str,
        raw: bytes | str,
        *,
        key: str | None = None,
        valid_until_ms: int | None = None,
    ) -> Handle:
        """Queue one transaction of a rollup, `rollup:SERVICE` or `rollup:NAME`: its bytes, or their
        hexadecimal digits. The same bytes are one intent, with whatever key they come; once it was
        refused they are tried again, and once it was cancelled or too late under another key."""
        accept = self.engine.submit
        arrival, answer = await self.transfers.submit(
            lane, raw, accept, key=key, valid_until_ms=valid_until_ms
        )
        handle = self._followed(arrival, answer)
        if handle.refusal is not None:
            raise handle.refusal
        return handle

    async def transfer_many(
        self,
        lane: str,
        raws: Sequence[bytes | str],
        *,
        keys: Sequence[str | None] | None = None,
        valid_until_ms: int | None = None,
    ) -> list[Handle]:
        """Queue a batch of a rollup's transactions in one write, in this order."""
        accept = self.engine.submit_many
        answers = await self.transfers.submit_many(
            lane, raws, accept, keys=keys, valid_until_ms=valid_until_ms
        )
        return [self._followed(arrival, answer) for arrival, answer in answers]

    def _followed(self, arrival: Arrival, answer: Answer) -> Handle:
        """Several handles may be of one such intent, and none of them is told of its answer."""
        return taken(self, arrival, answer, Handle(self, arrival.id, arrival.lane, asks=True))

    def on_block(self, callback: Heard) -> None:
        """Hear what becomes of rollups' blocks: `callback(lane, tell)`, awaited if it is async,
        behind the builder's own commit. One that fails is called again; a tell keeps its id."""
        if self.rollup is None:
            raise BadRequest("on_block", "no rollup is configured here")
        self.rollup.on_block(callback)

    def check(self) -> None:
        """Raise what ended the engine, if anything did."""
        raise NotImplementedError
