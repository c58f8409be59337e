"""What a rollup service commits to: leaf, yield, and the records in its storage, to the byte; and
where a package stands with its service, read from these records.

The yield is the super-peak of a Merkle mountain range with one leaf for each block that had its
effect, in the order of their numbers. The records under "b" and "w" never change, and are provable
under any later state root. Nothing here decides which block has an effect.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Final

import msgspec

from laneway.jam.codec import HASH, U32, U64, Codec, Many, Maybe
from laneway.jam.hashing import keccak
from laneway.jam.limits import PEAK_COUNT_MAX
from laneway.jam.mmr import EMPTY, Mmr, append
from laneway.jam.service.interface import StorageView
from laneway.jam.service.limits import (
    AUTHORIZER_COUNT_MAX,
    HELD_SLOTS_MAX,
    REFUSAL_COUNT_MAX,
    STRANGER_COUNT_MAX,
)
from laneway.jam.service.values import (
    BLOCK_RECORD,
    HEAD,
    REFUSAL,
    RIVALS,
    AppliedBlock,
    HeldBlock,
    NoEffectReason,
    ServiceHead,
    ServiceRefusal,
)

LEAF_TAG: Final = b"jamroll-block/1"

HEAD_KEY: Final = b"h"
PEAKS_KEY: Final = b"m"
AUTHORIZERS_KEY: Final = b"auth"
"""Under which stand the authorizers that may move the line. Longer than the other keys, so that it
is no key of a kind that was written before there was this one."""

PEAKS: Final[Codec[Mmr]] = Many(Maybe(HASH), PEAK_COUNT_MAX)
AUTHORIZERS: Final[Codec[tuple[bytes, ...]]] = Many(HASH, AUTHORIZER_COUNT_MAX)


class RefusalRing(msgspec.Struct, frozen=True):
    """The newest refusals of one sort, by which the oldest is found when it has to be forgotten."""

    count_key: bytes
    """Under which stands how many there ever were."""
    count_max: int
    """How many are remembered."""


REFUSALS: Final = RefusalRing(b"q", REFUSAL_COUNT_MAX)
"""Of packages whose authorizer may move the line."""
STRANGERS: Final = RefusalRing(b"u", STRANGER_COUNT_MAX)
"""Of all others. Anybody can bring those in any number, so they never take a place of the first:
what the rollup's own lane has to read stays for as long as if there were no strangers."""


def ring_of(reason: NoEffectReason) -> RefusalRing:
    return STRANGERS if reason is NoEffectReason.NOT_AUTHORISED else REFUSALS


def leaf(*, package_hash: bytes, exports_root: bytes, number: int, block: bytes) -> bytes:
    """The leaf of a block, formed anew by anyone who verifies it."""
    return keccak(LEAF_TAG + package_hash + exports_root + U64.encode(number) + block)


def grown(peaks: Mmr, number: int, record: AppliedBlock) -> Mmr:
    """The range with the leaf of this block."""
    found = leaf(
        package_hash=record.package_hash,
        exports_root=record.exports_root,
        number=number,
        block=record.block,
    )
    return append(peaks, found, keccak)


def block_key(number: int) -> bytes:
    """Under which stands what was applied as this block."""
    return b"b" + U64.encode(number)


def package_key(package_hash: bytes) -> bytes:
    """Under which stands the number of the block that the package brought."""
    return b"w" + package_hash


def rivals_key(number: int) -> bytes:
    """Under which stand the blocks of this number that wait for their parents."""
    return b"r" + U64.encode(number)


def refusal_key(package_hash: bytes) -> bytes:
    """Under which stands why the package came to nothing, while it is remembered."""
    return b"x" + package_hash


def ring_key(index: int, ring: RefusalRing = REFUSALS) -> bytes:
    """The key of the package with this number among the refused, until another takes its place."""
    return ring.count_key + U32.encode(index % ring.count_max)


def genesis_records(
    block: bytes, state_root: bytes, authorizers: Iterable[bytes] = ()
) -> dict[bytes, bytes]:
    """The storage of a service whose first block will be on this one, and whose line these
    authorizers may move, by their hashes; without any, all may."""
    head = ServiceHead(number=0, block=block, state_root=state_root, slot=0)
    return {
        HEAD_KEY: HEAD.encode(head),
        PEAKS_KEY: PEAKS.encode(EMPTY),
        **authorizer_records(authorizers),
    }


def authorizer_records(authorizers: Iterable[bytes]) -> dict[bytes, bytes]:
    """What a genesis has to hold besides so that these alone may move the line. Without any it is
    the genesis that services had before there was such a record."""
    listed = tuple(sorted(set(authorizers)))
    return {AUTHORIZERS_KEY: AUTHORIZERS.encode(listed)} if listed else {}


# What stands under the keys.


def head_of(view: StorageView) -> ServiceHead | None:
    raw = view.read(HEAD_KEY)
    return None if raw is None else HEAD.decode(raw, "head")


def peaks_of(view: StorageView) -> Mmr:
    raw = view.read(PEAKS_KEY)
    return EMPTY if raw is None else PEAKS.decode(raw, "peaks")


def block_of(view: StorageView, number: int) -> AppliedBlock | None:
    raw = view.read(block_key(number))
    return None if raw is None else BLOCK_RECORD.decode(raw, "block record")


def number_of(view: StorageView, package_hash: bytes) -> int | None:
    raw = view.read(package_key(package_hash))
    return None if raw is None else U64.decode(raw, "package record")


def rivals_of(view: StorageView, number: int) -> tuple[HeldBlock, ...]:
    raw = view.read(rivals_key(number))
    return () if raw is None else RIVALS.decode(raw, "held blocks")


def refusal_of(view: StorageView, package_hash: bytes) -> ServiceRefusal | None:
    raw = view.read(refusal_key(package_hash))
    return None if raw is None else REFUSAL.decode(raw, "refusal")


def refusal_count_of(view: StorageView, ring: RefusalRing = REFUSALS) -> int:
    """How many there ever were."""
    raw = view.read(ring.count_key)
    return 0 if raw is None else U64.decode(raw, "count of refusals")


def refused_at(view: StorageView, index: int, ring: RefusalRing = REFUSALS) -> bytes | None:
    """The package with this number among the refused, or one that took its place."""
    return view.read(ring_key(index, ring))


def authorizers_of(view: StorageView) -> tuple[bytes, ...]:
    """The authorizers that may move the line, by their hashes; empty if all may."""
    raw = view.read(AUTHORIZERS_KEY)
    return () if raw is None else AUTHORIZERS.decode(raw, "authorizers")


def may_move(authorizers: tuple[bytes, ...], authorizer_hash: bytes) -> bool:
    """Whether a package by this authorizer may move a line that these may move."""
    return not authorizers or authorizer_hash in authorizers


class Stand(Enum):
    APPLIED = "applied"
    HELD = "held"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    """It has not accumulated on this fork, or its refusal is no longer remembered."""


class ServiceStanding(msgspec.Struct, frozen=True, kw_only=True):
    stand: Stand
    number: int = 0
    reason: NoEffectReason | None = None
    """Why it was refused."""
    slot_max: int | None = None
    """The last slot in which the parent of a held block is in time."""


UNKNOWN = ServiceStanding(stand=Stand.UNKNOWN)


def standing_of(
    view: StorageView, package_hash: bytes, *, number: int, slot: int
) -> ServiceStanding:
    """What came of a package whose block claims this number, as seen after this slot's block.

    A package that brought a block is applied, whatever else was refused of it."""
    applied = number_of(view, package_hash)
    if applied is not None:
        return ServiceStanding(stand=Stand.APPLIED, number=applied)
    for held in rivals_of(view, number):
        if held.package_hash == package_hash:
            return _of_held(held, number, slot)
    refusal = refusal_of(view, package_hash)
    if refusal is None:
        return UNKNOWN
    return ServiceStanding(stand=Stand.REFUSED, number=refusal.number, reason=refusal.reason)


def slot_max_of(held: HeldBlock) -> int:
    """The last slot in which a held block can be applied."""
    return held.slot + HELD_SLOTS_MAX


def _of_held(held: HeldBlock, number: int, slot: int) -> ServiceStanding:
    """The record of an expired block stays until its number is touched; it is dead all the same."""
    if slot >= slot_max_of(held):
        return ServiceStanding(stand=Stand.REFUSED, number=number, reason=NoEffectReason.EXPIRED)
    return ServiceStanding(stand=Stand.HELD, number=number, slot_max=slot_max_of(held))
