"""Laws of refine: what holds is claimed to the byte, and nothing else is ever claimed."""

from itertools import permutations
from random import Random

import pytest
from msgspec.structs import replace
from tests.jam.hostile import damaged
from tests.rollups.ledger.stage import (
    BALANCES,
    CHAIN,
    DOMAIN,
    IDS,
    SERVICE,
    Builder,
    Chain,
    given,
    made,
    send,
)

from laneway.jam.errors import InvalidBlock, InvalidJam
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.report import Ok, WorkError
from laneway.jam.service.commitment import block_of as applied_block
from laneway.jam.service.commitment import head_of, number_of, peaks_of, refusal_of
from laneway.jam.service.interface import Accumulation, RefineInput, RefineOutput, Service
from laneway.jam.service.values import CLAIMED, Claimed, NoEffectReason
from laneway.jam.trie import root
from laneway.rollups.ledger.account import ACCOUNT, LedgerEntry, account_key
from laneway.rollups.ledger.block import (
    HEADER,
    LedgerHeader,
    block_hash,
    block_of,
    claim_of,
    segments_of,
)
from laneway.rollups.ledger.limits import BLOCK_GAS
from laneway.rollups.ledger.refine import checked, read, refine
from laneway.rollups.ledger.transfer import TRANSFERS
from laneway.rollups.ledger.witness import WITNESS, code_hash, refine_gas, work_item

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
    assert output.gas_used == WORK.items[0].refine_gas_limit
    assert len(output.exports) == WORK.items[0].export_count


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
    assert output.gas_used == WORK.items[0].refine_gas_limit


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
        {"payload": WORK.items[0].payload + b"\0"},
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
    for limit in (0, BLOCK_GAS, WORK.items[0].refine_gas_limit - 1):
        output = refined(gas_limit=limit)
        assert (output.result, output.exports) == (WorkError.OUT_OF_GAS, ())
        assert output.gas_used == limit
    assert refined(gas_limit=WORK.items[0].refine_gas_limit + 1).gas_used == refine_gas(
        5, len(SEEN)
    )


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


def believed(hostile: RefineInput) -> LedgerHeader | None:
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


def balances_after(transfers: object) -> dict[bytes, LedgerEntry]:
    """What PAID comes to, written down by hand: no other transfers have these signatures."""
    assert transfers == PAID
    return {
        IDS[0]: LedgerEntry(700, 1),
        IDS[5]: LedgerEntry(200, 1),
        IDS[6]: LedgerEntry(100, 0),
        IDS[1]: LedgerEntry(2_000, 1),
        IDS[3]: LedgerEntry(4_000, 1),
    }


def plain_state(changed: dict[bytes, LedgerEntry]) -> dict[bytes, bytes]:
    accounts = {id_: LedgerEntry(balance) for id_, balance in BALANCES.items()} | changed
    return {account_key(id_): ACCOUNT.encode(account) for id_, account in accounts.items()}


def hostile_run(seed: int, count: int) -> tuple[int, int]:
    """How many were refused, and how many accepted that were not as they had been."""
    refused = changed = 0
    parts = (WORK.items[0].payload, *WORK.extrinsics)
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


def test_the_ledger_is_a_service() -> None:
    service: Service = SERVICE
    assert service.code_hash == code_hash(CHAIN)


def test_blocks_that_were_refined_are_accumulated_and_the_head_has_their_state() -> None:
    builder, chain = Builder(), Chain()
    yields = []
    for nonce in range(3):
        block, work = builder.build(send(0, 5, 10, nonce))
        yields.append(chain.accumulate((f"p{nonce}", SERVICE.refine(given(work)))))
        head = head_of(chain.view)
        assert head is not None
        assert (head.number, head.block) == (nonce + 1, block_hash(block.header))
        assert head.state_root == builder.states[-1].root
    assert len(set(yields)) == 3
    assert builder.states[-1].account(IDS[5]).balance == 30


@pytest.mark.slow
def test_in_any_order_and_in_two_versions_the_ledger_ends_in_one_state() -> None:
    builder = Builder()
    works = [builder.build(send(0, 5, 10, nonce), send(1, 6, 1, nonce))[1] for nonce in range(3)]
    refined = [SERVICE.refine(given(work)) for work in works]
    packages = [(f"{n} v{v}", refined[n]) for n in range(3) for v in (1, 2)]
    for order in permutations(packages, 6):
        chain = Chain()
        for package in order:
            chain.accumulate(package)
        head = head_of(chain.view)
        assert head is not None
        assert (head.number, head.state_root) == (3, builder.states[-1].root)
        firsts = [next(name for name, _ in order if name.startswith(f"{n} ")) for n in range(3)]
        for number, name in enumerate(firsts, 1):
            assert number_of(chain.view, blake2b(name.encode())) == number


def test_a_block_whose_refinement_failed_has_no_effect_and_says_so() -> None:
    builder, chain = Builder(), Chain()
    _, work = builder.build(send(0, 5, 10))
    failed = SERVICE.refine(given(work, payload=b"nonsense"))
    assert failed.result is WorkError.PANIC
    assert chain.accumulate(("p", failed)) is None
    refusal = refusal_of(chain.view, blake2b(b"p"))
    assert refusal is not None
    assert refusal.reason is NoEffectReason.REFINE_FAILED
    assert peaks_of(chain.view) == ()
    assert applied_block(chain.view, 1) is None


def test_a_rival_on_the_same_parent_has_no_effect() -> None:
    mine, other, chain = Builder(), Builder(), Chain()
    first = SERVICE.refine(given(mine.build(send(0, 5, 10))[1]))
    second = SERVICE.refine(given(other.build(send(0, 6, 10))[1]))
    chain.accumulate(("mine", first), ("other", second))
    head = head_of(chain.view)
    assert head is not None
    assert head.state_root == mine.states[-1].root
    refusal = refusal_of(chain.view, blake2b(b"other"))
    assert refusal is not None
    assert refusal.reason is NoEffectReason.OTHER_BLOCK_APPLIED


def test_accumulating_nothing_is_nothing() -> None:
    assert SERVICE.accumulate(Chain().view, (), 5) == Accumulation()
