"""The validators' keys: all development keys, which everybody can compute.

A validator is known by the number of its key, whatever its place in a set is. Ed25519 keys are
real. Bandersnatch keys and what they sign are stand-ins, hashes that nobody can verify; BLS keys
are zeros, as in all public vectors.
"""

from typing import Final

from laneway.jam.codec import U32
from laneway.jam.dev_keys import dev_keys
from laneway.jam.hashing import blake2b
from laneway.jam.spec import ChainSpec
from laneway.jam.state import ValidatorKeys

BANDERSNATCH_STAND_IN: Final = b"laneway devnet: bandersnatch key of "
VRF_STAND_IN: Final = b"laneway devnet: vrf signature "
VRF_SIGNATURE_HASHES: Final = 3


class Keyring:
    """The keys of all validators, who sign for real or, `signs` being off, with a hash."""

    def __init__(self, spec: ChainSpec, count: int, *, signs: bool) -> None:
        self._spec = spec
        self._signs = signs
        self._held = dev_keys(max(count, spec.validator_count))
        self._numbers = {key.public_key: number for number, key in enumerate(self._held)}
        self._entries = tuple(_entry(key.public_key) for key in self._held)

    def __len__(self) -> int:
        return len(self._held)

    def number(self, public_key: bytes) -> int:
        """The number of the validator that has this Ed25519 key."""
        return self._numbers[public_key]

    def sign_as(self, validator: int, message: bytes) -> bytes:
        key = self._held[validator]
        return key.sign(message) if self._signs else stand_in_signature(key.public_key, message)

    def set_after(self, turns: int) -> tuple[ValidatorKeys, ...]:
        """The validators after the set has moved along this many times."""
        spare = len(self._held) - self._spec.validator_count
        first = turns if spare else 0
        places = range(first, first + self._spec.validator_count)
        return tuple(self._entries[place % len(self._entries)] for place in places)


def stand_in_signature(public_key: bytes, message: bytes) -> bytes:
    hashed = blake2b(public_key + message)
    return hashed + hashed


def stand_in_vrf(bandersnatch: bytes, message: bytes) -> bytes:
    """96 bytes where a signature of the key over the message belongs."""
    context = VRF_STAND_IN + bandersnatch + message
    return b"".join(blake2b(context + U32.encode(part)) for part in range(VRF_SIGNATURE_HASHES))


def vrf_output(signature: bytes) -> bytes:
    """Y, the random draw that a signature proves."""
    return blake2b(signature)


def _entry(public_key: bytes) -> ValidatorKeys:
    return ValidatorKeys(
        bandersnatch=blake2b(BANDERSNATCH_STAND_IN + public_key),
        ed25519=public_key,
        bls=bytes(144),
        metadata=bytes(128),
    )
