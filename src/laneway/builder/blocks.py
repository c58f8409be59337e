"""What a builder keeps of its rollup's blocks: snapshots, its file and its pool.

Nothing here waits for anything but the disk. All of it is done in the builder's thread, one thing
after the other; others look at the heads alone, which are replaced when it is done.
"""

import logging

from laneway.builder.execution import answered, executed, replayed
from laneway.builder.final import final_blocks, is_below
from laneway.builder.keeping import StateKeeper
from laneway.builder.opening import BuilderParts
from laneway.builder.packages import packed, refine_context
from laneway.builder.pool import Pool
from laneway.builder.recall import RecalledState, begin
from laneway.builder.shelf import other_history
from laneway.builder.snapshots import Snapshot, Snapshots
from laneway.builder.sync import FoundBlock
from laneway.builder.thread import BuilderThread
from laneway.builder.views import BuilderViews, StateHeads
from laneway.core.errors import BadRequest, Bug, BuildFailed
from laneway.core.jam import Context
from laneway.lanes.bundle.rows import ExecutionVerdict, Tell
from laneway.lanes.bundle.values import BuildBlock, BuildVersion
from laneway.ports import ExecutedBlock, MadePackage
from laneway.rollups.receipts import BlockStage
from laneway.rollups.rules import B, S, SealedBlock

log = logging.getLogger("laneway.builder")


class KeptBlocks(BuilderViews[S, B]):
    def __init__(self, parts: BuilderParts[S, B], thread: BuilderThread, state_blocks: int) -> None:
        self.domain = parts.domain
        self.rollup = parts.rollup
        self._parts = parts
        self._thread = thread
        self._shelf = parts.shelf
        self._snapshots = parts.snapshots
        base = self._snapshots.base.sealed.number
        self._keeper = StateKeeper(self.rollup, self._shelf, base, blocks=state_blocks)
        self._tip = b""
        """The block that its lane built or built on last; empty before its first order. Of what is
        open beside that, a lane whose store was put back from a copy may know nothing."""
        self._settle()
        self.pool = Pool(self._checked)
        for snapshot in self._snapshots:
            is_canonical = self._snapshots.is_canonical(snapshot.sealed.hash)
            note = self.pool.removed if is_canonical else self.pool.built
            note(self._hashes(snapshot.block))

    def _decoded(self, payload: bytes) -> tuple[B, SealedBlock]:
        block = self.rollup.decode(payload)
        return block, self.rollup.sealed(block)

    def _has(self, block: bytes) -> bool:
        return self._snapshots.get(block) is not None

    def _executed(
        self, order: BuildBlock, parent: Snapshot[S, B]
    ) -> tuple[ExecutedBlock, Snapshot[S, B] | None]:
        """The answer, and the block with its state; None if nothing is in it."""
        if order.parent_root and order.parent_root != parent.sealed.post_root:
            problem = f"block {parent.sealed.number} left another state than is ordered"
            raise BuildFailed(f"{problem}; {BuildFailed.REMEDY}")
        final = self._snapshots.base.state
        done, judged = executed(self.rollup, self._shelf, order, parent, final)
        return answered(self.rollup, done, judged, parent)

    def _keep(
        self, parent: Snapshot[S, B], done: ExecutedBlock, made: Snapshot[S, B] | None
    ) -> None:
        refused = [one.hash for one in done.judged if one.verdict == ExecutionVerdict.REFUSED]
        self.pool.refused(refused)
        self._tip = (made or parent).sealed.hash
        if made is None:
            self._settle()
        else:
            self._put(made, done.payload)

    def _packed(
        self, order: BuildVersion, parent: Snapshot[S, B], block: B, context: Context
    ) -> tuple[MadePackage, Snapshot[S, B] | None]:
        """With the block's own snapshot if that is not here. Nothing is taken from an earlier
        version: it is proved and refined anew, and refining is executing all of it again."""
        again = None
        if not self._has(order.block):
            again = replayed(self.rollup, parent, block, final=True)
        work = self.rollup.work(parent.state, block)
        leaning = refine_context(context, order.prerequisites)
        made = packed(work, leaning, self._parts.authorizer, order.block)
        self.rollup.refine(block, work, leaning, made.package_hash)
        return made, again

    def _leave(self, block: bytes, parent: bytes) -> None:
        """No package can be made of this block, and its lane drops it with all that is built on it:
        it uses up no nonce at the door, from before its transactions are called refused."""
        if any(one.sealed.hash == block for one in self._snapshots.way(self._tip)):
            self._tip = parent
            self._settle()

    def _missing(self, payload: bytes) -> tuple[B, SealedBlock, Snapshot[S, B] | None] | None:
        """A block that is not here, and what it stands on, if that is here. None if the block is
        here, or below what is final."""
        block, sealed = self._decoded(payload)
        if self._has(sealed.hash) or is_below(self._shelf, self._snapshots.base.sealed, sealed):
            return None
        return block, sealed, self._snapshots.get(sealed.parent)

    def _keep_again(self, made: Snapshot[S, B], payload: bytes) -> None:
        """Keep the snapshot of a known block that was executed once more."""
        if made.sealed.parent == self._tip:
            self._tip = made.sealed.hash  # Another builder made it, and its lane goes on here.
        self._put(made, payload)

    def _put(self, snapshot: Snapshot[S, B], payload: bytes) -> None:
        """Write it to the file before anything else can see it."""
        self._snapshots.put(snapshot)
        self._shelf.put(snapshot.sealed, payload, self.rollup.outcomes(snapshot.block))
        hashes = self._hashes(snapshot.block)
        self.pool.built(hashes)
        if self._snapshots.is_canonical(snapshot.sealed.hash):
            # Its accumulation was notified before its state was here.
            package_hash = self._snapshots.package_of(snapshot.sealed.hash)
            self._shelf.set_stage(snapshot.sealed.hash, BlockStage.ACCUMULATED, package_hash)
            self.pool.removed(hashes)
        self._settle()

    def _grounded(self, block: B) -> tuple[Snapshot[S, B], SealedBlock]:
        """The base, on which this block of the chain is the next one."""
        base, sealed = self._snapshots.base, self.rollup.sealed(block)
        if sealed.parent != base.sealed.hash or sealed.pre_root != base.sealed.post_root:
            raise BuildFailed(other_history(self._shelf.path, base.sealed.number), needs_help=True)
        return base, sealed

    def _caught_up(self, found: FoundBlock[B], made: Snapshot[S, B] | None) -> None:
        """The next final block of the chain; without its snapshot if that is here."""
        if made is not None:
            self._snapshots.put(made)
        self._finalise(found.record.block, found.record.package_hash)

    def _begin(self, found: RecalledState[S, B]) -> None:
        """Go on from a state that is above the base. Open blocks come again with their orders."""
        if found.snapshot.sealed.number > self._snapshots.base.sealed.number:
            begin(self.rollup, self._shelf, found, keeps_final=True)
            self._snapshots = Snapshots(found.snapshot)
            self._settle()

    def _apply(self, tell: Tell) -> bool:
        """Carry a notification out. False if a final block is not known here and must be read."""
        if tell.word != "finalised" and self._is_final(tell.block):
            if tell.word == "accumulated":
                self._shelf.add_package(tell.block, tell.package_hash)
            return True  # A repeated notification that comes too late.
        match tell.word:
            case "accumulated":
                self._accumulated(tell)
            case "restored":
                self._snapshots.restore(tell.block)
                self._shelf.set_stage(tell.block, BlockStage.BUILT)
                self.pool.restored(tell.hashes)
            case "failed":
                self._failed(tell)
            case "finalised":
                return self._finalise(tell.block, tell.package_hash)
            case _:
                raise Bug(f"no notification of a block is called {tell.word}")
        self._settle()
        return True

    def _accumulated(self, tell: Tell) -> None:
        self._snapshots.commit(tell.block, tell.package_hash)
        self._shelf.set_stage(tell.block, BlockStage.ACCUMULATED, tell.package_hash)
        count = self.pool.removed(tell.hashes)
        line = "Removing accumulated transactions from txpool block=%d count=%d wpHash=%s"
        log.debug(line, tell.number, count, tell.package_hash.hex())

    def _failed(self, tell: Tell) -> None:
        """Drop the failed block, and every block that was built on it."""
        gone = self._snapshots.invalidate(tell.block)
        self._shelf.drop([tell.block, *(one.sealed.hash for one in gone)])
        self.pool.returned(tell.hashes)
        for one in gone:
            self.pool.returned(self._hashes(one.block))

    def _finalise(self, block: bytes, package_hash: bytes) -> bool:
        """Whether it is final now, or was before."""
        way = self._snapshots.way(block)
        if not way:
            self._shelf.add_package(block, package_hash)
            return self._is_final(block)
        # The file first: a write that fails leaves all as it was, and is made again.
        self._shelf.finalise(final_blocks(self.rollup, way, package_hash))
        self._snapshots.finalise(block)
        for one in way:
            self.pool.forget(self._hashes(one.block))
        self._settle()
        self._keeper.offer(self._snapshots.base)
        return True

    def _is_final(self, block: bytes) -> bool:
        if block == self._snapshots.base.sealed.hash:
            return True
        found = self._shelf.by_hash(block)
        return found is not None and found.stage == BlockStage.FINAL

    def _hashes(self, block: B) -> list[bytes]:
        return [one.hash for one in self.rollup.outcomes(block)]

    def _checked(self, raw: bytes) -> bytes:
        """The hash of a transaction that may enter the pool. One that is known passes: only its
        idempotency key decides whether it is a second one."""
        hashed = self.rollup.checked(raw)
        if not self.pool.is_known(hashed):
            problem = self.rollup.stale(raw, self.heads.ordered.state)
            if problem:
                raise BadRequest("transaction", problem)
        return hashed

    def _settle(self) -> None:
        """Replace the heads. The thread changes the snapshots; readers look at the heads alone."""
        known = self._snapshots
        tip = known.get(self._tip)
        self.heads = StateHeads(
            newest=tip or known.newest(),
            accumulated=known.accumulated(),
            final=known.base,
            ordered=tip or known.base,
        )
