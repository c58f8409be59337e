"""What a block's slot alone changes: entropy, and in an epoch's first block who validates.

This is Safrole (Gray Paper 0.7.2, section 6) without tickets: every epoch is sealed by the fallback
keys, which are drawn from the entropy as the paper says. Who is staged for the epoch after the next
is a privileged service's to say on a real chain, and here the keyring's.
"""

from collections.abc import Sequence

from laneway.devnets.jam.keyring import Keyring
from laneway.devnets.jam.state import Era
from laneway.jam.codec import U32
from laneway.jam.hashing import blake2b
from laneway.jam.header import EpochMark, EpochMarkValidatorKeys
from laneway.jam.spec import ChainSpec
from laneway.jam.state import FallbackSeals, Hashes, Safrole, ValidatorKeys


def is_first_of_epoch(slot_before: int, slot: int, spec: ChainSpec) -> bool:
    return slot // spec.epoch_slots > slot_before // spec.epoch_slots


def first_era(keyring: Keyring, entropy: Hashes, spec: ChainSpec) -> Era:
    """As a chain begins: one set for the first two epochs."""
    first = keyring.set_after(0)
    return _era(
        turns=0,
        pending=first,
        staged=keyring.set_after(1),
        active=first,
        previous=first,
        entropy=entropy,
        spec=spec,
    )


def next_era(era: Era, entropy: Hashes, keyring: Keyring, spec: ChainSpec) -> Era:
    """The era of a new epoch; `entropy` is η′, in which that of the old epochs has moved on."""
    turns = era.turns + 1
    return _era(
        turns=turns,
        pending=era.staged,
        staged=keyring.set_after(turns + 1),
        active=era.safrole.pending,
        previous=era.active,
        entropy=entropy,
        spec=spec,
    )


def turned(entropy: Hashes) -> Hashes:
    """η′ at a change of epoch, before the block's own draw is added."""
    return (entropy[0], entropy[0], entropy[1], entropy[2])


def drawn(entropy: Hashes, draw: bytes) -> Hashes:
    """η′ with the draw of the block's author."""
    return (blake2b(entropy[0] + draw), *entropy[1:])


def epoch_mark(entropy_before: Hashes, era: Era) -> EpochMark:
    """What an epoch's first header says: the validators of the epoch after it."""
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
    *,
    turns: int,
    pending: tuple[ValidatorKeys, ...],
    staged: tuple[ValidatorKeys, ...],
    active: tuple[ValidatorKeys, ...],
    previous: tuple[ValidatorKeys, ...],
    entropy: Hashes,
    spec: ChainSpec,
) -> Era:
    authors = fallback_places(entropy[2], spec)
    seals = FallbackSeals(tuple(active[place].bandersnatch for place in authors))
    # The root over the ring of the next validators' keys is Bandersnatch's, and zero here.
    safrole = Safrole(pending=pending, epoch_root=bytes(144), seals=seals, tickets=())
    return Era(
        turns=turns,
        safrole=safrole,
        staged=staged,
        active=active,
        previous=previous,
        active_keys=_ed25519(active),
        previous_keys=_ed25519(previous),
        authors=authors,
    )


def _ed25519(validators: Sequence[ValidatorKeys]) -> Hashes:
    return tuple(keys.ed25519 for keys in validators)
