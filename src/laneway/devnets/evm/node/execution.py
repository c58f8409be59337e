"""What only a chain that executes can answer: code, storage, calls, gas and access lists."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from laneway.core.errors import InvalidValue
from laneway.devnets.evm.limits import STORAGE_KEYS_COUNT_MAX
from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.rules import ANVIL, RefusalReason
from laneway.devnets.evm.model.states import ExecutedState
from laneway.devnets.evm.node.blocks import check_executes, state_at
from laneway.devnets.evm.node.parameters import address_of, digest_of, rows_of, wrong
from laneway.devnets.evm.node.requests import accounts_of, block_override_of, request_of
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.devnets.evm.node.views import access_entries
from laneway.evm.calls.access_list import make_access_list
from laneway.evm.calls.call import CallAnswer, call, revert_message
from laneway.evm.calls.errors import CallFailed
from laneway.evm.calls.estimate import estimate
from laneway.evm.calls.overrides import OverriddenView
from laneway.evm.execution.replay import context_of
from laneway.evm.gas import BASE
from laneway.evm.machine.context import BlockContext
from laneway.evm.rules import ForkRules
from laneway.evm.state.view import EMPTY_CODE_HASH, StateView
from laneway.evm.trie.accounts import AccountLeaf
from laneway.evm.trie.tree import EMPTY_ROOT
from laneway.wire.hex import octets, quantity
from laneway.wire.rpc_server.methods import Json, RpcRefused

REVERTED: Final = 3
NOT_EXECUTED: Final = -32003
"""Anvil's own codes."""
NO_ACCOUNT = AccountLeaf(0, 0, EMPTY_ROOT, EMPTY_CODE_HASH)
PHRASES: Final = {
    "funds_too_low": RefusalReason.NO_FUNDS,
    "fee_below_base": RefusalReason.FEE_BELOW_BASE,
}
"""What wallets read in a node's messages, of a call as of a transaction that is sent."""


def code(caller: EvmCaller, address: bytes, where: object = "latest") -> str:
    return octets(executed_at(caller, where).code(address))


def storage_at(caller: EvmCaller, address: bytes, key: int, where: object = "latest") -> str:
    value = executed_at(caller, where).storage(address, key)
    return octets(value.to_bytes(32, "big"))


def account(caller: EvmCaller, address: bytes, where: object) -> Json:
    """An account as its leaf in the trie has it; one that is not there is empty."""
    check_executes(caller)
    found = executed_at(caller, where).trie.account(address) or NO_ACCOUNT
    return {
        "nonce": quantity(found.nonce),
        "balance": quantity(found.balance_wei),
        "storageRoot": octets(found.storage_root),
        "codeHash": octets(found.code_hash),
    }


def account_info(caller: EvmCaller, address: bytes, where: object) -> Json:
    check_executes(caller)
    state = executed_at(caller, where)
    found = state.standing(address)
    return {
        "balance": quantity(found.balance_wei),
        "nonce": quantity(found.nonce),
        "code": octets(state.code(address)),
    }


def storage_values(
    caller: EvmCaller, wanted: Mapping[str, object], where: object = "latest"
) -> Json:
    """Keys of several accounts at once."""
    check_executes(caller)
    keys = {address: [digest_of(key) for key in rows_of(one)] for address, one in wanted.items()}
    if sum(len(one) for one in keys.values()) > STORAGE_KEYS_COUNT_MAX:
        raise wrong(f"at most {STORAGE_KEYS_COUNT_MAX} keys")
    state = executed_at(caller, where)
    return {
        address: [
            octets(state.storage(address_of(address), int.from_bytes(key, "big")).to_bytes(32))
            for key in one
        ]
        for address, one in keys.items()
    }


def call_on(
    caller: EvmCaller,
    fields: Mapping[str, object],
    where: object,
    accounts: object = None,
    overridden: object = None,
) -> str:
    on = overridden_at(caller, where, accounts, overridden)
    with refusing():
        answer = call(*on, request_of(fields))
    if not answer.is_good():
        raise refusal_of(answer)
    return octets(answer.output)


def estimate_on(
    caller: EvmCaller,
    fields: Mapping[str, object],
    where: object,
    accounts: object = None,
    overridden: object = None,
) -> int:
    on = overridden_at(caller, where, accounts, overridden)
    request = request_of(fields)
    is_plain = not request.data and not request.authorizations and not request.blob_hashes
    if request.to is not None and is_plain and not on.view.code(request.to):
        # Anvil asks of a plain transfer nothing else, not even whether the sender has its value.
        return BASE
    with refusing():
        return estimate(*on, request)


def access_list(caller: EvmCaller, fields: Mapping[str, object], where: object = "latest") -> Json:
    """The list, and the gas of the call with it. Of a call that fails with it, geth has the list
    and the reason, and anvil a refusal."""
    check_executes(caller)
    with refusing():
        made = make_access_list(*surroundings(caller, where), request_of(fields))
    shown: Json = {
        "accessList": access_entries(made.entries),
        "gasUsed": quantity(made.answer.gas_used),
    }
    if made.answer.is_good():
        return shown
    refusal = refusal_of(made.answer)
    if not caller.chain.rules.reads_as_geth:
        raise refusal
    return {**shown, "error": refusal.message}


# What they are made of.


class CallSurroundings(NamedTuple):
    """What a call is made on."""

    view: StateView
    block: BlockContext
    rules: ForkRules


def executed_at(caller: EvmCaller, where: object) -> ExecutedState:
    return caller.chain.executed(state_at(caller, where))


def surroundings(caller: EvmCaller, where: object) -> CallSurroundings:
    """The state after a block, and that block as opcodes see it."""
    block = state_at(caller, where)
    rules = caller.chain.fork_rules(block.made_ms // 1000)
    return CallSurroundings(caller.chain.executed(block), context_at(caller, block, rules), rules)


def context_at(caller: EvmCaller, block: EvmBlock, rules: ForkRules) -> BlockContext:
    assert block.header is not None, "every block of a chain that executes has one"

    def block_hash(number: int) -> bytes:
        """As this node sees it, which may stand on a fork that the others left. Zeros where the
        node has none, which a call can ask for that names another number for its block."""
        if number < caller.chain.first_number:
            return caller.chain.hash_at(number)
        found = caller.chain.block(caller.node, number)
        return bytes(32) if found is None else found.hash

    return context_of(block.header, rules, chain_id=caller.chain.chain_id, block_hash=block_hash)


def overridden_at(
    caller: EvmCaller, where: object, accounts: object, overridden: object
) -> CallSurroundings:
    """The surroundings of a call with what it names in place of what is there."""
    changes, block = accounts_of(accounts), block_override_of(overridden)
    on = surroundings(caller, where)
    with refusing():
        view = OverriddenView(on.view, changes) if changes else on.view
    return CallSurroundings(view, block.applied(on.block), on.rules)


@contextmanager
def refusing() -> Iterator[None]:
    """Why a call cannot be made, as a refusal."""
    try:
        yield
    except CallFailed as failed:
        raise RpcRefused(REVERTED, str(failed), octets(failed.output)) from failed
    except InvalidValue as error:
        if error.code in PHRASES:
            raise RpcRefused(*ANVIL.refusals[PHRASES[error.code]]) from error
        raise RpcRefused(NOT_EXECUTED, str(error)) from error


def refusal_of(answer: CallAnswer) -> RpcRefused:
    if answer.is_reverted:
        return RpcRefused(REVERTED, revert_message(answer.output), octets(answer.output))
    return RpcRefused(NOT_EXECUTED, f"EVM error {answer.halt}")
