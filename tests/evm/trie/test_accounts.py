"""A state is a value: a write set gives the next one, and the one before stays usable."""

import random

import pytest
from msgspec import Struct
from tests.evm.trie.naive import naive_root

from laneway.evm.errors import WrongFieldCount
from laneway.evm.keccak import keccak
from laneway.evm.rlp import encode
from laneway.evm.trie.accounts import (
    AccountLeaf,
    AccountTrie,
    decode_account,
    encode_account,
    state_root,
    storage_root,
)
from laneway.evm.trie.nodes import EMPTY, hash_of
from laneway.evm.trie.proof import verify

NO_CODE = keccak(b"")
ALICE, BOB, CAROL = (bytes([number]) * 20 for number in (0xA1, 0xB0, 0xCA))


class Plain(Struct, frozen=True):
    nonce: int = 0
    balance_wei: int = 0
    code_hash: bytes = NO_CODE


def naive_state(accounts: dict[bytes, Plain], storages: dict[bytes, dict[int, int]]) -> bytes:
    def slots(address: bytes) -> bytes:
        found = storages.get(address, {}).items()
        return naive_root(
            {keccak(key.to_bytes(32)): encode(value) for key, value in found if value}
        )

    return naive_root(
        {
            keccak(address): encode((one.nonce, one.balance_wei, slots(address), one.code_hash))
            for address, one in accounts.items()
        }
    )


def test_an_account_is_nonce_balance_storage_and_code() -> None:
    raw = encode_account(5, 1 << 80, b"\x01" * 32, NO_CODE)
    assert raw == encode((5, 1 << 80, b"\x01" * 32, NO_CODE))
    assert decode_account(raw) == AccountLeaf(5, 1 << 80, b"\x01" * 32, NO_CODE)
    with pytest.raises(WrongFieldCount):
        decode_account(encode((5, 1, NO_CODE)))


def test_nothing_has_the_empty_root() -> None:
    assert AccountTrie().root() == hash_of(EMPTY) == state_root([])


def test_what_was_written_is_read() -> None:
    state = AccountTrie().updated({ALICE: Plain(1, 2), BOB: Plain(3)}, {BOB: {7: 8, 9: 0}})
    assert state.account(ALICE) == AccountLeaf(1, 2, storage_root({}), NO_CODE)
    assert state.account(BOB) == AccountLeaf(3, 0, storage_root({7: 8}), NO_CODE)
    assert state.account(CAROL) is None
    assert [state.storage(BOB, key) for key in (7, 8, 9)] == [8, 0, 0]
    assert [state.storage(address, 7) for address in (ALICE, CAROL)] == [0, 0]
    assert [state.has_storage(address) for address in (ALICE, BOB, CAROL)] == [False, True, False]


def test_a_storage_that_is_written_alone_keeps_its_account() -> None:
    before = AccountTrie().updated({BOB: Plain(3, 1 << 200)}, {BOB: {7: 8}})
    after = before.updated({}, {BOB: {7: 0, 1: 2}, ALICE: {}})
    assert after.account(BOB) == AccountLeaf(3, 1 << 200, storage_root({1: 2}), NO_CODE)
    assert after.root() == naive_state({BOB: Plain(3, 1 << 200)}, {BOB: {1: 2}})


def test_an_account_that_changes_keeps_its_storage() -> None:
    before = AccountTrie().updated({BOB: Plain(3)}, {BOB: {7: 8}})
    after = before.updated({BOB: Plain(4)}, {})
    assert after.storage(BOB, 7) == 8
    assert after.root() == naive_state({BOB: Plain(4)}, {BOB: {7: 8}})


def test_an_account_is_deleted_with_its_storage() -> None:
    before = AccountTrie().updated({ALICE: Plain(1), BOB: Plain(3)}, {BOB: {7: 8}})
    after = before.updated({BOB: None, CAROL: None}, {BOB: {1: 2}})
    assert after.root() == naive_state({ALICE: Plain(1)}, {})
    assert not after.updated({BOB: Plain(3)}, {}).has_storage(BOB)


def test_storage_belongs_to_an_account() -> None:
    with pytest.raises(AssertionError):
        AccountTrie().updated({}, {BOB: {1: 2}})


def test_an_older_state_stays_usable() -> None:
    first = AccountTrie().updated({ALICE: Plain(1), BOB: Plain(3)}, {BOB: {7: 8}})
    root = first.root()
    second = first.updated({ALICE: None}, {BOB: {7: 9}})
    assert (first.root(), first.storage(BOB, 7), second.storage(BOB, 7)) == (root, 8, 9)
    assert first.account(ALICE) is not None


def test_random_write_sets_give_the_root_of_what_is_left() -> None:
    chance = random.Random(3)
    addresses = [chance.randbytes(20) for _ in range(30)]
    accounts: dict[bytes, Plain] = {}
    storages: dict[bytes, dict[int, int]] = {}
    state = AccountTrie()
    for _ in range(15):
        written: dict[bytes, Plain | None] = {
            address: Plain(chance.randrange(9), chance.getrandbits(90))
            if chance.random() < 0.7
            else None
            for address in chance.sample(addresses, 8)
        }
        for address, one in written.items():
            if one is None:
                accounts.pop(address, None)
                storages.pop(address, None)
            else:
                accounts[address] = one
        slots = {
            address: {chance.randrange(6): chance.randrange(3) for _ in range(3)}
            for address in chance.sample(sorted(accounts), min(len(accounts), 4))
        }
        for address, values in slots.items():
            storages.setdefault(address, {}).update(values)
        state = state.updated(written, slots)
        assert state.root() == naive_state(accounts, storages)
    assert state.root() == state_root((a, one, storages.get(a, {})) for a, one in accounts.items())


def test_accounts_and_slots_are_proven_present_and_absent() -> None:
    state = AccountTrie().updated({ALICE: Plain(1), BOB: Plain(3)}, {BOB: {7: 8, 1: 1}})
    for address in (ALICE, BOB, CAROL):
        value = verify(state.root(), keccak(address), state.proof(address))
        assert (decode_account(value) if value else None) == state.account(address)
    found = state.account(BOB)
    assert found is not None
    for key, value in ((7, b"\x08"), (2, b"")):
        proof = state.storage_proof(BOB, key)
        assert verify(found.storage_root, keccak(key.to_bytes(32)), proof) == value
    assert state.storage_proof(ALICE, 7) == state.storage_proof(CAROL, 7) == ()
