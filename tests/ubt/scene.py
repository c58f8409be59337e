"""What tests of the tree share: stems that meet at all depths, and a profile that counts."""

import random
from collections.abc import Callable

import msgspec

from laneway.ubt.profile import Digest, TreeProfile

CHANCE = random.Random(7864)
STEMS = (
    *(CHANCE.randbytes(31) for _ in range(6)),
    bytes(31),
    bytes(30) + b"\x01",
    bytes(30) + b"\x03",
    bytes(16) + b"\x01" + bytes(14),
    b"\xff" * 31,
    b"\xff" * 30 + b"\xfe",
)
"""Some are strangers, and some differ in their last bit alone."""
SUBINDICES = (0, 1, 2, 64, 65, 127, 128, 255)
KEYS = tuple(stem + bytes([subindex]) for stem in STEMS for subindex in SUBINDICES)


def counting(profile: TreeProfile) -> tuple[TreeProfile, list[bytes]]:
    """The same profile, and all that it is asked to hash."""
    asked: list[bytes] = []
    hasher: Callable[[bytes], Digest] = profile.hasher

    def counted(content: bytes) -> Digest:
        asked.append(content)
        return hasher(content)

    return msgspec.structs.replace(profile, hasher=counted), asked
