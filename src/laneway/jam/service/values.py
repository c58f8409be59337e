"""What a rollup service says and keeps: claims, head, held blocks, refusals; with their bytes.

Reading is strict: each value has one encoding. Whether a claim is true is for refine to say, and
whether it comes at its time for `sequencing`.
"""

from enum import Enum, unique
from operator import attrgetter
from typing import Final

import msgspec

from laneway.jam.codec import (
    U8,
    Blob,
    ByteReader,
    Codec,
    Hash,
    Many,
    Mapped,
    Uint32,
    Uint64,
    record,
)
from laneway.jam.errors import Unencodable
from laneway.jam.service.limits import RIVAL_COUNT_MAX, TAIL_BYTES_MAX

CLAIM_FORMAT: Final = 1
CLAIM_BYTES: Final = 137


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What refine found to be true: this block leads from one state of the rollup to another."""

    number: Uint64
    parent: Hash
    """The hash of the block before it, whatever the rollup's own header says of it."""
    block: Hash
    """Its hash, which no rebuild of the same block changes."""
    pre_root: Hash
    post_root: Hash


class Claimed(msgspec.Struct, frozen=True):
    """A refine output: the claim, and what the rollup says after it."""

    claim: Claim
    tail: bytes = b""


class ServiceHead(msgspec.Struct, frozen=True, kw_only=True):
    """The newest block that had its effect."""

    number: Uint64
    block: Hash
    state_root: Hash
    slot: Uint32
    """The slot of the chain's block in which it was applied."""


class HeldBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A block that came before its parent."""

    package_hash: Hash
    exports_root: Hash
    slot: Uint32
    """When it came."""
    claim: Claim
    tail: bytes = b""


@unique
class NoEffectReason(Enum):
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
    NOT_AUTHORISED = 13
    """Its authorizer is none of those that may move the line."""


class ServiceRefusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a package came to nothing, for its builder to read."""

    index: Uint64
    """Its number among the service's refusals, from zero; those with NOT_AUTHORISED are counted
    apart."""
    number: Uint64
    """What its claim says, or zero where none was read."""
    reason: NoEffectReason
    slot: Uint32


class AppliedBlock(msgspec.Struct, frozen=True, kw_only=True):
    """What was applied under a number."""

    package_hash: Hash
    exports_root: Hash
    block: Hash
    slot: Uint32


_CLAIM: Final = record(Claim)


class _Claim(Codec[Claim]):
    """The format's number, then the fields."""

    def write(self, out: bytearray, value: Claim) -> None:
        out.append(CLAIM_FORMAT)
        _CLAIM.write(out, value)

    def read(self, reader: ByteReader) -> Claim:
        found = reader.byte()
        if found != CLAIM_FORMAT:
            raise reader.trouble(f"{found} is no format of a claim")
        return _CLAIM.read(reader)


class _Claimed(Codec[Claimed]):
    """A claim and all that follows it."""

    def write(self, out: bytearray, value: Claimed) -> None:
        if len(value.tail) > TAIL_BYTES_MAX:
            problem = f"{len(value.tail)} bytes after a claim; {TAIL_BYTES_MAX} are allowed"
            raise Unencodable(problem=problem)
        CLAIM.write(out, value.claim)
        out += value.tail

    def read(self, reader: ByteReader) -> Claimed:
        claim = CLAIM.read(reader)
        if reader.left > TAIL_BYTES_MAX:
            problem = f"{reader.left} bytes after a claim; {TAIL_BYTES_MAX} are allowed"
            raise reader.trouble(problem)
        return Claimed(claim, reader.take(reader.left))


CLAIM: Final[Codec[Claim]] = _Claim()
CLAIMED: Final[Codec[Claimed]] = _Claimed()
HEAD: Final = record(ServiceHead)
HELD: Final = record(HeldBlock, claim=CLAIM, tail=Blob(TAIL_BYTES_MAX))
RIVALS: Final[Codec[tuple[HeldBlock, ...]]] = Many(HELD, RIVAL_COUNT_MAX)
REFUSAL: Final = record(ServiceRefusal, reason=Mapped(U8, attrgetter("value"), NoEffectReason))
BLOCK_RECORD: Final = record(AppliedBlock)
