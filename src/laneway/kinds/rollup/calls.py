"""The library's short forms for rollups: their transactions in, their blocks notified of."""

from collections.abc import Sequence
from typing import Any

from laneway.engine.bundle.rollup import BlockCallback
from laneway.kinds.handle import Handle
from laneway.kinds.rollup.served import RollupServed
from laneway.kinds.served import Calls


class RollupCalls(Calls):
    @property
    def rollups(self) -> RollupServed:
        return self._served(RollupServed)

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
        return await self.rollups.submit(lane, raw, key=key, valid_until_ms=valid_until_ms)

    async def transfer_many(
        self, /, lane: str, raws: Sequence[bytes | str], **options: Any
    ) -> list[Handle]:
        """Queue a batch of a rollup's transactions in one write, in this order."""
        return await self.rollups.submit_many(lane, raws, **options)

    def on_block(self, callback: BlockCallback) -> None:
        """Be notified of what becomes of rollups' blocks: `callback(lane, tell)`, awaited if it is
        async, after the builder's own commit. One that fails is called again, with
        the same id."""
        self.rollups.on_block(callback)
