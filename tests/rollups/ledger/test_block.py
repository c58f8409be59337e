"""Laws of blocks: their bytes, their hash, and their way into segments and back."""

import pytest
from msgspec.structs import replace
from tests.rollups.ledger.stage import begun, made, send

from laneway.jam.codec import U32
from laneway.jam.errors import InvalidBlock, MalformedEncoding
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.service.values import Claim
from laneway.jam.spec import SEGMENT_BYTES
from laneway.jam.trees import LEAF, NODE
from laneway.rollups.ledger.block import (
    BODY,
    HEADER,
    HEADER_BYTES,
    RECEIPT,
    LedgerBlock,
    LedgerHeader,
    block_hash,
    block_of,
    claim_of,
    genesis_header,
    receipts_root,
    segments_of,
    transfers_root,
)
from laneway.rollups.ledger.execution import TransferReceipt, TransferStatus
from laneway.rollups.ledger.transfer import TRANSFER

BLOCK, _ = made(send(0, 5, 300), send(1, 5, 9_999), send(2, 0, 1, nonce=9))
HEAD = BLOCK.header


def test_a_header_has_177_bytes() -> None:
    raw = (
        b"\1"
        + b"\1\0\0\0\0\0\0\0"
        + HEAD.parent
        + b"\3\0\0\0"
        + HEAD.pre_root
        + HEAD.post_root
        + HEAD.transfers_root
        + HEAD.receipts_root
        + b"\3\0\0\0"
    )
    assert HEADER.encode(HEAD) == raw
    assert HEADER.decode(raw) == HEAD
    assert len(raw) == HEADER_BYTES
    assert block_hash(HEAD) == blake2b(raw)
    with pytest.raises(MalformedEncoding):
        HEADER.decode(b"\2" + raw[1:])


def test_a_receipt_to_the_byte() -> None:
    receipt = TransferReceipt(ZERO_HASH, TransferStatus.INSUFFICIENT_FUNDS)
    assert RECEIPT.encode(receipt) == ZERO_HASH + b"\4"
    assert RECEIPT.decode(ZERO_HASH + b"\4") == receipt
    with pytest.raises(MalformedEncoding):
        RECEIPT.decode(ZERO_HASH + b"\6")


def test_a_status_keeps_its_number_for_ever() -> None:
    assert [status.name for status in sorted(TransferStatus, key=lambda status: status.value)] == [
        "OK",
        "BAD_SIGNATURE",
        "WRONG_NONCE",
        "NOTHING_SENT",
        "INSUFFICIENT_FUNDS",
        "BALANCE_OVERFLOW",
    ]


def test_the_roots_are_of_a_tree_of_constant_depth() -> None:
    leaves = [blake2b(LEAF + TRANSFER.encode(one)) for one in BLOCK.transfers]
    left = blake2b(NODE + leaves[0] + leaves[1])
    right = blake2b(NODE + leaves[2] + ZERO_HASH)
    assert transfers_root(BLOCK.transfers) == blake2b(NODE + left + right) == HEAD.transfers_root
    assert receipts_root(BLOCK.receipts[:1]) == blake2b(LEAF + RECEIPT.encode(BLOCK.receipts[0]))


def test_genesis_is_a_header_of_nothing_but_a_state() -> None:
    state, header = begun()
    assert header == genesis_header(state.root)
    assert HEADER.encode(header) == (
        b"\1" + bytes(8 + 32 + 4 + 32) + state.root + bytes(32 + 32 + 4)
    )


def test_a_claim_says_what_the_header_says() -> None:
    assert claim_of(HEAD) == Claim(
        number=1,
        parent=HEAD.parent,
        block=block_hash(HEAD),
        pre_root=HEAD.pre_root,
        post_root=HEAD.post_root,
    )


def test_a_block_goes_into_segments_and_comes_back() -> None:
    body = BODY.encode(BLOCK)
    segments = segments_of(BLOCK)
    assert b"".join(segments) == (U32.encode(len(body)) + body).ljust(SEGMENT_BYTES, b"\0")
    assert block_of(segments) == BLOCK


def test_a_long_block_has_several_segments() -> None:
    long, _ = made(*(send(0, 5, 1, nonce) for nonce in range(50)))
    segments = segments_of(long)
    assert [len(segment) for segment in segments] == [SEGMENT_BYTES] * 3
    assert block_of(segments) == long
    for wrong in (segments[:2], segments[1:], (*segments, bytes(SEGMENT_BYTES)), (), segments[:1]):
        with pytest.raises((InvalidBlock, MalformedEncoding)):
            block_of(wrong)


def header(**changes: object) -> LedgerHeader:
    return replace(HEAD, **changes)


@pytest.mark.parametrize(
    "wrong",
    [
        LedgerBlock(header(count=2), BLOCK.transfers, BLOCK.receipts),
        LedgerBlock(HEAD, BLOCK.transfers, BLOCK.receipts[:2]),
        LedgerBlock(HEAD, BLOCK.transfers[::-1], BLOCK.receipts),
        LedgerBlock(HEAD, BLOCK.transfers, BLOCK.receipts[::-1]),
    ],
    ids=["count", "receipts missing", "transfers", "receipts"],
)
def test_segments_whose_body_is_another_than_their_headers_are_not_read(wrong: LedgerBlock) -> None:
    with pytest.raises(InvalidBlock):
        block_of(segments_of(wrong))


def test_what_fills_a_segment_is_zeros() -> None:
    (segment,) = segments_of(BLOCK)
    with pytest.raises(InvalidBlock):
        block_of((segment[:-1] + b"\1",))
    with pytest.raises(InvalidBlock):
        block_of((segment[:-1],))
