"""What a rollup service says and keeps: claims, head, held blocks, refusals; with their bytes.

Reading is strict: each value has one encoding. Whether a claim is true is for refine to say, and
whether it comes at its time for `sequencing`.
"""

from enum import Enum, unique
from typing import Final

import msgspec

from laneway.jam.codec import HASH, U8, U32, U64, Blob, Codec, Many, Mapped, Reader, Record
from laneway.jam.errors import Unencodable
from laneway.jam.service.limits import RIVAL_COUNT_MAX, TAIL_BYTES_MAX

CLAIM_FORMAT: Final = 1
CLAIM_BYTES: Final = 137


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What refine found to be true: this block leads from one state of the rollup to another."""

    number: int
    parent: bytes
    """The hash of the block before it, whatever the rollup's own header says of it."""
    block: bytes
    """Its hash, which no rebuild of the same block changes."""
    pre_root: bytes
    post_root: bytes


class Claimed(msgspec.Struct, frozen=True):
    """A refine output: the claim, and what the rollup says behind it."""

    claim: Claim
    tail: bytes = b""


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The newest block that had its effect."""

    number: int
    block: bytes
    state_root: bytes
    slot: int
    """Of the chain's block in which it was applied."""


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A block that came before its parent."""

    package_hash: bytes
    exports_root: bytes
    slot: int
    """When it came."""
    claim: Claim
    tail: bytes = b""


@unique
class Reason(Enum):
    """Why a work item had no effect; the value is its number in a record."""

    REFINE_FAILED = 1
    """Its result is an error."""
    MALFORMED_CLAIM = 2
    """Its output does not begin with a claim."""
    GAS_TOO_LOW = 3
    NOT_STARTED = 4
    """The service has no genesis."""
    PACKAGE_SPENT = 5
    """The package has brought a block already, and one package brings one."""
    SAME_BLOCK_APPLIED = 6
    """Another version of the package brought this very block."""
    OTHER_BLOCK_APPLIED = 7
    """The number is another block's: a second block on the same parent, or one that is too old."""
    WRONG_PARENT = 8
    """The block before it is not the one it was built on, and never will be."""
    TOO_EARLY = 9
    """Too many blocks are missing before it."""
    SAME_BLOCK_HELD = 10
    """Another version of the package brought this very block, which waits for its parent."""
    NO_ROOM = 11
    """Too many other blocks of its number wait for their parents."""
    EXPIRED = 12
    """It was held, and its parent did not come in time."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a package came to nothing, for its builder to read."""

    index: int
    """The how-manieth refusal of the service it is, from zero."""
    number: int
    """What its claim says, or zero where there is none."""
    reason: Reason
    slot: int


class BlockRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What was applied under a number."""

    package_hash: bytes
    exports_root: bytes
    block: bytes
    slot: int


def _reason(number: int) -> Reason:
    return Reason(number)


def _reason_number(reason: Reason) -> int:
    return reason.value


_CLAIM: Final = Record(Claim, number=U64, parent=HASH, block=HASH, pre_root=HASH, post_root=HASH)


class _Claim(Codec[Claim]):
    """The format's number, then the fields."""

    def write(self, out: bytearray, value: Claim) -> None:
        out.append(CLAIM_FORMAT)
        _CLAIM.write(out, value)

    def read(self, reader: Reader) -> Claim:
        found = reader.byte()
        if found != CLAIM_FORMAT:
            raise reader.trouble(f"{found} is no format of a claim")
        return _CLAIM.read(reader)


class _Claimed(Codec[Claimed]):
    """A claim and all that follows it."""

    def write(self, out: bytearray, value: Claimed) -> None:
        if len(value.tail) > TAIL_BYTES_MAX:
            problem = f"{len(value.tail)} bytes behind a claim; {TAIL_BYTES_MAX} are allowed"
            raise Unencodable(problem=problem)
        CLAIM.write(out, value.claim)
        out += value.tail

    def read(self, reader: Reader) -> Claimed:
        claim = CLAIM.read(reader)
        if reader.left > TAIL_BYTES_MAX:
            problem = f"{reader.left} bytes behind a claim; {TAIL_BYTES_MAX} are allowed"
            raise reader.trouble(problem)
        return Claimed(claim, reader.take(reader.left))


CLAIM: Final[Codec[Claim]] = _Claim()
CLAIMED: Final[Codec[Claimed]] = _Claimed()
HEAD: Final = Record(Head, number=U64, block=HASH, state_root=HASH, slot=U32)
HELD: Final = Record(
    Held,
    package_hash=HASH,
    exports_root=HASH,
    slot=U32,
    claim=CLAIM,
    tail=Blob(TAIL_BYTES_MAX),
)
RIVALS: Final[Codec[tuple[Held, ...]]] = Many(HELD, RIVAL_COUNT_MAX)
REFUSAL: Final = Record(
    Refusal, index=U64, number=U64, reason=Mapped(U8, _reason_number, _reason), slot=U32
)
BLOCK_RECORD: Final = Record(
    BlockRecord, package_hash=HASH, exports_root=HASH, block=HASH, slot=U32
)
