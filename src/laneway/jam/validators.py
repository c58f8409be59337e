"""Who votes now and who votes next: sets of keys, moved on by the epoch marks of final headers.

The mark in the first block of an epoch names the validators of the epoch after it. The block that
carries it is made final by the old set; the change counts from there on. An epoch in which no block
was made has no mark and no set. Marks of blocks that are not final change nothing.
"""

from collections.abc import Sequence

import msgspec

from laneway.jam.errors import FinalityWentBack
from laneway.jam.header import EpochMark, Header
from laneway.jam.spec import ChainSpec
from laneway.jam.votes import Fragment, Target, verify_justification


class ValidatorSets(msgspec.Struct, frozen=True, kw_only=True):
    """What a light client trusts: the Ed25519 keys of two sets, and how far finality has come."""

    set_id: int
    """How often the set has changed since genesis."""
    current_keys: tuple[bytes, ...]
    next_keys: tuple[bytes, ...]
    slot: int
    """The slot of the last final header that was applied."""


def genesis_sets(mark: EpochMark) -> ValidatorSets:
    """As a chain starts: the mark of its genesis header names the set of the first two epochs."""
    keys = marked_keys(mark)
    return ValidatorSets(set_id=0, current_keys=keys, next_keys=keys, slot=0)


def marked_keys(mark: EpochMark) -> tuple[bytes, ...]:
    return tuple(validator.ed25519 for validator in mark.validators)


def advanced(sets: ValidatorSets, header: Header) -> ValidatorSets:
    """The sets after a header became final.

    Every final header with a mark must come by, in the order of the chain: a missed one would
    leave the wrong set in force, whose id then fits no justification."""
    if header.slot <= sets.slot:
        raise FinalityWentBack(slot=header.slot, final=sets.slot)
    if header.epoch_mark is None:
        return msgspec.structs.replace(sets, slot=header.slot)
    return ValidatorSets(
        set_id=sets.set_id + 1,
        current_keys=sets.next_keys,
        next_keys=marked_keys(header.epoch_mark),
        slot=header.slot,
    )


def finalised(
    sets: ValidatorSets, fragment: Fragment, spec: ChainSpec
) -> tuple[ValidatorSets, Target]:
    """The sets after a header that its justification proves final, and what was proven of it."""
    target = verify_justification(
        fragment.justification,
        fragment.header,
        set_id=sets.set_id,
        keys=sets.current_keys,
        spec=spec,
    )
    return advanced(sets, fragment.header), target


def warped(sets: ValidatorSets, fragments: Sequence[Fragment], spec: ChainSpec) -> ValidatorSets:
    """The sets after a sequence of fragments of CE 153: one for each change of set."""
    for fragment in fragments:
        sets, _ = finalised(sets, fragment, spec)
    return sets
