"""Blocks of the ledger: header, transfers and receipts, their hash, and their way into segments.

A block's hash is that of its header, and the header holds nothing of a work package: rebuilt for
another anchor or core, a block of the same transfers, parent and timestamp is the same block.
"""

from collections.abc import Sequence
from operator import attrgetter
from typing import Final

import msgspec

from laneway.jam.codec import (
    HASH,
    U8,
    ByteReader,
    Codec,
    Hash,
    Many,
    Mapped,
    Record,
    Uint32,
    Uint64,
    record,
)
from laneway.jam.errors import InvalidBlock
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.service.exports import body_of, exported
from laneway.jam.service.values import Claim
from laneway.jam.trees import constant_depth_root
from laneway.rollups.ledger.execution import TransferReceipt, TransferStatus
from laneway.rollups.ledger.limits import TRANSFER_COUNT_MAX
from laneway.rollups.ledger.transfer import TRANSFER, TRANSFERS, Transfer

HEADER_FORMAT: Final = 1
HEADER_BYTES: Final = 177


class LedgerHeader(msgspec.Struct, frozen=True, kw_only=True):
    number: Uint64
    parent: Hash
    timestamp: Uint32
    """The slot in which the block was first made, which no rebuild changes."""
    pre_root: Hash
    post_root: Hash
    transfers_root: Hash
    receipts_root: Hash
    count: Uint32
    """How many transfers there are, and how many receipts."""


class LedgerBlock(msgspec.Struct, frozen=True):
    header: LedgerHeader
    transfers: tuple[Transfer, ...]
    receipts: tuple[TransferReceipt, ...]


_HEADER: Final = record(LedgerHeader)


class _Header(Codec[LedgerHeader]):
    """The format's number, then the fields."""

    def write(self, out: bytearray, value: LedgerHeader) -> None:
        out.append(HEADER_FORMAT)
        _HEADER.write(out, value)

    def read(self, reader: ByteReader) -> LedgerHeader:
        found = reader.byte()
        if found != HEADER_FORMAT:
            raise reader.trouble(f"{found} is no format of a header")
        return _HEADER.read(reader)


HEADER: Final[Codec[LedgerHeader]] = _Header()
RECEIPT: Final[Codec[TransferReceipt]] = Record(
    TransferReceipt, transfer_hash=HASH, status=Mapped(U8, attrgetter("value"), TransferStatus)
)
RECEIPTS: Final[Codec[tuple[TransferReceipt, ...]]] = Many(RECEIPT, TRANSFER_COUNT_MAX)
BODY: Final[Codec[LedgerBlock]] = Record(
    LedgerBlock, header=HEADER, transfers=TRANSFERS, receipts=RECEIPTS
)


def block_hash(header: LedgerHeader) -> bytes:
    return blake2b(HEADER.encode(header))


def transfers_root(transfers: Sequence[Transfer]) -> bytes:
    return constant_depth_root([TRANSFER.encode(transfer) for transfer in transfers])


def receipts_root(receipts: Sequence[TransferReceipt]) -> bytes:
    return constant_depth_root([RECEIPT.encode(receipt) for receipt in receipts])


def genesis_header(state_root: bytes) -> LedgerHeader:
    """What the first block is on."""
    return LedgerHeader(
        number=0,
        parent=ZERO_HASH,
        timestamp=0,
        pre_root=ZERO_HASH,
        post_root=state_root,
        transfers_root=transfers_root(()),
        receipts_root=receipts_root(()),
        count=0,
    )


def claim_of(header: LedgerHeader) -> Claim:
    """What the service puts into its line."""
    return Claim(
        number=header.number,
        parent=header.parent,
        block=block_hash(header),
        pre_root=header.pre_root,
        post_root=header.post_root,
    )


def segments_of(block: LedgerBlock) -> tuple[bytes, ...]:
    """The block as its package exports it."""
    return exported(BODY.encode(block))


def block_of(segments: Sequence[bytes]) -> LedgerBlock:
    """The block that these segments hold; InvalidBlock where header and body do not match. Whether
    its receipts are true is not looked at: who has the exports root knows that guarantors did."""
    block = BODY.decode(body_of(segments), "block")
    header = block.header
    if not header.count == len(block.transfers) == len(block.receipts):
        raise InvalidBlock(problem=f"{len(block.transfers)} transfers, and not {header.count}")
    if header.transfers_root != transfers_root(block.transfers):
        raise InvalidBlock(problem="its transfers are others than its header says")
    if header.receipts_root != receipts_root(block.receipts):
        raise InvalidBlock(problem="its receipts are others than its header says")
    return block
