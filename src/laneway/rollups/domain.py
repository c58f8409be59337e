"""Which rollup of which chain: what is signed or kept for one is worth nothing on another."""

from typing import Final

from msgspec import Struct

from laneway.jam.codec import HASH, U32, Record


class Domain(Struct, frozen=True):
    chain: bytes
    """The hash of the genesis header of the JAM chain."""
    service: int

    def identity(self) -> bytes:
        """The domain as bytes."""
        return DOMAIN.encode(self)


DOMAIN: Final = Record(Domain, chain=HASH, service=U32)
