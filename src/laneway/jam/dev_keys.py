"""The keys of development chains (JIP-5): everybody can compute them, so they protect nothing.

Only the Ed25519 keys are made, those of guarantees, assurances and votes. Bandersnatch keys seal
blocks and tickets, and nothing here makes or checks a seal; BLS keys are not derived either.
"""

from typing import Final

from laneway.jam.ed25519 import SEED_BYTES, HeldEd25519Key
from laneway.jam.hashing import blake2b

ED25519_CONTEXT: Final = b"jam_val_key_ed25519"


def trivial_seed(index: int) -> bytes:
    """Of the validator with this index: its number in four bytes, eight times."""
    return index.to_bytes(4, "little") * 8


def ed25519_seed(seed: bytes) -> bytes:
    """The secret seed that a validator's own seed gives."""
    if len(seed) != SEED_BYTES:
        raise ValueError("a seed has 32 bytes")
    return blake2b(ED25519_CONTEXT + seed)


def dev_key(index: int) -> HeldEd25519Key:
    return HeldEd25519Key(ed25519_seed(trivial_seed(index)))


def dev_keys(count: int) -> tuple[HeldEd25519Key, ...]:
    """Of the validators 0 up to, and without, this one."""
    return tuple(dev_key(index) for index in range(count))
