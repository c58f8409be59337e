"""Which validators guarantee for which core, at a slot (Gray Paper, section 11.3), and the shuffle
that decides it (appendix F): the same hash gives the same order everywhere.

It knows validators by their places and Ed25519 keys. It does not judge a guarantee: whether the
signatures hold, and whether the core is free, is asked elsewhere.
"""

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

import msgspec

from laneway.jam.ed25519 import ZERO_KEY
from laneway.jam.hashing import HASH_BYTES, blake2b
from laneway.jam.limits import SHUFFLES_KEPT_MAX
from laneway.jam.spec import ChainSpec


class ValidatorStanding(msgspec.Struct, frozen=True, kw_only=True):
    """What a block's posterior state says of its validators."""

    entropy: tuple[bytes, ...]
    """η′: of now, and as it stood at the last three changes of epoch."""
    active: tuple[bytes, ...]
    """κ′: the Ed25519 keys of this epoch's validators."""
    previous: tuple[bytes, ...]
    """λ′: of the epoch before."""
    offenders: tuple[bytes, ...] = ()
    """ψ′_O: keys whose holders were found to have judged or guaranteed falsely."""


class Guarantors(msgspec.Struct, frozen=True):
    """The validators of one rotation, each in its place."""

    cores: tuple[int, ...]
    """The core of each validator."""
    keys: tuple[bytes, ...]
    """The key of each validator; zero for an offender."""


def assignment(entropy: bytes, slot: int, spec: ChainSpec) -> tuple[int, ...]:
    """P: the core of each validator, in the rotation of the slot."""
    turned = slot % spec.epoch_slots // spec.rotation_slots
    cores = _shuffled_cores(entropy, spec.validator_count, spec.core_count)
    return tuple((core + turned) % spec.core_count for core in cores)


@lru_cache(SHUFFLES_KEPT_MAX)
def _shuffled_cores(entropy: bytes, validator_count: int, core_count: int) -> tuple[int, ...]:
    places = range(validator_count)
    return shuffled([core_count * place // validator_count for place in places], entropy)


def current_guarantors(standing: ValidatorStanding, slot: int, spec: ChainSpec) -> Guarantors:
    """G: as assigned in the rotation of a block at this slot."""
    cores = assignment(standing.entropy[2], slot, spec)
    return Guarantors(cores, without_offenders(standing.active, standing.offenders))


def previous_guarantors(standing: ValidatorStanding, slot: int, spec: ChainSpec) -> Guarantors:
    """G*: as assigned one rotation earlier, which may lie in the epoch before."""
    earlier = slot - spec.rotation_slots
    if earlier // spec.epoch_slots == slot // spec.epoch_slots:
        entropy, keys = standing.entropy[2], standing.active
    else:
        entropy, keys = standing.entropy[3], standing.previous
    cores = assignment(entropy, earlier, spec)
    return Guarantors(cores, without_offenders(keys, standing.offenders))


def guarantors_for(
    standing: ValidatorStanding, slot: int, guarantee_slot: int, spec: ChainSpec
) -> Guarantors:
    """Those who may sign a guarantee of one slot for a block at another.

    The guarantee's slot must be one of `guarantee_slots`: for others there is no answer."""
    assert guarantee_slot in guarantee_slots(slot, spec)
    if guarantee_slot // spec.rotation_slots == slot // spec.rotation_slots:
        return current_guarantors(standing, slot, spec)
    return previous_guarantors(standing, slot, spec)


def guarantee_slots(slot: int, spec: ChainSpec) -> range:
    """The slots that a guarantee in a block may name: of its rotation so far and the one before."""
    oldest = (slot // spec.rotation_slots - 1) * spec.rotation_slots
    return range(max(oldest, 0), slot + 1)


def without_offenders(keys: tuple[bytes, ...], offenders: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Φ: the keys, with zero in the place of each offender's."""
    if not offenders:
        return keys
    banned = frozenset(offenders)
    return tuple(ZERO_KEY if key in banned else key for key in keys)


T = TypeVar("T")

DRAWS_PER_HASH = HASH_BYTES // 4


def shuffled(items: Sequence[T], entropy: bytes) -> tuple[T, ...]:
    """The items in the order that the entropy gives them."""
    left = list(items)
    drawn: list[T] = []
    for draw in draws(entropy, len(left)):
        at = draw % len(left)
        drawn.append(left[at])
        # The last takes the place of the drawn one; when they are the same, it just goes.
        last = left.pop()
        if at < len(left):
            left[at] = last
    return tuple(drawn)


def draws(entropy: bytes, count: int) -> list[int]:
    """`count` numbers of 32 bits, eight from each hash (Q)."""
    assert len(entropy) == HASH_BYTES
    found: list[int] = []
    for place in range((count + DRAWS_PER_HASH - 1) // DRAWS_PER_HASH):
        found += struct.unpack("<8I", blake2b(entropy + place.to_bytes(4, "little")))
    return found[:count]
