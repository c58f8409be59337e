"""One rollup's builder: executes blocks on chained snapshots, and makes packages of them.

It implements `RollupBuilder` for any kind of rollup. A thread of its own does all that takes time,
so one thing is done after the other, and an order that is given up in the middle disturbs nothing.
What it keeps is named by its content: an order that comes twice, or after a crash, or to another
builder, has the same answer.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    aclosing,
    asynccontextmanager,
    nullcontext,
    suppress,
)

from laneway.builder.blocks import KeptBlocks
from laneway.builder.execution import PastUnknown, check_others, refuses
from laneway.builder.following import Follower
from laneway.builder.history import TROUBLE, PastReader
from laneway.builder.limits import BUILD_S_MAX, CLOSE_S_MAX, FOLLOW_MS_DEFAULT, STATE_BLOCKS_DEFAULT
from laneway.builder.opening import BuilderParts
from laneway.builder.orders import Orders, guarded
from laneway.builder.recall import recalled
from laneway.builder.replays import Replays
from laneway.builder.shelf import ahead, other_history
from laneway.builder.snapshots import Snapshot
from laneway.builder.sync import FinalHead, FoundBlock
from laneway.builder.thread import BuilderThread
from laneway.core.errors import BuildFailed, ChainError
from laneway.core.jam import Context
from laneway.lanes.bundle.rows import Tell
from laneway.lanes.bundle.values import BuildBlock, BuildVersion
from laneway.ports import ExecutedBlock, MadePackage
from laneway.rollups.rules import B, S, SealedBlock

log = logging.getLogger("laneway.builder")

ACTED_ON = ("accumulated", "restored", "failed", "finalised")
"""Of the notifications of a lane, those that change snapshots; all others are passed over."""


class ChainedBuilder(KeptBlocks[S, B]):
    def __init__(
        self,
        parts: BuilderParts[S, B],
        *,
        latest_is_safe: bool = False,
        slot_ms: int = FOLLOW_MS_DEFAULT,
        build_s_max: float = BUILD_S_MAX,
        state_blocks: int = STATE_BLOCKS_DEFAULT,
    ) -> None:
        """`latest_is_safe`: the tag latest means what is accumulated, as seed 000 has it.
        `slot_ms`: how often the chain is asked while there are no orders. `build_s_max`: how long
        a block may take to execute before its order is at fault. `state_blocks`: final blocks
        between two states beside the file."""
        super().__init__(parts, BuilderThread(build_s_max), state_blocks)
        self.latest_is_safe = latest_is_safe
        self._source = parts.source
        self._turn = asyncio.Lock()
        thread = self._thread
        self._do, self._ruled, self._in_time = thread.do, thread.ruled, thread.in_time
        self.lag = "it was not compared with the chain yet"
        """Why the states here may be those of long ago; empty if all is here that was final when
        the chain was asked last, or an order showed it."""
        self._follower = Follower(self.catch_up, slot_ms)
        self._history = PastReader(self.rollup, self._shelf, self._source, self._ruled)
        self._reader = Follower(self._history.read_on, slot_ms, TROUBLE)
        self._orders: Orders[ExecutedBlock] = Orders()
        self._replays = Replays(self.rollup, thread)

    # What a lane orders.

    async def execute(self, order: BuildBlock) -> ExecutedBlock:
        """An order that its lane gave up waiting for is carried out all the same, and not again
        when it is repeated."""
        return await self._orders.once(order, lambda: self._execute(order))

    async def _execute(self, order: BuildBlock) -> ExecutedBlock:
        async with self._ordered():
            parent = await self._ground(order.parent, order.below)
            if parent.sealed.number + 1 != order.number:
                problem = f"block {order.number} is ordered, and below it is {parent.sealed.number}"
                raise BuildFailed(f"{problem}; the lane sees that with its next look")
            if order.expired:
                await self._check_others(parent)
            try:
                done, made = await self._judged(order, parent)
            except BuildFailed as error:
                if error.final:
                    await self._check_others(parent)
                raise
            if refuses(done.judged):
                await self._check_others(parent)
            # Only now: a block that nobody waited for leaves no trace.
            await self._ruled(lambda: self._keep(parent, done, made))
            self.lag = ""  # The lane's newest block is here.
            return done

    async def _judged(
        self, order: BuildBlock, parent: Snapshot[S, B]
    ) -> tuple[ExecutedBlock, Snapshot[S, B] | None]:
        try:
            return await self._in_time(lambda: self._executed(order, parent))
        except PastUnknown as unknown:
            await self._history.reach(unknown.first)
            return await self._in_time(lambda: self._executed(order, parent))

    async def _check_others(self, parent: Snapshot[S, B]) -> None:
        """Runs on the event loop, because the builder's thread may be busy with rules that never
        return; whatever changes snapshots has its turn before and after."""
        check_others(self._snapshots, parent, await self._source.best())

    async def package(self, order: BuildVersion, context: Context) -> MadePackage:
        async with self._ordered():
            block, sealed = await self._do(lambda: guarded(lambda: self._decoded(order.payload)))
            if sealed.hash != order.block:
                raise BuildFailed("the payload is that of another block", final=True)
            if await self._do(lambda: self._is_final(sealed.hash)):
                raise BuildFailed(f"block {sealed.number} is final, and needs no package any more")
            parent = await self._ground(sealed.parent, order.below)
            try:
                made, again = await self._in_time(
                    lambda: self._packed(order, parent, block, context)
                )
            except BuildFailed as error:
                if error.final:
                    await self._check_others(parent)
                if error.final and not error.needs_help:
                    await self._do(lambda: self._leave(sealed.hash, sealed.parent))
                raise
            if again is not None:
                await self._ruled(lambda: self._keep_again(again, order.payload))
            return made

    async def notified(self, tells: Sequence[Tell]) -> None:
        acted_on = [tell for tell in tells if tell.word in ACTED_ON]
        if not acted_on:
            return  # Where a block is on its way changes no snapshot, and waits for no order.
        async with self._ordered():
            for tell in acted_on:
                if not await self._ruled(lambda tell=tell: self._apply(tell)):  # type: ignore[misc]
                    await self._sync_final(tell)

    async def aclose(self) -> None:
        """Wait up to `CLOSE_S_MAX` for the current job, and close without it then: rules that never
        return keep no process from ending, and all that counts is in the lane's rows."""
        await self._follower.stop()
        await self._reader.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S_MAX):
                await self._orders.stop()
                async with self._turn:
                    pass
        if not self._thread.is_closed and not await self._thread.close(self._close, CLOSE_S_MAX):
            log.warning("The builder is closed while it executes something that does not end")
            await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._keeper.close()
        self._shelf.close()

    @asynccontextmanager
    async def _ordered(self) -> AsyncIterator[None]:
        async with self._turn:
            self._follower.ordered()
            try:
                yield
            finally:
                self._follower.ordered()

    # What is done without an order.

    async def follow(self) -> None:
        """Read what is final now, and from then on whatever becomes final while there are no
        orders. Trouble does not end it: `lag` has it, and it is tried again."""
        await self._follower.attempt()
        self._follower.start()
        self._reader.start()

    async def caught_up(self) -> bool:
        """Whether all that is final is here, if that can be done at once."""
        return await self._follower.attempt()

    async def catch_up(self) -> None:
        """Read what is final and not here. Orders go before: they wait for one block at most."""
        try:
            final = await self._source.final()
        except (BuildFailed, ChainError) as error:
            # What was up to date a slot ago counts as that until the chain answers.
            self.lag = str(error) if self.lag else ""
            raise
        base = await self._base()
        if base.number > final.head.number and not self.lag:
            return  # The node is behind, which proves nothing.
        try:
            if base.number > final.head.number:
                raise BuildFailed(ahead(self._shelf.path, base.number, final.head.number))
            while base.number < final.head.number:
                try:
                    await self._read_up(final, base.number + 1)
                except BuildFailed as problem:
                    await self._recall(problem, final, self._turn)
                base = await self._base()
            if base.number == final.head.number and base.hash != final.head.block:
                raise BuildFailed(other_history(self._shelf.path, base.number), needs_help=True)
        except (BuildFailed, ChainError) as error:
            self.lag = str(error)
            raise
        await self._do(lambda: self._keeper.offer(self._snapshots.base))
        self.lag = ""  # Last: nothing is awaited between this and the line in the log.

    async def _base(self) -> SealedBlock:
        return await self._do(lambda: self._snapshots.base.sealed)

    async def _read_up(self, final: FinalHead, number: int) -> None:
        """From this block on, until an order moves the base, too."""
        self.lag = f"it reads blocks {number} to {final.head.number} from the chain"
        async with aclosing(self._source.pages(self.rollup, final, number, self._has)) as pages:
            async for page in pages:
                for found in page:
                    if not await self._put_next(number, found):
                        return
                    number += 1

    async def _put_next(self, number: int, found: FoundBlock[B]) -> bool:
        """Whether this was the next block, and is the base now. An order may have moved the base
        since it was read, or taken away what was here then."""
        async with self._turn:
            if (await self._base()).number != number - 1:
                return False
            await self._catch_up_with(found)
            return (await self._base()).number == number

    async def _catch_up_with(self, found: FoundBlock[B]) -> None:
        """The next final block. Nothing else changes the base meanwhile: who asks has the turn."""
        block, made = found.block, None
        if block is not None:
            base, sealed = await self._ruled(lambda: self._grounded(block))
            made = await self._replays.made(base, sealed, block)
        await self._ruled(lambda: self._caught_up(found, made))

    # The states below a block. These wait for the chain.

    async def _snapshot_of(self, parent: bytes, below: Sequence[bytes]) -> Snapshot[S, B]:
        """The snapshot of a block: as it is here, or made from the payloads of the open blocks up
        to it, or from the chain."""
        if not parent:
            return await self._service_head()
        found = await self._remade(parent, below)
        if found is None:
            await self._sync(await self._source.final())
            found = await self._remade(parent, below)
        if found is None:
            number = self._snapshots.base.sealed.number
            if await self._do(lambda: self._is_final(parent)):
                problem = "the block below is final, and so are others on it"
            else:
                problem = f"block {parent.hex()} below is neither open nor final"
            raise BuildFailed(
                f"{problem}, as the chain is now, and the newest final block is {number}; "
                f"{BuildFailed.REMEDY}"
            )
        return found

    async def _remade(self, parent: bytes, below: Sequence[bytes]) -> Snapshot[S, B] | None:
        """The snapshot of the block with this hash; None if the lowest of these blocks does not
        stand on anything that is here."""
        if not await self._do(lambda: self._has(parent)):
            for payload in below:
                if not await self._put_again(payload):
                    return None
        return await self._do(lambda: self._snapshots.get(parent))

    async def _put_again(self, payload: bytes) -> bool:
        """Make the snapshot of an open block that is not here; false if it stands on nothing."""
        missing = await self._ruled(lambda: self._missing(payload))
        if missing is None:
            return True
        block, sealed, ground = missing
        if ground is None:
            return False
        made = await self._replays.made(ground, sealed, block)
        await self._ruled(lambda: self._keep_again(made, payload))
        return True

    async def _ground(self, parent: bytes, below: Sequence[bytes]) -> Snapshot[S, B]:
        """The snapshot of a parent. That it cannot be had is never the fault of what is ordered on
        it."""
        try:
            return await self._snapshot_of(parent, below)
        except BuildFailed as error:
            raise BuildFailed(str(error), needs_help=error.needs_help) from error

    async def _service_head(self) -> Snapshot[S, B]:
        """What the service has, if nobody can take it back."""
        final = await self._source.final()
        best = await self._source.best()
        if best.block != final.head.block:
            raise BuildFailed(
                f"the service has block {best.number}, which is not from here, and final is "
                f"{final.head.number}; stop the other deployment that builds on it, or wait"
            )
        await self._sync(final)
        return self._snapshots.base

    async def _sync(self, final: FinalHead) -> None:
        """Move the base up to the service's final head."""
        base = await self._base()
        if final.head.number < base.number:
            raise BuildFailed(ahead(self._shelf.path, base.number, final.head.number))
        try:
            await self._read_all(final)
        except BuildFailed as problem:
            await self._recall(problem, final, nullcontext())
            await self._read_all(final)
        if self._snapshots.base.sealed.hash != final.head.block:
            raise BuildFailed(other_history(self._shelf.path, final.head.number), needs_help=True)
        self.lag = ""

    async def _read_all(self, final: FinalHead) -> None:
        base = await self._base()
        async for page in self._source.pages(self.rollup, final, base.number + 1, self._has):
            for found in page:
                await self._catch_up_with(found)

    async def _recall(
        self, problem: BuildFailed, final: FinalHead, turn: AbstractAsyncContextManager[None]
    ) -> None:
        """Go on from a state beside the file where no node has the next block any more, and the
        file's own block is the chain's. If there is none, the problem is raised."""
        base = await self._base()
        found = None
        if problem.needs_help and await self._source.is_on_line(final.at, base):
            least = base.number + 1
            found = await recalled(self.rollup, self._shelf, self._source, least=least)
        if found is None:
            raise problem
        async with turn:
            await self._ruled(lambda: self._begin(found))

    async def _sync_final(self, tell: Tell) -> None:
        """Read a final block that is not known here from the chain."""
        await self._sync(await self._source.final())
        if self._snapshots.base.sealed.number < tell.number:
            raise BuildFailed(f"block {tell.number} is final, and no node that was asked has it so")
