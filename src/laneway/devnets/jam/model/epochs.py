"""What a block's slot alone changes: entropy, and in an epoch's first block who validates.

This is Safrole (Gray Paper 0.7.2, section 6) without tickets: every epoch is sealed by the fallback
keys, which are drawn from the entropy as the paper says. Who is staged for the epoch after the next
is a privileged service's to say on a real chain, and here the keyring's.
"""

from typing import TypeAlias

from laneway.devnets.jam.model.keyring import Keyring
from laneway.devnets.jam.model.state import Era
from laneway.jam.codec import U32
from laneway.jam.hashing import blake2b
from laneway.jam.header import EpochMark, EpochMarkValidatorKeys
from laneway.jam.spec import ChainSpec
from laneway.jam.state import FallbackSeals, Hashes, Safrole, ValidatorKeys

Validators: TypeAlias = tuple[ValidatorKeys, ...]


def is_first_of_epoch(slot_before: int, slot: int, spec: ChainSpec) -> bool:
    return slot // spec.epoch_slots > slot_before // spec.epoch_slots


def first_era(keyring: Keyring, entropy: Hashes, spec: ChainSpec) -> Era:
    """The era in which a chain begins: one set for the first two epochs."""
    first = keyring.set_after(0)
    return _era(0, (first, first, first), entropy, keyring, spec)


def next_era(era: Era, entropy: Hashes, keyring: Keyring, spec: ChainSpec) -> Era:
    """The era of a new epoch; `entropy` is η′, in which that of the old epochs has moved on."""
    sets = (era.staged, era.safrole.pending, era.active)
    return _era(era.turns + 1, sets, entropy, keyring, spec)


def turned(entropy: Hashes) -> Hashes:
    """η′ at a change of epoch, before the block's own draw is added."""
    return (entropy[0], entropy[0], entropy[1], entropy[2])


def drawn(entropy: Hashes, draw: bytes) -> Hashes:
    """η′ with the draw of the block's author."""
    return (blake2b(entropy[0] + draw), *entropy[1:])


def epoch_mark(entropy_before: Hashes, era: Era) -> EpochMark:
    """The mark in an epoch's first header: the validators of the epoch after it."""
    return EpochMark(
        entropy=entropy_before[0],
        tickets_entropy=entropy_before[1],
        validators=tuple(
            EpochMarkValidatorKeys(keys.bandersnatch, keys.ed25519) for keys in era.safrole.pending
        ),
    )


def fallback_places(entropy: bytes, spec: ChainSpec) -> tuple[int, ...]:
    """F: the place of the validator who seals each slot of an epoch."""
    return tuple(
        int.from_bytes(blake2b(entropy + U32.encode(phase))[:4], "little") % spec.validator_count
        for phase in range(spec.epoch_slots)
    )


def _era(
    turns: int, sets: tuple[Validators, ...], entropy: Hashes, keyring: Keyring, spec: ChainSpec
) -> Era:
    """The era with these sets: the pending, the active and the previous validators."""
    pending, active, previous = sets
    authors = fallback_places(entropy[2], spec)
    seals = FallbackSeals(tuple(active[place].bandersnatch for place in authors))
    # The root over the ring of the next validators' keys is Bandersnatch's, and zero here.
    safrole = Safrole(pending=pending, epoch_root=bytes(144), seals=seals, tickets=())
    return Era(
        turns=turns,
        safrole=safrole,
        staged=keyring.set_after(turns + 1),
        active=active,
        previous=previous,
        active_keys=tuple(keys.ed25519 for keys in active),
        previous_keys=tuple(keys.ed25519 for keys in previous),
        authors=authors,
    )
