"""Laws of the ledger's states: each is kept, and a block leads from one to the next."""

import pytest
from tests.rollups.ledger.stage import BALANCES, DOMAIN, IDS, begun, send

from laneway.jam.errors import InvalidBlock, Unencodable
from laneway.jam.hashing import ZERO_HASH
from laneway.jam.service.commitment import AUTHORIZERS_KEY, authorizers_of, head_of
from laneway.jam.service.interface import Stored
from laneway.jam.service.values import ServiceHead
from laneway.jam.trie import root
from laneway.rollups.ledger.account import ACCOUNT, AMOUNT_MAX, NOBODY, LedgerEntry, account_key
from laneway.rollups.ledger.block import block_hash, genesis_header, receipts_root
from laneway.rollups.ledger.execution import TransferStatus
from laneway.rollups.ledger.kind import GENESIS_KEY
from laneway.rollups.ledger.limits import TRANSFER_COUNT_MAX
from laneway.rollups.ledger.state import (
    execute,
    genesis,
    genesis_balances,
    genesis_state,
    witness_of,
)
from laneway.rollups.ledger.witness import nodes_on_the_ways, touched_keys


def test_the_root_is_that_of_the_accounts_records() -> None:
    state, _ = begun()
    plain = {account_key(id_): ACCOUNT.encode(LedgerEntry(had)) for id_, had in BALANCES.items()}
    assert state.root == root(plain)
    assert [state.account(id_).balance for id_ in IDS[:5]] == [1_000, 2_000, 3_000, 4_000, 0]
    assert state.account(IDS[6]) == NOBODY


def test_genesis_storage_holds_the_head_and_the_accounts() -> None:
    state, header = begun()
    view = Stored(genesis(BALANCES))
    assert head_of(view) == ServiceHead(
        number=0, block=block_hash(header), state_root=state.root, slot=0
    )
    assert genesis_balances(view) == BALANCES
    assert genesis_balances(Stored({})) == {}
    first = sorted(BALANCES)[0]
    raw = view.read(GENESIS_KEY)
    assert raw is not None
    assert raw.startswith(b"\4" + first + BALANCES[first].to_bytes(8, "little"))


def test_a_genesis_may_name_the_authorizers_that_move_the_line() -> None:
    """The record is all that it adds."""
    named = genesis(BALANCES, [DOMAIN.chain])
    assert authorizers_of(Stored(named)) == (DOMAIN.chain,)
    assert {key: named[key] for key in named if key != AUTHORIZERS_KEY} == genesis(BALANCES)


def test_there_is_no_more_money_than_a_balance_has_room_for() -> None:
    genesis_state(DOMAIN, {IDS[0]: AMOUNT_MAX - 1, IDS[1]: 1})
    for wrong in ({IDS[0]: AMOUNT_MAX, IDS[1]: 1}, {IDS[0]: 0}, {IDS[0]: -1}):
        with pytest.raises(Unencodable):
            genesis_state(DOMAIN, wrong)
        with pytest.raises(Unencodable):
            genesis(wrong)


def test_a_ledger_may_begin_with_nothing() -> None:
    assert genesis_state(DOMAIN, {}).root == ZERO_HASH


def test_a_block_leads_from_one_state_to_the_next_and_both_stay() -> None:
    state, parent = begun()
    block, after = execute(state, [send(0, 5, 300), send(0, 5, 701, 1)], parent, 11)
    header = block.header
    assert (header.number, header.parent, header.timestamp) == (1, block_hash(parent), 11)
    assert (header.pre_root, header.post_root) == (state.root, after.root)
    assert header.count == 2
    assert [receipt.status for receipt in block.receipts] == [
        TransferStatus.OK,
        TransferStatus.INSUFFICIENT_FUNDS,
    ]
    assert header.receipts_root == receipts_root(block.receipts)
    assert after.account(IDS[0]) == LedgerEntry(700, 2)
    assert after.account(IDS[5]) == LedgerEntry(300, 0)
    assert state.account(IDS[0]) == LedgerEntry(1_000, 0)
    second, _ = execute(after, [send(5, 0, 1)], header, 12)
    assert second.header.number == 2
    assert second.header.parent == block_hash(header)


def test_the_same_transfers_parent_and_timestamp_make_the_same_block() -> None:
    state, parent = begun()
    transfers = [send(0, 5, 300), send(1, 5, 1)]
    blocks = [execute(state, transfers, parent, 11)[0] for _ in range(2)]
    assert blocks[0] == blocks[1]
    others = [
        execute(state, transfers[::-1], parent, 11)[0],
        execute(state, transfers, parent, 12)[0],
        execute(state, transfers[:1], parent, 11)[0],
    ]
    hashes = {block_hash(block.header) for block in (blocks[0], *others)}
    assert len(hashes) == 4


def test_no_block_is_empty_or_too_large() -> None:
    state, parent = begun()
    for transfers in ([], [send(0, 1, 1)] * (TRANSFER_COUNT_MAX + 1)):
        with pytest.raises(InvalidBlock):
            execute(state, transfers, parent, 1)


def test_a_block_is_made_on_the_state_that_its_parent_left() -> None:
    state, _ = begun()
    with pytest.raises(InvalidBlock):
        execute(state, [send(0, 1, 1)], genesis_header(ZERO_HASH), 1)


def test_a_witness_is_of_the_state_before_the_block() -> None:
    state, parent = begun()
    block, after = execute(state, [send(0, 5, 300)], parent, 11)
    assert witness_of(state, block) == nodes_on_the_ways(state.trie, touched_keys(block.transfers))
    with pytest.raises(AssertionError):
        witness_of(after, block)
