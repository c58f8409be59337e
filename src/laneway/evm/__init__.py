"""Pure: the EVM. Transactions in bytes, their execution on any state, blocks, receipts and tries.

The names below are what a program needs to execute transactions by itself (docs/evm.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laneway.evm.execution.block import EvmExecution
    from laneway.evm.execution.receipt import EvmReceipt
    from laneway.evm.execution.replay import ReplayedBlock, replay
    from laneway.evm.fork import Fork
    from laneway.evm.machine.context import BlockContext
    from laneway.evm.rules import BlobSchedule, ForkRules, rules_of
    from laneway.evm.state.changes import ReadSet, WriteSet
    from laneway.evm.state.journal import StateJournal
    from laneway.evm.state.plain import PlainState
    from laneway.evm.state.view import StateAccount, StateView
    from laneway.evm.trie.accounts import AccountTrie
    from laneway.evm.validity import validate

__all__ = [
    "AccountTrie",
    "BlobSchedule",
    "BlockContext",
    "EvmExecution",
    "EvmReceipt",
    "Fork",
    "ForkRules",
    "PlainState",
    "ReadSet",
    "ReplayedBlock",
    "StateAccount",
    "StateJournal",
    "StateView",
    "WriteSet",
    "replay",
    "rules_of",
    "validate",
]

PLACES = {
    "AccountTrie": "trie.accounts",
    "BlobSchedule": "rules",
    "BlockContext": "machine.context",
    "EvmExecution": "execution.block",
    "EvmReceipt": "execution.receipt",
    "Fork": "fork",
    "ForkRules": "rules",
    "PlainState": "state.plain",
    "ReadSet": "state.changes",
    "ReplayedBlock": "execution.replay",
    "StateAccount": "state.view",
    "StateJournal": "state.journal",
    "StateView": "state.view",
    "WriteSet": "state.changes",
    "replay": "execution.replay",
    "rules_of": "rules",
    "validate": "validity",
}
"""Imported when they are asked for: accounts that only sign need none of them."""


def __getattr__(name: str) -> object:
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{PLACES[name]}"), name)
