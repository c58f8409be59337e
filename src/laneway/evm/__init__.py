"""Pure: the EVM. Transactions in bytes, their execution on any state, blocks, receipts and tries.

The names below are what a program needs to execute transactions by itself (docs/evm.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from laneway.evm.calls.access_list import make_access_list
    from laneway.evm.calls.call import CallAnswer, call
    from laneway.evm.calls.errors import CallFailed, GasAllowanceExceeded
    from laneway.evm.calls.estimate import estimate
    from laneway.evm.calls.overrides import AccountOverride, BlockOverride, OverriddenView
    from laneway.evm.calls.request import CallRequest
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
    from laneway.evm.tracing.call_tree import CallTreeTracer
    from laneway.evm.tracing.lines import eip3155, struct_logs
    from laneway.evm.tracing.objects import call_object, difference_object, prestate_object
    from laneway.evm.tracing.prestate import difference, prestate
    from laneway.evm.tracing.run import TracedRun
    from laneway.evm.tracing.steps import StepTracer
    from laneway.evm.tracing.watch import TransactionTracer
    from laneway.evm.trie.accounts import AccountTrie
    from laneway.evm.validity import validate

__all__ = [
    "AccountOverride",
    "AccountTrie",
    "BlobSchedule",
    "BlockContext",
    "BlockOverride",
    "CallAnswer",
    "CallFailed",
    "CallRequest",
    "CallTreeTracer",
    "EvmExecution",
    "EvmReceipt",
    "Fork",
    "ForkRules",
    "GasAllowanceExceeded",
    "OverriddenView",
    "PlainState",
    "ReadSet",
    "ReplayedBlock",
    "StateAccount",
    "StateJournal",
    "StateView",
    "StepTracer",
    "TracedRun",
    "TransactionTracer",
    "WriteSet",
    "call",
    "call_object",
    "difference",
    "difference_object",
    "eip3155",
    "estimate",
    "make_access_list",
    "prestate",
    "prestate_object",
    "replay",
    "rules_of",
    "struct_logs",
    "validate",
]

PLACES = {
    "AccountOverride": "calls.overrides",
    "AccountTrie": "trie.accounts",
    "BlobSchedule": "rules",
    "BlockContext": "machine.context",
    "BlockOverride": "calls.overrides",
    "CallAnswer": "calls.call",
    "CallFailed": "calls.errors",
    "CallRequest": "calls.request",
    "CallTreeTracer": "tracing.call_tree",
    "EvmExecution": "execution.block",
    "EvmReceipt": "execution.receipt",
    "Fork": "fork",
    "ForkRules": "rules",
    "GasAllowanceExceeded": "calls.errors",
    "OverriddenView": "calls.overrides",
    "PlainState": "state.plain",
    "ReadSet": "state.changes",
    "ReplayedBlock": "execution.replay",
    "StateAccount": "state.view",
    "StateJournal": "state.journal",
    "StateView": "state.view",
    "StepTracer": "tracing.steps",
    "TracedRun": "tracing.run",
    "TransactionTracer": "tracing.watch",
    "WriteSet": "state.changes",
    "call": "calls.call",
    "call_object": "tracing.objects",
    "difference": "tracing.prestate",
    "difference_object": "tracing.objects",
    "eip3155": "tracing.lines",
    "estimate": "calls.estimate",
    "make_access_list": "calls.access_list",
    "prestate": "tracing.prestate",
    "prestate_object": "tracing.objects",
    "replay": "execution.replay",
    "rules_of": "rules",
    "struct_logs": "tracing.lines",
    "validate": "validity",
}
"""Imported when they are asked for: accounts that only sign need none of them."""


def __getattr__(name: str) -> object:
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{PLACES[name]}"), name)
