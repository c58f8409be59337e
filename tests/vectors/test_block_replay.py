"""Hive's chain: its blocks are read whole, and executed they give every root that they name."""

from itertools import pairwise
from typing import Any

import pytest
from tests.vectors.block_replay import FIRST, chain, is_there, listed, state
from tests.vectors.evm_states import listed_state, number
from tests.vectors.folder import unhex

from laneway.evm import envelope
from laneway.evm.header import (
    BlockHeader,
    ExecutionBlock,
    encode_block,
    hash_of,
    transactions_root,
    withdrawals_root,
)
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
        difficulty=number(genesis["difficulty"]),
        number=number(genesis["number"]),
        gas_limit=number(genesis["gasLimit"]),
        gas_used=number(genesis["gasUsed"]),
        timestamp_s=number(genesis["timestamp"]),
        extra_data=unhex(genesis["extraData"]),
        prevrandao=unhex(genesis["mixHash"]),
        nonce=number(genesis["nonce"]).to_bytes(8),
    )
    assert hash_of(header) == chain()[0][1].header.parent_hash
    assert hash_of(header) == unhex(listed("replay_blocks_45_54.json")["genesisHash"])


def test_the_states_before_and_after_have_the_roots_of_their_headers() -> None:
    headers = {block.header.number: block.header for _, block in chain()}
    assert state("pre_state_block45.json").trie().root() == headers[FIRST - 1].state_root
    assert state("post_state_block54.json").trie().root() == headers[54].state_root


def replayed() -> list[Any]:
    if not is_there():
        return []
    return [pytest.param(one, id=str(one["number"])) for one in described()]


def described() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = listed("replay_blocks_45_54.json")["blocks"]
    return found


@pytest.mark.parametrize("said", replayed())
def test_the_file_of_the_replay_says_of_a_block_what_its_bytes_say(said: dict[str, Any]) -> None:
    block = block_of(said["number"])
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


def block_of(at: int) -> ExecutionBlock:
    (found,) = [block for _, block in chain() if block.header.number == at]
    return found
