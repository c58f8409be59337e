"""Which block has its effect: claims come in any order and any number, and go into one line.

A chain knows neither blocks of a rollup nor versions of a package. Packages accumulate as they
come, so their service alone can say that no block has an effect twice and that none comes before
its parent. This is what every kind of rollup does at accumulation; a kind adds records of its own.

For each work item exactly one row is true, and the first that applies is it:

| | the item | comes to |
|---|---|---|
| a | is by an authorizer that may not move the line | refused, NOT_AUTHORISED |
| b | has no output | refused, REFINE_FAILED |
| c | begins with no claim | refused, MALFORMED_CLAIM |
| d | has too little gas | refused, GAS_TOO_LOW |
| e | is for a service without a genesis | refused, NOT_STARTED |
| f | is of a package that brought a block | refused, PACKAGE_SPENT |
| g | is a block that was applied | refused, SAME_BLOCK_APPLIED |
| h | has a number that is not above the head's | refused, OTHER_BLOCK_APPLIED |
| i | is next and on the head | applied, and after it those that waited for it |
| j | is next and on another block | refused, WRONG_PARENT |
| k | is too far ahead | refused, TOO_EARLY |
| l | is a block that is held | refused, SAME_BLOCK_HELD |
| m | is one of too many rivals | refused, NO_ROOM |
| n | is early | held |

A held block whose parent is applied goes through the rows f, i and j again; where another of its
number is applied first it is refused by g or h. One that waited too long is refused as EXPIRED when
its number is touched next.

Row a comes before all others, since each of those keeps something: strangers could bring refusals
in any number and push the rollup's own out of their ring, and strangers' early blocks would take
the places of a number. A stranger's refusal is written down all the same, in a small ring of its
own (`STRANGERS`): a lane that names the wrong authorizer has to read why none of its blocks lands.

Which of the held rivals is junk cannot be seen before their parent is there. A held block is at
least two above the head, and its ancestor right above the head is neither applied nor held, because
such a block is applied or refused at once. So every held block stands on something unseen, made up
or not, and no rule about parents can prefer one of them: none is tried. Where every authorizer may
move the line, strangers can keep early blocks out. They cannot stop the line: the next block on the
head needs no place.
"""

from enum import Enum
from typing import TypeAlias, assert_never

import msgspec

from laneway.jam.codec import U64
from laneway.jam.errors import MalformedEncoding
from laneway.jam.hashing import keccak
from laneway.jam.mmr import super_peak
from laneway.jam.report import Ok, WorkError
from laneway.jam.service.commitment import (
    HEAD_KEY,
    PEAKS,
    PEAKS_KEY,
    REFUSALS,
    STRANGERS,
    RefusalRing,
    authorizers_of,
    block_key,
    block_of,
    grown,
    head_of,
    may_move,
    number_of,
    package_key,
    peaks_of,
    refusal_count_of,
    refusal_key,
    refusal_of,
    refused_at,
    ring_key,
    ring_of,
    rivals_key,
    rivals_of,
    slot_max_of,
)
from laneway.jam.service.interface import Accumulation, Operand, Overlay, StorageView, Writes
from laneway.jam.service.limits import (
    EARLY_COUNT_MAX,
    OPERAND_GAS,
    RIVAL_COUNT_MAX,
)
from laneway.jam.service.values import (
    BLOCK_RECORD,
    CLAIMED,
    HEAD,
    REFUSAL,
    RIVALS,
    AppliedBlock,
    HeldBlock,
    NoEffectReason,
    ServiceHead,
    ServiceRefusal,
)


class BlockRefused(msgspec.Struct, frozen=True):
    package_hash: bytes
    refusal: ServiceRefusal


class Sequenced(msgspec.Struct, frozen=True, kw_only=True):
    """What an accumulation came to; what is neither applied nor refused is held."""

    writes: Writes = ()
    yield_hash: bytes | None = None
    """The super-peak, when a block was applied."""
    applied: tuple[HeldBlock, ...] = ()
    """In the order of their numbers, for what a kind of rollup writes beside."""
    refused: tuple[BlockRefused, ...] = ()
    gas_used: int = 0


class _Step(Enum):
    """What may become of a block that is not refused."""

    APPLY = "apply"
    HOLD = "hold"


_Verdict: TypeAlias = _Step | NoEffectReason

RINGS = (REFUSALS, STRANGERS)


def sequence(view: StorageView, operands: tuple[Operand, ...], slot: int) -> Sequenced:
    """Put what accumulates in this slot into the line, in the order of the operands."""
    turn = _Turn(view, slot)
    for operand in operands:
        turn.take(operand)
    return turn.close(len(operands) * OPERAND_GAS)


def accumulate(view: StorageView, operands: tuple[Operand, ...], slot: int) -> Accumulation:
    """The accumulation of a rollup that adds no records of its own: the head's record has the root
    of its newest state."""
    done = sequence(view, operands, slot)
    return Accumulation(writes=done.writes, yield_hash=done.yield_hash, gas_used=done.gas_used)


class _Turn:
    """One accumulation under way."""

    def __init__(self, view: StorageView, slot: int) -> None:
        self._storage = Overlay(view)
        self._slot = slot
        self._head = head_of(view)
        self._peaks = peaks_of(view)
        self._authorizers = authorizers_of(view)
        self._refusal_counts = {ring: refusal_count_of(view, ring) for ring in RINGS}
        self._applied: list[HeldBlock] = []
        self._refused: list[BlockRefused] = []

    def take(self, operand: Operand) -> None:
        if not may_move(self._authorizers, operand.authorizer_hash):
            self._refuse(operand.package_hash, 0, NoEffectReason.NOT_AUTHORISED)
            return
        match operand.result:
            case Ok(output=output):
                self._take_output(operand, output)
            case WorkError():
                self._refuse(operand.package_hash, 0, NoEffectReason.REFINE_FAILED)
            case _:
                assert_never(operand.result)

    def close(self, gas_used: int) -> Sequenced:
        for ring in {ring_of(one.refusal.reason): None for one in self._refused}:
            self._storage.write(ring.count_key, U64.encode(self._refusal_counts[ring]))
        yield_hash = None
        if self._applied:
            assert self._head is not None
            self._storage.write(HEAD_KEY, HEAD.encode(self._head))
            self._storage.write(PEAKS_KEY, PEAKS.encode(self._peaks))
            yield_hash = super_peak(self._peaks, keccak)
        return Sequenced(
            writes=self._storage.writes(),
            yield_hash=yield_hash,
            applied=tuple(self._applied),
            refused=tuple(self._refused),
            gas_used=gas_used,
        )

    def _take_output(self, operand: Operand, output: bytes) -> None:
        try:
            claimed = CLAIMED.decode(output, "claim")
        except MalformedEncoding:
            self._refuse(operand.package_hash, 0, NoEffectReason.MALFORMED_CLAIM)
            return
        arrival = HeldBlock(
            package_hash=operand.package_hash,
            exports_root=operand.exports_root,
            slot=self._slot,
            claim=claimed.claim,
            tail=claimed.tail,
        )
        if operand.gas < OPERAND_GAS:
            self._refuse(arrival.package_hash, arrival.claim.number, NoEffectReason.GAS_TOO_LOW)
        elif self._settle(arrival):
            while self._settle_waiting():
                pass

    def _settle(self, arrival: HeldBlock) -> bool:
        """Give the block its place; whether it was applied."""
        verdict = self._verdict(arrival)
        if verdict is _Step.APPLY:
            self._apply(arrival)
            return True
        if verdict is _Step.HOLD:
            number = arrival.claim.number
            rivals = (*self._alive(number), arrival)
            self._storage.write(rivals_key(number), RIVALS.encode(rivals))
        else:
            self._refuse(arrival.package_hash, arrival.claim.number, verdict)
        return False

    def _settle_waiting(self) -> bool:
        """Decide on the blocks that waited for the head, the first that came first; whether one of
        them is the new head. The others can never be applied any more."""
        assert self._head is not None
        number = self._head.number + 1
        rivals = self._alive(number)
        self._storage.write(rivals_key(number), None)
        applied = 0
        for rival in rivals:
            applied += self._settle(rival)
        return applied > 0

    def _verdict(self, arrival: HeldBlock) -> _Verdict:
        """The rows e to n."""
        claim, head = arrival.claim, self._head
        if head is None:
            return NoEffectReason.NOT_STARTED
        if number_of(self._storage, arrival.package_hash) is not None:
            return NoEffectReason.PACKAGE_SPENT
        if claim.number <= head.number:
            there = block_of(self._storage, claim.number)
            is_same = there is not None and there.block == claim.block
            return (
                NoEffectReason.SAME_BLOCK_APPLIED if is_same else NoEffectReason.OTHER_BLOCK_APPLIED
            )
        if claim.number == head.number + 1:
            # The roots are compared too: a block hash that left them out would not be the end.
            is_next = (claim.parent, claim.pre_root) == (head.block, head.state_root)
            return _Step.APPLY if is_next else NoEffectReason.WRONG_PARENT
        if claim.number > head.number + 1 + EARLY_COUNT_MAX:
            return NoEffectReason.TOO_EARLY
        return self._room(arrival)

    def _room(self, arrival: HeldBlock) -> _Verdict:
        """The rows l to n."""
        rivals = self._alive(arrival.claim.number)
        if any(rival.claim == arrival.claim for rival in rivals):
            return NoEffectReason.SAME_BLOCK_HELD
        return NoEffectReason.NO_ROOM if len(rivals) >= RIVAL_COUNT_MAX else _Step.HOLD

    def _alive(self, number: int) -> tuple[HeldBlock, ...]:
        """The held blocks of a number, after those are refused whose time has passed."""
        rivals = rivals_of(self._storage, number)
        alive = tuple(rival for rival in rivals if self._slot <= slot_max_of(rival))
        if len(alive) < len(rivals):
            self._storage.write(rivals_key(number), RIVALS.encode(alive) if alive else None)
            for rival in rivals:
                if rival not in alive:
                    self._refuse(rival.package_hash, number, NoEffectReason.EXPIRED)
        return alive

    def _apply(self, block: HeldBlock) -> None:
        """The only place where a block has its effect."""
        claim = block.claim
        record = AppliedBlock(
            package_hash=block.package_hash,
            exports_root=block.exports_root,
            block=claim.block,
            slot=self._slot,
        )
        self._storage.write(block_key(claim.number), BLOCK_RECORD.encode(record))
        self._storage.write(package_key(block.package_hash), U64.encode(claim.number))
        self._peaks = grown(self._peaks, claim.number, record)
        self._head = ServiceHead(
            number=claim.number, block=claim.block, state_root=claim.post_root, slot=self._slot
        )
        self._applied.append(block)

    def _refuse(self, package_hash: bytes, number: int, reason: NoEffectReason) -> None:
        ring = ring_of(reason)
        index = self._refusal_counts[ring]
        self._forget(index - ring.count_max, ring)
        refusal = ServiceRefusal(index=index, number=number, reason=reason, slot=self._slot)
        self._storage.write(refusal_key(package_hash), REFUSAL.encode(refusal))
        self._storage.write(ring_key(index, ring), package_hash)
        self._refusal_counts[ring] = index + 1
        self._refused.append(BlockRefused(package_hash, refusal))

    def _forget(self, index: int, ring: RefusalRing) -> None:
        """Make room in the ring, unless the package was refused again since. That was in the same
        ring: a package has one authorizer, and the service's list is that of its genesis."""
        package_hash = refused_at(self._storage, index, ring) if index >= 0 else None
        if package_hash is None:
            return
        newest = refusal_of(self._storage, package_hash)
        if newest is not None and newest.index == index:
            self._storage.write(refusal_key(package_hash), None)
