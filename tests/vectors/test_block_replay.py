"""Hive's chain: its blocks are read whole, and executed they give every root that they name."""

from itertools import pairwise
from typing import Any

import pytest
from tests.vectors.block_replay import (
    FIRST,
    chain,
    is_there,
    listed,
    replayed,
    rules_at,
    state,
)
from tests.vectors.evm_engine import plain_state
from tests.vectors.evm_states import listed_state
from tests.vectors.evm_states import number as quantity
from tests.vectors.folder import unhex

from laneway.evm import envelope
from laneway.evm.execution.fees import base_fee_after, excess_blob_gas_after
from laneway.evm.execution.system_calls import requests_hash
from laneway.evm.fork import Fork
from laneway.evm.header import (
    BlockHeader,
    encode_block,
    hash_of,
    transactions_root,
    withdrawals_root,
)
from laneway.evm.rules import BPO1_BLOBS, BPO2_BLOBS, PRAGUE_BLOBS
from laneway.evm.trie.tree import EMPTY_ROOT

pytestmark = [
    pytest.mark.vectors,
    pytest.mark.skipif(not is_there(), reason="no chain.rlp in evm/rpc/tests"),
]


def test_a_block_is_read_as_it_was_written_and_its_roots_are_those_of_its_lists() -> None:
    for raw, block in chain():
        assert encode_block(block) == raw
        assert transactions_root(block) == block.header.transactions_root
        assert withdrawals_root(block) == block.header.withdrawals_root


def test_each_block_names_the_one_before() -> None:
    headers = [block.header for _, block in chain()]
    assert [header.number for header in headers] == list(range(1, len(headers) + 1))
    for before, after in pairwise(headers):
        assert after.parent_hash == hash_of(before)


def test_the_first_block_follows_the_genesis_file() -> None:
    genesis = listed("tests", "genesis.json")
    header = BlockHeader(
        parent_hash=unhex(genesis["parentHash"]),
        coinbase=unhex(genesis["coinbase"]),
        state_root=listed_state(genesis["alloc"]).trie().root(),
        transactions_root=EMPTY_ROOT,
        receipts_root=EMPTY_ROOT,
        logs_bloom=bytes(256),
        difficulty=quantity(genesis["difficulty"]),
        number=quantity(genesis["number"]),
        gas_limit=quantity(genesis["gasLimit"]),
        gas_used=quantity(genesis["gasUsed"]),
        timestamp_s=quantity(genesis["timestamp"]),
        extra_data=unhex(genesis["extraData"]),
        prevrandao=unhex(genesis["mixHash"]),
        nonce=quantity(genesis["nonce"]).to_bytes(8),
    )
    assert hash_of(header) == chain()[0][1].header.parent_hash
    assert hash_of(header) == unhex(listed("replay_blocks_45_54.json")["genesisHash"])


def test_the_states_before_and_after_have_the_roots_of_their_headers() -> None:
    headers = {block.header.number: block.header for _, block in chain()}
    assert state("pre_state_block45.json").trie().root() == headers[FIRST - 1].state_root
    assert state("post_state_block54.json").trie().root() == headers[54].state_root


def numbers() -> list[int]:
    return [block["number"] for block in described()] if is_there() else []


def described() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = listed("replay_blocks_45_54.json")["blocks"]
    return found


@pytest.mark.parametrize("number", numbers())
def test_the_file_of_the_replay_says_of_a_block_what_its_bytes_say(number: int) -> None:
    (said,) = [block for block in described() if block["number"] == number]
    (block,) = [block for _, block in chain() if block.header.number == number]
    header = block.header
    assert hash_of(header) == unhex(said["hash"])
    assert header.parent_hash == unhex(said["parentHash"])
    assert header.state_root == unhex(said["stateRoot"])
    assert header.coinbase == unhex(said["coinbase"])
    assert header.parent_beacon_root == unhex(said["parentBeaconBlockRoot"])
    assert (header.timestamp_s, header.gas_limit) == (said["timestamp"], said["gasLimit"])
    assert (header.gas_used, header.base_fee_wei) == (said["gasUsed"], said["baseFeePerGas"])
    raws = [envelope.encode_canonical(one) for one in block.transactions]
    assert raws == [unhex(raw) for raw in said["transactions"]]
    assert len(block.withdrawals or ()) == len(said["withdrawals"])
    rules = rules_at(header.timestamp_s)
    assert (rules.fork, rules.blobs) == RULES[said["fork"]]


RULES = {
    "prague": (Fork.PRAGUE, PRAGUE_BLOBS),
    "osaka": (Fork.OSAKA, PRAGUE_BLOBS),
    "bpo1": (Fork.OSAKA, BPO1_BLOBS),
    "bpo2": (Fork.OSAKA, BPO2_BLOBS),
}


@pytest.mark.parametrize("number", numbers())
def test_a_block_that_is_executed_gives_all_that_its_header_says(number: int) -> None:
    (found,) = [one for one in replayed()[0] if one.header.number == number]
    header, did = found.header, found.did
    assert did.gas_used == header.gas_used
    assert did.blob_gas_used == header.blob_gas_used
    assert did.receipts_root() == header.receipts_root
    assert did.bloom() == header.logs_bloom
    assert requests_hash(did.requests) == header.requests_hash
    assert found.state_root == header.state_root


@pytest.mark.parametrize("number", numbers())
def test_the_fees_of_a_block_follow_from_its_parent(number: int) -> None:
    (found,) = [one for one in replayed()[0] if one.header.number == number]
    parent, header = found.parent, found.header
    assert parent.base_fee_wei is not None
    assert parent.excess_blob_gas is not None
    assert parent.blob_gas_used is not None
    base_fee = base_fee_after(
        base_fee_wei=parent.base_fee_wei, gas_used=parent.gas_used, gas_limit=parent.gas_limit
    )
    assert base_fee == header.base_fee_wei
    excess = excess_blob_gas_after(
        found.rules,
        excess_gas=parent.excess_blob_gas,
        used_gas=parent.blob_gas_used,
        base_fee_wei=parent.base_fee_wei,
    )
    assert excess == header.excess_blob_gas


def test_the_state_after_the_last_block_is_the_one_of_the_file() -> None:
    after = replayed()[1]
    wanted = plain_state(state("post_state_block54.json"))
    assert after.accounts == wanted.accounts
    assert after.storages == wanted.storages
    for account in wanted.accounts.values():
        assert after.codes[account.code_hash] == wanted.codes[account.code_hash]
