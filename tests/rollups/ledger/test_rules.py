"""The ledger as a rollup: every verdict, blocks that hold, and those that do not."""

from unittest.mock import patch

import pytest
from msgspec.structs import replace
from tests.builder.stage import (
    DOMAIN,
    FIRST,
    MADE_MS,
    SECOND,
    THIRD,
    ledger,
    transfer,
)

from laneway.core.errors import BadRequest, BuildFailed
from laneway.jam.package import RefineContext
from laneway.jam.spec import IMPORT_COUNT_MAX, SEGMENT_BYTES
from laneway.rollups.domain import Domain
from laneway.rollups.ledger import rules as ledger_rules
from laneway.rollups.ledger.account import ACCOUNT, AMOUNT_MAX, LedgerEntry, account_key
from laneway.rollups.ledger.block import LedgerBlock, block_hash, segments_of
from laneway.rollups.ledger.limits import BALANCE_DEV
from laneway.rollups.ledger.rules import timestamp
from laneway.rollups.ledger.state import LedgerState
from laneway.rollups.ledger.transfer import TRANSFER, transfer_hash
from laneway.rollups.receipts import AccountState
from laneway.rollups.rules import BlockExecution, BlockWork

ROLLUP, GENESIS, STATE = ledger()
CONTEXT = RefineContext(
    anchor=bytes(32),
    state_root=bytes(32),
    beefy_root=bytes(32),
    lookup_anchor=bytes(32),
    lookup_anchor_slot=0,
)


def executed(
    *raws: bytes, state: LedgerState = STATE, parent: LedgerBlock = GENESIS
) -> BlockExecution[LedgerState, LedgerBlock]:
    return ROLLUP.execute(state, parent, raws, MADE_MS)


def made(*raws: bytes) -> tuple[LedgerBlock, LedgerState]:
    done = executed(*raws)
    assert done.block is not None
    return done.block, done.state


def verdicts(done: BlockExecution[LedgerState, LedgerBlock]) -> list[str]:
    return [one.verdict for one in done.judged]


# Transactions at the door.


def test_a_transfer_that_some_state_may_take_passes_with_its_hash() -> None:
    raw = transfer(7)
    assert ROLLUP.checked(raw) == transfer_hash(TRANSFER.decode(raw))
    assert ROLLUP.checked(transfer(0, amount=0)), "it uses its nonce, and is told to have failed"


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "it has 0 bytes, and a transfer has 144"),
        (transfer(0) + b"x", "it has 145 bytes"),
        (transfer(0)[:-1] + b"\xff", "its signature is not its sender's"),
        (transfer(0, domain=Domain(b"o" * 32, DOMAIN.service)), "for this ledger of this chain"),
        (bytes(144), "its signature is not its sender's"),
        (transfer(AMOUNT_MAX), "a nonce that no account ever uses"),
    ],
)
def test_what_no_state_can_take_does_not_pass_the_door(raw: bytes, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem):
        ROLLUP.checked(raw)


def test_a_used_nonce_is_told_at_the_door_with_the_next() -> None:
    _, after = made(transfer(0), transfer(1))
    assert ROLLUP.stale(transfer(1), after) == "its nonce 1 was used; the account's next is 2"
    assert ROLLUP.stale(transfer(2), after) == ""
    assert ROLLUP.stale(transfer(9), after) == ""


# Verdicts.


def test_a_transfer_that_pays_is_included() -> None:
    done = executed(transfer(0, amount=5))
    (judged,) = done.judged
    assert (judged.verdict, judged.reason) == ("included", "")
    assert judged.hash == ROLLUP.checked(transfer(0, amount=5))
    assert done.state.account(FIRST.id) == LedgerEntry(BALANCE_DEV - 5, 1)
    assert done.state.account(SECOND.id) == LedgerEntry(BALANCE_DEV + 5, 0)


def test_what_uses_its_nonce_and_fails_is_in_the_block_as_reverted() -> None:
    done = executed(transfer(0, amount=0), transfer(1, amount=BALANCE_DEV + 1), transfer(2))
    assert [(one.verdict, one.reason) for one in done.judged] == [
        ("reverted", "nothing_sent"),
        ("reverted", "insufficient_funds"),
        ("included", ""),
    ]
    assert done.block is not None
    assert [one.status for one in ROLLUP.outcomes(done.block)] == [
        "nothing_sent",
        "insufficient_funds",
        "ok",
    ]
    assert done.state.account(FIRST.id).nonce == 3


def test_a_recipient_without_room_makes_it_revert() -> None:
    full = LedgerState(
        DOMAIN,
        STATE.trie.insert(account_key(SECOND.id), ACCOUNT.encode(LedgerEntry(AMOUNT_MAX, 0))),
    )
    header = replace(GENESIS.header, post_root=full.root)
    done = executed(transfer(0), state=full, parent=replace(GENESIS, header=header))
    assert [(one.verdict, one.reason) for one in done.judged] == [("reverted", "balance_overflow")]


def test_what_is_no_transfer_is_refused_and_not_in_the_block() -> None:
    forged = transfer(0)[:-1] + b"\xff"
    done = executed(b"nothing", forged, transfer(0))
    assert verdicts(done) == ["refused", "refused", "included"]
    assert [one.hash for one in done.judged[:2]] == [b"", b""]
    assert "7 bytes" in done.judged[0].reason
    assert "signature" in done.judged[1].reason
    assert done.block is not None
    assert len(done.block.transfers) == 1


def test_the_same_bytes_twice_are_executed_once() -> None:
    done = executed(transfer(0), transfer(0))
    assert verdicts(done) == ["included", "refused"]
    assert done.judged[1].reason == "its nonce 0 was used; the account's next is 1"
    assert done.state.account(SECOND.id).balance == BALANCE_DEV + 5


def test_a_transfer_before_its_predecessor_gets_in_behind_it() -> None:
    late, early = transfer(0), transfer(1)
    done = executed(early, late)
    assert verdicts(done) == ["included", "included"]
    assert done.block is not None
    assert [TRANSFER.encode(one) for one in done.block.transfers] == [late, early]
    assert done.judged[0].hash == ROLLUP.checked(early), "judged in the order that was given"


def test_a_gap_waits_while_others_go_in() -> None:
    done = executed(transfer(2), transfer(0, payer=SECOND))
    assert verdicts(done) == ["deferred", "included"]
    assert done.judged[0].reason == "its nonce is 2, and nonce 0 is awaited first"


def test_a_gap_waits_also_while_nothing_goes_in() -> None:
    """What closes it may lie in the backlog yet."""
    done = executed(transfer(2), transfer(3))
    assert verdicts(done) == ["deferred", "deferred"]
    assert done.judged[1].reason == "its nonce is 3, and nonce 0 is awaited first"
    assert (done.block, done.state) == (None, STATE)


def test_a_block_of_nothing_is_no_block() -> None:
    assert executed() == BlockExecution(None, STATE, ())


def test_what_is_too_much_for_a_block_waits_for_the_next() -> None:
    raws = [transfer(nonce) for nonce in range(3)]
    with patch.object(ledger_rules, "TRANSFER_COUNT_MAX", 2):
        done = executed(*raws)
    assert verdicts(done) == ["included", "included", "full"]
    assert done.judged[2].reason == "its block is full"


def test_a_block_is_not_larger_than_its_witness_may_be() -> None:
    raws = [transfer(nonce, payee=payee) for nonce, payee in enumerate((SECOND, THIRD) * 2)]
    with patch.object(ledger_rules, "WITNESS_NODE_COUNT_MAX", 1):
        done = executed(*raws)
    assert verdicts(done) == ["included", "full", "full", "full"], "one always fits"


# Blocks.


def test_the_same_transactions_make_the_same_block_whenever_they_are_executed() -> None:
    one, two = made(transfer(0), transfer(1)), made(transfer(0), transfer(1))
    assert one == two
    assert one[0].header.timestamp == 77


def test_the_timestamp_is_a_slot_of_the_common_era_and_follows_from_the_order_alone() -> None:
    assert timestamp(MADE_MS + 5_999) == 77
    assert timestamp(0) == 0
    assert timestamp(1 << 62) == (1 << 32) - 1


def test_a_block_is_sealed_with_what_stands_in_its_header() -> None:
    block, after = made(transfer(0))
    sealed = ROLLUP.sealed(block)
    assert (sealed.number, sealed.hash) == (1, block_hash(block.header))
    assert (sealed.parent, sealed.pre_root) == (block_hash(GENESIS.header), STATE.root)
    assert sealed.post_root == after.root == ROLLUP.root(after)


def test_a_payload_is_the_block_and_leads_to_the_same_state() -> None:
    block, after = made(transfer(0), transfer(1, amount=0))
    again = ROLLUP.decode(ROLLUP.encode(block))
    assert again == block
    assert ROLLUP.replay(STATE, GENESIS, again) == after


def test_what_is_no_payload_is_told_for_good() -> None:
    with pytest.raises(BuildFailed, match="the payload is no block") as failed:
        ROLLUP.decode(b"nothing")
    assert failed.value.final


def test_a_block_that_does_not_follow_is_told_for_good() -> None:
    block, after = made(transfer(0))
    forged = replace(block, header=replace(block.header, post_root=bytes(32)))
    with pytest.raises(BuildFailed, match="block 1 does not follow") as failed:
        ROLLUP.replay(STATE, GENESIS, forged)
    assert failed.value.final
    with pytest.raises(BuildFailed, match="its parent left another state") as failed:
        ROLLUP.replay(after, GENESIS, block)
    assert failed.value.final


def test_a_parent_that_left_another_state_is_no_fault_of_the_transactions() -> None:
    _, after = made(transfer(0))
    with pytest.raises(BuildFailed, match="its parent left another state") as failed:
        executed(transfer(1), state=after)
    assert not failed.value.final


# Packages.


def test_the_work_of_a_block_is_refined_to_its_claim() -> None:
    block, _ = made(transfer(0), transfer(1))
    work = ROLLUP.work(STATE, block)
    assert len(work.items) == 1
    assert len(work.extrinsics) == 2
    ROLLUP.refine(block, work, CONTEXT, bytes(32))


def test_work_that_no_guarantor_would_take_is_told_for_good_with_its_reason() -> None:
    block, _ = made(transfer(0))
    work = ROLLUP.work(STATE, block)
    broken = BlockWork(work.items, (work.extrinsics[0], b"\0"))
    with pytest.raises(BuildFailed, match="no guarantor would take it: the proof") as failed:
        ROLLUP.refine(block, broken, CONTEXT, bytes(32))
    assert failed.value.final


def test_work_that_comes_to_another_block_is_told_for_good() -> None:
    block, _ = made(transfer(0))
    work = ROLLUP.work(STATE, block)
    lying = replace(block, receipts=(replace(block.receipts[0], transfer_hash=bytes(32)),))
    with pytest.raises(BuildFailed, match="comes to something else") as failed:
        ROLLUP.refine(lying, work, CONTEXT, bytes(32))
    assert failed.value.final


# From the chain, and from disk.


def test_a_genesis_that_is_no_ledgers_is_told() -> None:
    with pytest.raises(BuildFailed, match="the service's genesis is that of no ledger"):
        ROLLUP.genesis(b"\xff")


def test_a_block_comes_back_from_its_segments() -> None:
    block, _ = made(*(transfer(nonce) for nonce in range(40)))
    segments = segments_of(block)
    assert ROLLUP.segments_count(segments[0]) == len(segments) == 2
    assert ROLLUP.from_segments(segments) == block


def test_segments_that_hold_no_block_are_told() -> None:
    with pytest.raises(BuildFailed, match="the segments hold no block"):
        ROLLUP.from_segments((bytes(SEGMENT_BYTES),))
    most = IMPORT_COUNT_MAX * SEGMENT_BYTES
    assert ROLLUP.segments_count((most - 4).to_bytes(4, "little")) == IMPORT_COUNT_MAX
    with pytest.raises(BuildFailed, match="bytes, which none has"):
        ROLLUP.segments_count((most - 3).to_bytes(4, "little"))


def test_a_state_comes_back_from_its_entries_and_the_changes_of_a_block() -> None:
    stranger = replace(THIRD, id=b"s" * 32)
    block, after = made(transfer(0, payee=stranger), transfer(1, payee=stranger, amount=0))
    entries = dict(ROLLUP.entries(STATE)) | dict(ROLLUP.changes(after, block))
    assert ROLLUP.restored(entries.items()) == after
    assert account_key(stranger.id) in entries


def test_a_recipient_who_got_nothing_is_no_change() -> None:
    stranger = replace(THIRD, id=b"s" * 32)
    block, after = made(transfer(0, payee=stranger, amount=0))
    assert list(ROLLUP.changes(after, block)) == [account_key(FIRST.id)]


def test_each_ledger_of_each_chain_has_an_identity_of_its_own() -> None:
    others = [Domain(b"o" * 32, DOMAIN.service), Domain(DOMAIN.chain, DOMAIN.service + 1)]
    assert len({one.identity() for one in (DOMAIN, *others)}) == 3


# What people ask.


def test_an_account_is_as_the_state_has_it_and_a_transfer_spends_its_senders_nonce() -> None:
    _, after = made(transfer(0))
    assert ROLLUP.account(after, FIRST.id) == AccountState(BALANCE_DEV - 5, 1)
    assert ROLLUP.account(after, b"x" * 32) == AccountState()
    assert ROLLUP.spent(transfer(7)) == (FIRST.id, 7)
