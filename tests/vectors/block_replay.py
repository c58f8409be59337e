"""Hive's chain of 54 blocks, with the states before block 45 and after block 54."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct
from tests.vectors.evm_engine import plain_state
from tests.vectors.evm_states import ListedState, listed_state
from tests.vectors.folder import folder

from laneway.evm import rlp
from laneway.evm.execution.replay import ReplayedBlock, replay
from laneway.evm.fork import Fork
from laneway.evm.header import BlockHeader, ExecutionBlock, decode_block, hash_of
from laneway.evm.rules import BlobSchedule, ForkRules, rules_of
from laneway.evm.state.plain import PlainState

RPC = ("evm", "rpc")
FIRST = 45
"""The first block whose state before it is known."""


def is_there() -> bool:
    return folder(*RPC, "tests", "chain.rlp").exists()


@cache
def chain() -> tuple[tuple[bytes, ExecutionBlock], ...]:
    """All blocks from 1 on, each with its bytes."""
    raw = folder(*RPC, "tests", "chain.rlp").read_bytes()
    items = rlp.decode(rlp.encode_list(raw))
    # RLP has one form of each value, so these are the bytes of the file.
    return tuple((each, decode_block(each)) for each in map(rlp.encode, items))


def state(name: str) -> ListedState:
    return listed_state(listed(name))


def listed(*parts: str) -> Any:
    return msgspec.json.decode(folder(*RPC, *parts).read_bytes())


FORKS = {"cancun": Fork.CANCUN, "prague": Fork.PRAGUE, "osaka": Fork.OSAKA}
"""A later name in the genesis file changes the blob schedule alone (EIP-7892)."""


@cache
def schedule() -> tuple[tuple[int, ForkRules], ...]:
    """The rules of the chain, each with the time from which they hold, the latest first."""
    config = listed("tests", "genesis.json")["config"]
    found = []
    for name, blobs in config["blobSchedule"].items():
        begin = config[f"{name}Time"]
        past = [fork for known, fork in FORKS.items() if config[f"{known}Time"] <= begin]
        schedule = BlobSchedule(blobs["target"], blobs["max"], blobs["baseFeeUpdateFraction"])
        found.append((begin, rules_of(max(past), schedule)))
    return tuple(sorted(found, key=lambda entry: -entry[0]))


def rules_at(timestamp_s: int) -> ForkRules:
    return next(rules for begin, rules in schedule() if begin <= timestamp_s)


class Replayed(Struct, frozen=True):
    parent: BlockHeader
    header: BlockHeader
    rules: ForkRules
    did: ReplayedBlock
    state_root: bytes


@cache
def replayed() -> tuple[tuple[Replayed, ...], PlainState]:
    """What each block from the first on did, and the state after the last one."""
    before = state("pre_state_block45.json")
    after = plain_state(before)
    found = list(executed(after, before))
    return tuple(found), after


def executed(after: PlainState, before: ListedState) -> Iterator[Replayed]:
    hashes = {block.header.number: hash_of(block.header) for _, block in chain()}
    chain_id = listed("tests", "genesis.json")["config"]["chainId"]
    trie = before.trie()
    blocks = [block for _, block in chain()]
    parent = blocks[FIRST - 2].header
    for block in blocks[FIRST - 1 :]:
        rules = rules_at(block.header.timestamp_s)
        did = replay(after, block, rules, chain_id=chain_id, block_hash=hashes.__getitem__)
        after.apply(did.changes)
        trie = trie.updated(did.changes.accounts, did.changes.storage)
        yield Replayed(parent, block.header, rules, did, trie.root())
        parent = block.header
