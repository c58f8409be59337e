"""Laws of refine: what holds is claimed to the byte, and nothing else is ever claimed."""

from random import Random

import pytest
from msgspec.structs import replace
from tests.jam.hostile import damaged
from tests.jam.service.ledger.stage import BALANCES, CHAIN, DOMAIN, IDS, Builder, given, made, send

from laneway.jam.errors import InvalidBlock, InvalidJam
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.report import Ok, WorkError
from laneway.jam.service.interface import RefineInput, RefineOutput
from laneway.jam.service.ledger.account import ACCOUNT, Account, account_key
from laneway.jam.service.ledger.block import HEADER, Header, block_of, claim_of, segments_of
from laneway.jam.service.ledger.item import refine_gas, work_item
from laneway.jam.service.ledger.limits import BLOCK_GAS
from laneway.jam.service.ledger.refine import checked, read, refine
from laneway.jam.service.ledger.transfer import TRANSFERS
from laneway.jam.service.ledger.witness import WITNESS
from laneway.jam.service.values import CLAIMED, Claimed
from laneway.jam.trie import root

PAID = (send(0, 5, 300), send(5, 6, 100), send(1, 7, 99_999), send(3, 3, 4), send(2, 0, 1, 7))
BLOCK, SEEN = made(*PAID)
WORK = work_item(DOMAIN, BLOCK, SEEN)


def refined(**changes: object) -> RefineOutput:
    return refine(CHAIN, given(WORK, **changes))


def with_header(**changes: object) -> RefineOutput:
    header = replace(BLOCK.header, **changes)
    return refined(payload=HEADER.encode(header))


def test_a_block_that_holds_is_claimed_and_exported() -> None:
    output = refined()
    assert output.result == Ok(CLAIMED.encode(Claimed(claim_of(BLOCK.header))))
    assert output.exports == segments_of(BLOCK)
    assert block_of(output.exports) == BLOCK
    assert output.gas_used == WORK.item.refine_gas_limit
    assert len(output.exports) == WORK.item.export_count


def test_refine_depends_on_nothing_but_what_it_is_given() -> None:
    other = refined(package_hash=blake2b(b"another version"), item_index=3)
    assert other == refined()


def test_a_line_of_blocks_is_refined_from_witnesses_alone() -> None:
    builder = Builder()
    works = [
        builder.build(send(0, 5, 300), send(1, 4, 7)),
        builder.build(send(5, 0, 50), send(4, 7, 7)),
        builder.build(send(7, 6, 7), send(0, 0, 1, 1)),
    ]
    for block, work in works:
        output = refine(CHAIN, given(work))
        assert output.result == Ok(CLAIMED.encode(Claimed(claim_of(block.header))))


@pytest.mark.parametrize(
    "changes",
    [
        {"pre_root": ZERO_HASH},
        {"post_root": BLOCK.header.pre_root},
        {"post_root": ZERO_HASH},
        {"transfers_root": ZERO_HASH},
        {"receipts_root": ZERO_HASH},
        {"count": len(PAID) + 1},
        {"number": 0},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_header_that_says_something_else_is_refused(changes: dict[str, object]) -> None:
    output = with_header(**changes)
    assert (output.result, output.exports) == (WorkError.PANIC, ())
    assert output.gas_used == WORK.item.refine_gas_limit


def test_number_parent_and_timestamp_are_claimed_as_they_are_said() -> None:
    """They are in the block's hash, and the line judges them at accumulation."""
    for changes in ({"number": 9}, {"parent": ZERO_HASH}, {"timestamp": 4}):
        header = replace(BLOCK.header, **changes)
        output = refined(payload=HEADER.encode(header))
        assert output.result == Ok(CLAIMED.encode(Claimed(claim_of(header))))
        assert claim_of(header).block != claim_of(BLOCK.header).block


@pytest.mark.parametrize(
    "changes",
    [
        {"extrinsics": WORK.extrinsics[:1]},
        {"extrinsics": (*WORK.extrinsics, b"")},
        {"extrinsics": WORK.extrinsics[::-1]},
        {"imports": (bytes(4104),)},
        {"payload": b""},
        {"payload": WORK.item.payload + b"\0"},
    ],
    ids=["one", "three", "swapped", "imports", "no payload", "more payload"],
)
def test_what_is_not_a_header_transfers_and_a_witness_is_refused(
    changes: dict[str, object],
) -> None:
    output = refined(**changes)
    assert (output.result, output.exports) == (WorkError.PANIC, ())
    assert output.gas_used == BLOCK_GAS


def test_an_empty_block_is_refused() -> None:
    empty = replace(BLOCK.header, count=0, transfers_root=ZERO_HASH, receipts_root=ZERO_HASH)
    header = replace(empty, post_root=empty.pre_root)
    output = refined(
        payload=HEADER.encode(header), extrinsics=(TRANSFERS.encode(()), WITNESS.encode(()))
    )
    assert output.result is WorkError.PANIC


def test_without_its_gas_nothing_is_claimed() -> None:
    for limit in (0, BLOCK_GAS, WORK.item.refine_gas_limit - 1):
        output = refined(gas_limit=limit)
        assert (output.result, output.exports) == (WorkError.OUT_OF_GAS, ())
        assert output.gas_used == limit
    assert refined(gas_limit=WORK.item.refine_gas_limit + 1).gas_used == refine_gas(5, len(SEEN))


def test_a_signature_for_another_ledger_is_a_receipt_and_moves_nothing() -> None:
    """The builder says that it was good; a guarantor of another service finds that it was not."""
    assert refined(service=DOMAIN.service + 1).result is WorkError.PANIC
    assert refine(blake2b(b"another chain"), given(WORK)).result is WorkError.PANIC


def test_why_a_block_does_not_hold_can_be_asked() -> None:
    header, transfers, witness = read(given(WORK))
    assert checked(DOMAIN, header, transfers, witness) == BLOCK
    with pytest.raises(InvalidBlock, match="another state"):
        checked(DOMAIN, replace(header, post_root=ZERO_HASH), transfers, witness)
    with pytest.raises(InvalidJam, match="node"):
        checked(DOMAIN, header, transfers, witness[:-1])


# Hostile bytes: whatever is accepted is true.


def believed(hostile: RefineInput) -> Header | None:
    """The header of a block that was accepted, after it was executed anew without any witness."""
    output = refine(CHAIN, hostile)
    if not isinstance(output.result, Ok):
        assert output.exports == ()
        return None
    header = HEADER.decode(hostile.payload)
    claimed = CLAIMED.decode(output.result.output)
    assert claimed == Claimed(claim_of(header))
    transfers = TRANSFERS.decode(hostile.extrinsics[0])
    assert root(plain_state({})) == header.pre_root
    assert root(plain_state(balances_after(transfers))) == header.post_root
    assert block_of(output.exports).header == header
    return header


def balances_after(transfers: object) -> dict[bytes, Account]:
    """What PAID comes to, written down by hand: no other transfers have these signatures."""
    assert transfers == PAID
    return {
        IDS[0]: Account(700, 1),
        IDS[5]: Account(200, 1),
        IDS[6]: Account(100, 0),
        IDS[1]: Account(2_000, 1),
        IDS[3]: Account(4_000, 1),
    }


def plain_state(changed: dict[bytes, Account]) -> dict[bytes, bytes]:
    accounts = {id_: Account(balance) for id_, balance in BALANCES.items()} | changed
    return {account_key(id_): ACCOUNT.encode(account) for id_, account in accounts.items()}


def hostile_run(seed: int, count: int) -> tuple[int, int]:
    """How many were refused, and how many accepted that were not as they had been."""
    refused = changed = 0
    parts = (WORK.item.payload, *WORK.extrinsics)
    for number in range(count):
        source = Random(f"{seed} {number}")
        hurt = list(parts)
        place = source.choice((0, 1, 2, 2))
        hurt[place] = damaged(source, hurt[place], source.choice(parts))
        accepted = believed(
            given(WORK, payload=hurt[0], extrinsics=tuple(hurt[1:]), gas_limit=1 << 40)
        )
        if accepted is None:
            refused += 1
        elif tuple(hurt) != parts:
            changed += 1
            # Only what the service's line judges may be another.
            same = {"number": 1, "parent": BLOCK.header.parent, "timestamp": 3}
            assert replace(accepted, **same) == BLOCK.header
            assert place == 0
    return refused, changed


def test_damaged_payloads_and_witnesses_are_never_accepted_for_something_wrong() -> None:
    refused, _ = hostile_run(1, 150)
    assert refused > 100


@pytest.mark.slow
def test_many_damaged_payloads_and_witnesses_are_never_accepted_for_something_wrong() -> None:
    refused, changed = hostile_run(2, 10_000)
    assert refused > 9_000
    assert changed > 30


@pytest.mark.slow
def test_every_single_bit_of_a_witness_counts() -> None:
    raw = WORK.extrinsics[1]
    for place in range(len(raw)):
        for bit in (0, 7):
            hurt = bytearray(raw)
            hurt[place] ^= 1 << bit
            output = refined(extrinsics=(WORK.extrinsics[0], bytes(hurt)), gas_limit=1 << 40)
            assert output.result is WorkError.PANIC, place
