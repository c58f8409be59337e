"""Laws of a state in a tree: the EVM reads there what it wrote."""

import random

import pytest
from msgspec import Struct

from laneway.evm import (
    BlockContext,
    EvmExecution,
    Fork,
    PlainState,
    ReadSet,
    StateAccount,
    StateJournal,
    StateView,
    WriteSet,
    rules_of,
)
from laneway.evm.keccak import keccak
from laneway.evm.transaction import DynamicFeeTransaction
from laneway.ubt.account import BasicData, chunkify, decode_basic_data, encode_basic_data
from laneway.ubt.errors import BalanceTooBig, CodeUnknown, SlotShadowed
from laneway.ubt.keys import basic_data_key, chunk_key, code_hash_key, slot_key
from laneway.ubt.profile import GETH, JAM, PROFILES, ZERO, TreeProfile
from laneway.ubt.state import EMPTY_CODE_HASH, TreeState
from laneway.ubt.tree import UnifiedTree
from laneway.ubt.witness import make_witness, read_section

ALICE, TOKEN = b"\xaa" * 20, b"\xcc" * 20
CODE = bytes(range(1, 90))
ALL = pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda one: one.name)


class Changes(Struct, frozen=True):
    accounts: dict[bytes, StateAccount | None] = {}
    storage: dict[bytes, dict[int, int]] = {}
    codes: dict[bytes, bytes] = {}


def empty(profile: TreeProfile) -> TreeState:
    return TreeState(UnifiedTree(profile))


def with_code(address: bytes, code: bytes, nonce: int = 1) -> Changes:
    account = StateAccount(nonce, 7, keccak(code))
    return Changes({address: account}, codes={keccak(code): code})


@ALL
def test_an_account_is_read_as_it_was_written(profile: TreeProfile) -> None:
    state = empty(profile).updated(
        Changes({ALICE: StateAccount(3, 5)}, {ALICE: {0: 9, 1 << 250: 8}})
    )
    view: StateView = state.view(StateAccount)
    assert view.account(ALICE) == StateAccount(3, 5)
    assert view.account(TOKEN) is None
    assert [view.storage(ALICE, key) for key in (0, 1, 1 << 250)] == [9, 0, 8]
    assert (view.code(ALICE), view.code(TOKEN), view.has_storage(ALICE)) == (b"", b"", False)
    assert empty(profile).view(StateAccount).account(ALICE) is None


@ALL
def test_leaves_stand_where_the_profile_puts_them(profile: TreeProfile) -> None:
    tree = empty(profile).updated(with_code(TOKEN, CODE)).tree
    data = encode_basic_data(TOKEN, BasicData(1, 7, len(CODE)))
    wanted = {basic_data_key(profile, TOKEN): data, code_hash_key(profile, TOKEN): keccak(CODE)}
    for number, chunk in enumerate(chunkify(CODE)):
        wanted[chunk_key(profile, TOKEN, number)] = chunk
    assert dict(tree.items()) == wanted


@ALL
def test_an_account_without_code_has_a_hash_where_the_profile_wants_it(
    profile: TreeProfile,
) -> None:
    state = empty(profile).updated(Changes({ALICE: StateAccount(1, 2)}))
    wanted = EMPTY_CODE_HASH if profile.has_empty_code_hash else None
    key = code_hash_key(profile, ALICE)
    assert state.tree.get(key) == wanted
    again = state.changes(Changes({ALICE: StateAccount(2, 2)}))
    assert again == {key[:31] + b"\x00": encode_basic_data(ALICE, BasicData(2, 2, 0))}


@ALL
def test_code_is_kept_while_an_account_changes_and_replaced_with_it(profile: TreeProfile) -> None:
    first = empty(profile).updated(with_code(TOKEN, CODE))
    richer = first.updated(Changes({TOKEN: StateAccount(2, 10**9, keccak(CODE))}))
    assert richer.view(StateAccount).account(TOKEN) == StateAccount(2, 10**9, keccak(CODE))
    assert richer.code(TOKEN) == CODE
    shorter = richer.updated(with_code(TOKEN, b"\x01"))
    assert (shorter.code(TOKEN), first.code(TOKEN)) == (b"\x01", CODE)
    gone = None if profile.is_zero_absent else ZERO
    assert shorter.tree.get(chunk_key(profile, TOKEN, 1)) == gone
    cleared = shorter.updated(Changes({TOKEN: StateAccount(3, 7)}))
    assert cleared.code(TOKEN) == b""
    assert cleared.view(StateAccount).account(TOKEN) == StateAccount(3, 7)
    again = cleared.updated(Changes({TOKEN: StateAccount(3, 7, keccak(CODE))}))
    assert again.code(TOKEN) == CODE


def test_a_root_of_jam_depends_on_the_state_alone() -> None:
    account = Changes({ALICE: StateAccount(1, 2)}, {ALICE: {5: 6}})
    wanted = empty(JAM).updated(account).root()
    state = empty(JAM).updated(with_code(TOKEN, CODE)).updated(with_code(ALICE, CODE))
    state = state.updated(Changes({TOKEN: None}, {ALICE: {5: 1, 300: 2}}))
    state = state.updated(Changes({ALICE: StateAccount(1, 2)}, {ALICE: {5: 6, 300: 0}}))
    assert state.root() == wanted
    assert state.updated(Changes({ALICE: None}, {ALICE: {5: 0}})).root() == ZERO


def test_what_is_deleted_is_zeros_where_the_profile_deletes_nothing() -> None:
    state = empty(GETH).updated(Changes({ALICE: StateAccount(1, 2)}, {ALICE: {5: 6}}))
    gone = state.updated(Changes({ALICE: None}, {ALICE: {5: 0}}))
    assert gone.account(ALICE) is None
    assert gone.storage(ALICE, 5) == 0
    assert [value for _, value in gone.tree.items()] == [ZERO] * 3
    assert state.storage(ALICE, 5) == 6


def test_a_slot_in_the_place_of_the_balance_is_never_written_and_reads_as_nothing() -> None:
    state = empty(JAM).updated(Changes({TOKEN: StateAccount(1, 2)}))
    slot = 0xFF << 248
    assert slot_key(JAM, TOKEN, slot) == basic_data_key(JAM, TOKEN)
    assert state.storage(TOKEN, slot) == 0
    with pytest.raises(SlotShadowed, match="header or code"):
        state.updated(Changes(storage={TOKEN: {slot: 10**30}}))


def test_a_balance_that_does_not_fit_leaves_the_state_as_it_was() -> None:
    state = empty(JAM)
    with pytest.raises(BalanceTooBig, match=ALICE.hex()):
        state.updated(Changes({ALICE: StateAccount(0, 1 << 128)}))
    assert state.root() == ZERO


def test_code_that_nobody_kept_is_named() -> None:
    with pytest.raises(CodeUnknown, match=keccak(CODE).hex()):
        empty(JAM).updated(Changes({TOKEN: StateAccount(1, 0, keccak(CODE))}))
    state = empty(JAM).updated(with_code(TOKEN, CODE))
    with pytest.raises(CodeUnknown, match=keccak(CODE).hex()):
        TreeState(state.tree).code(TOKEN)


COUNTER = bytes.fromhex("5f546001015f55")
"""storage[0] += 1."""
MAKER = bytes.fromhex("6760015f5360015ff35f52600860185ff0506020355f355500")
"""Creates a contract of one byte, and stores what it is called with."""


@ALL
def test_executions_on_a_tree_are_those_on_dictionaries(profile: TreeProfile) -> None:
    """Transactions on both states, a block at a time; write sets and read sets are the same."""
    plain, tree = PlainState(), empty(profile)
    begun = Changes(
        {
            ALICE: StateAccount(0, 10**20),
            TOKEN: StateAccount(1, 0, keccak(COUNTER)),
            b"\xdd" * 20: StateAccount(1, 0, keccak(MAKER)),
        },
        codes={keccak(code): code for code in (COUNTER, MAKER)},
    )
    plain.apply(WriteSet(begun.accounts, begun.storage, begun.codes))
    tree = tree.updated(begun)
    chance = random.Random(3)
    for number in range(6):
        block = BlockContext(
            number=number, timestamp_s=12 * number, coinbase=b"\xc0" * 20, gas_limit=30_000_000,
            base_fee_wei=7, prevrandao=bytes(32), blob_base_fee_wei=1, chain_id=1,
            block_hash=lambda _: bytes(32),
        )  # fmt: skip
        journals = [StateJournal(view) for view in (plain, tree.view(StateAccount))]
        for offset in range(4):
            call = DynamicFeeTransaction(
                chain_id=1, nonce=4 * number + offset, tip_wei_max=1, fee_wei_max=20,
                gas_limit=300_000, to=chance.choice([TOKEN, b"\xdd" * 20, chance.randbytes(20)]),
                value_wei=offset, data=chance.randbytes(64),
            )  # fmt: skip
            receipts = [
                EvmExecution(journal, block, rules_of(Fork.OSAKA)).transact(call, sender=ALICE)
                for journal in journals
            ]
            assert receipts[0] == receipts[1]
        writes, others = (journal.write_set() for journal in journals)
        assert writes == others
        check_witness(tree, journals[1].read_set(), writes)
        plain.apply(writes)
        tree = tree.updated(writes)
    assert tree.storage(TOKEN, 0) > 0
    assert keccak(b"\x01") in tree.codes


def check_witness(before: TreeState, reads: ReadSet, writes: WriteSet) -> None:
    """What an execution read and wrote is shown to somebody who has the two roots alone."""
    profile, after = before.tree.profile, before.updated(writes)
    written = [touched for touched, _ in before.written(writes)]
    pre, post = make_witness(before.tree, after.tree, before.read(reads), written)
    shown = read_section(pre, before.root(), profile, is_post=False)
    for address, account in reads.accounts.items():
        leaf = shown.get(basic_data_key(profile, address)) or ZERO
        data = decode_basic_data(leaf)
        wanted = account or StateAccount()
        assert (data.nonce, data.balance_wei) == (wanted.nonce, wanted.balance_wei)
        code_hash = shown.get(code_hash_key(profile, address)) or ZERO
        assert code_hash in (wanted.code_hash, ZERO)
    for address, slots in reads.storage.items():
        for slot, held in slots.items():
            assert int.from_bytes(shown.get(slot_key(profile, address, slot)) or ZERO) == held
    for address, code in reads.codes.items():
        for number, chunk in enumerate(chunkify(code)):
            assert shown.get(chunk_key(profile, address, number)) == chunk
    shown = read_section(post, after.root(), profile, is_post=True)
    for key, value in before.changes(writes).items():
        assert (shown.get(key) or ZERO) == value


def test_a_slot_that_nothing_can_be_in_needs_no_witness() -> None:
    slot = 0xFF << 248
    reads = ReadSet({}, {TOKEN: {slot: 0, 5: 0}}, {}, {})
    assert [one.slot for one in empty(JAM).read(reads)] == [(5).to_bytes(32, "big")]
