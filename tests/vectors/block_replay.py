"""Hive's chain of 54 blocks, with the states before block 45 and after block 54."""

from functools import cache
from typing import Any

import msgspec
from tests.vectors.evm_states import ListedState, listed_state
from tests.vectors.folder import folder

from laneway.evm import rlp
from laneway.evm.header import ExecutionBlock, decode_block

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
