"""Laws of a service's values: their bytes are as they are documented, and only those are read."""

import pytest
from tests.jam.service.stage import claim, named

from laneway.jam.errors import MalformedEncoding, Unencodable
from laneway.jam.service.limits import RIVAL_COUNT_MAX, TAIL_BYTES_MAX
from laneway.jam.service.values import (
    BLOCK_RECORD,
    CLAIM,
    CLAIM_BYTES,
    CLAIMED,
    HEAD,
    HELD,
    REFUSAL,
    RIVALS,
    AppliedBlock,
    Claimed,
    HeldBlock,
    NoEffectReason,
    ServiceHead,
    ServiceRefusal,
)

BLOCK = claim("a", number=0x0102)
BLOCK_RAW = b"\1\2\1\0\0\0\0\0\0" + BLOCK.parent + BLOCK.block + BLOCK.pre_root + BLOCK.post_root
HELD_BLOCK = HeldBlock(
    package_hash=named("p"), exports_root=named("e"), slot=7, claim=BLOCK, tail=b"end"
)


def test_a_claim_has_137_bytes() -> None:
    assert CLAIM.encode(BLOCK) == BLOCK_RAW
    assert CLAIM.decode(BLOCK_RAW) == BLOCK
    assert len(BLOCK_RAW) == CLAIM_BYTES


def test_a_claim_of_another_format_is_not_read() -> None:
    for raw in (b"\0" + BLOCK_RAW[1:], b"\2" + BLOCK_RAW[1:], BLOCK_RAW[:-1], b""):
        with pytest.raises(MalformedEncoding):
            CLAIMED.decode(raw)


@pytest.mark.parametrize("size", [0, 1, TAIL_BYTES_MAX])
def test_what_follows_a_claim_is_its_rollups_own(size: int) -> None:
    claimed = Claimed(BLOCK, b"t" * size)
    assert CLAIMED.encode(claimed) == BLOCK_RAW + b"t" * size
    assert CLAIMED.decode(BLOCK_RAW + b"t" * size) == claimed


def test_what_follows_a_claim_is_bounded() -> None:
    tail = b"t" * (TAIL_BYTES_MAX + 1)
    with pytest.raises(Unencodable):
        CLAIMED.encode(Claimed(BLOCK, tail))
    with pytest.raises(MalformedEncoding):
        CLAIMED.decode(BLOCK_RAW + tail)


def test_the_records_of_a_service_to_the_byte() -> None:
    head = ServiceHead(number=5, block=named("b"), state_root=named("s"), slot=9)
    assert HEAD.encode(head) == b"\5" + bytes(7) + named("b") + named("s") + b"\x09\0\0\0"
    held = named("p") + named("e") + b"\7\0\0\0" + BLOCK_RAW + b"\3end"
    assert HELD.encode(HELD_BLOCK) == held
    assert RIVALS.encode((HELD_BLOCK, HELD_BLOCK)) == b"\2" + held + held
    refusal = ServiceRefusal(index=3, number=5, reason=NoEffectReason.WRONG_PARENT, slot=9)
    raw = b"\3" + bytes(7) + b"\5" + bytes(7) + b"\x08" + b"\x09\0\0\0"
    assert REFUSAL.encode(refusal) == raw
    assert REFUSAL.decode(raw) == refusal
    record = AppliedBlock(
        package_hash=named("p"), exports_root=named("e"), block=named("b"), slot=9
    )
    written = named("p") + named("e") + named("b") + b"\x09\0\0\0"
    assert BLOCK_RECORD.encode(record) == written


def test_a_reason_keeps_its_number_for_ever() -> None:
    assert [reason.name for reason in sorted(NoEffectReason, key=lambda reason: reason.value)] == [
        "REFINE_FAILED",
        "MALFORMED_CLAIM",
        "GAS_TOO_LOW",
        "NOT_STARTED",
        "PACKAGE_SPENT",
        "SAME_BLOCK_APPLIED",
        "OTHER_BLOCK_APPLIED",
        "WRONG_PARENT",
        "TOO_EARLY",
        "SAME_BLOCK_HELD",
        "NO_ROOM",
        "EXPIRED",
        "NOT_AUTHORISED",
    ]
    assert {reason.value for reason in NoEffectReason} == set(range(1, 14))


@pytest.mark.parametrize("number", [0, 14, 255])
def test_a_number_that_is_no_reason_is_not_read(number: int) -> None:
    raw = bytes(16) + bytes([number]) + bytes(4)
    with pytest.raises(MalformedEncoding):
        REFUSAL.decode(raw)


def test_more_rivals_than_have_room_are_neither_written_nor_read() -> None:
    most = (HELD_BLOCK,) * RIVAL_COUNT_MAX
    assert RIVALS.decode(RIVALS.encode(most)) == most
    with pytest.raises(Unencodable):
        RIVALS.encode((*most, HELD_BLOCK))
    with pytest.raises(MalformedEncoding):
        RIVALS.decode(bytes([RIVAL_COUNT_MAX + 1]) + HELD.encode(HELD_BLOCK) * 5)
