"""Blocks of the ledger: header, transfers and receipts, their hash, and their way into segments.

A block's hash is that of its header, and the header holds nothing of a work package: rebuilt for
another anchor or core, a block of the same transfers, parent and timestamp is the same block.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from laneway.jam.codec import (
    HASH,
    U8,
    U32,
    U64,
    Codec,
    Many,
    Mapped,
    Reader,
    Record,
    told_within,
)
from laneway.jam.errors import InvalidBlock
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.service.ledger.execution import Receipt, Status
from laneway.jam.service.ledger.limits import TRANSFER_COUNT_MAX
from laneway.jam.service.ledger.transfer import TRANSFER, TRANSFERS, Transfer
from laneway.jam.service.values import Claim
from laneway.jam.spec import SEGMENT_BYTES
from laneway.jam.trees import constant_depth_root

HEADER_FORMAT: Final = 1
HEADER_BYTES: Final = 177


class Header(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    parent: bytes
    timestamp: int
    """The slot in which the block was first made, which no rebuild changes."""
    pre_root: bytes
    post_root: bytes
    transfers_root: bytes
    receipts_root: bytes
    count: int
    """Of the transfers, and of the receipts."""


class Block(msgspec.Struct, frozen=True):
    header: Header
    transfers: tuple[Transfer, ...]
    receipts: tuple[Receipt, ...]


def _status(number: int) -> Status:
    return Status(number)


def _status_number(status: Status) -> int:
    return status.value


_HEADER: Final = Record(
    Header,
    number=U64,
    parent=HASH,
    timestamp=U32,
    pre_root=HASH,
    post_root=HASH,
    transfers_root=HASH,
    receipts_root=HASH,
    count=U32,
)


class _Header(Codec[Header]):
    """The format's number, then the fields."""

    def write(self, out: bytearray, value: Header) -> None:
        out.append(HEADER_FORMAT)
        _HEADER.write(out, value)

    def read(self, reader: Reader) -> Header:
        found = reader.byte()
        if found != HEADER_FORMAT:
            raise reader.trouble(f"{found} is no format of a header")
        return _HEADER.read(reader)


HEADER: Final[Codec[Header]] = _Header()
RECEIPT: Final[Codec[Receipt]] = Record(
    Receipt, transfer_hash=HASH, status=Mapped(U8, _status_number, _status)
)
RECEIPTS: Final[Codec[tuple[Receipt, ...]]] = Many(RECEIPT, TRANSFER_COUNT_MAX)
BODY: Final[Codec[Block]] = Record(Block, header=HEADER, transfers=TRANSFERS, receipts=RECEIPTS)


def block_hash(header: Header) -> bytes:
    return blake2b(HEADER.encode(header))


def transfers_root(transfers: Sequence[Transfer]) -> bytes:
    return constant_depth_root([TRANSFER.encode(transfer) for transfer in transfers])


def receipts_root(receipts: Sequence[Receipt]) -> bytes:
    return constant_depth_root([RECEIPT.encode(receipt) for receipt in receipts])


def genesis_header(state_root: bytes) -> Header:
    """What the first block is on."""
    return Header(
        number=0,
        parent=ZERO_HASH,
        timestamp=0,
        pre_root=ZERO_HASH,
        post_root=state_root,
        transfers_root=transfers_root(()),
        receipts_root=receipts_root(()),
        count=0,
    )


def claim_of(header: Header) -> Claim:
    """What the service puts into its line."""
    return Claim(
        number=header.number,
        parent=header.parent,
        block=block_hash(header),
        pre_root=header.pre_root,
        post_root=header.post_root,
    )


def segments_of(block: Block) -> tuple[bytes, ...]:
    """The block as its package exports it: its length, its bytes, and zeros to fill a segment."""
    body = BODY.encode(block)
    raw = U32.encode(len(body)) + body
    return tuple(
        raw[at : at + SEGMENT_BYTES].ljust(SEGMENT_BYTES, b"\0")
        for at in range(0, len(raw), SEGMENT_BYTES)
    )


def block_of(segments: Sequence[bytes]) -> Block:
    """The block that these segments hold; InvalidBlock where header and body do not match. Whether
    its receipts are true is not looked at: who has the exports root knows that guarantors did."""
    raw = b"".join(segments)
    reader = Reader(raw)
    with told_within("block"):
        body = reader.take(U32.read(reader))
    if any(raw[reader.at :]) or segments_spanned(reader.at) != tuple(map(len, segments)):
        raise InvalidBlock(problem="its segments hold more than the block")
    block = BODY.decode(body, "block")
    header = block.header
    if not header.count == len(block.transfers) == len(block.receipts):
        raise InvalidBlock(problem=f"{len(block.transfers)} transfers, and not {header.count}")
    if header.transfers_root != transfers_root(block.transfers):
        raise InvalidBlock(problem="its transfers are others than its header says")
    if header.receipts_root != receipts_root(block.receipts):
        raise InvalidBlock(problem="its receipts are others than its header says")
    return block


def segments_spanned(size: int) -> tuple[int, ...]:
    """The lengths of the segments that so many bytes take."""
    return (SEGMENT_BYTES,) * -(-size // SEGMENT_BYTES)
