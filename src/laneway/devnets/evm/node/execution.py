"""What only a chain that executes can answer: code, storage, calls, estimates and logs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from laneway.devnets.evm.limits import LOGS_COUNT_MAX
from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.states import ExecutedState
from laneway.devnets.evm.node.blocks import NEWEST_TAGS, block_named, state_at
from laneway.devnets.evm.node.parameters import (
    address_of,
    digest_of,
    number_of,
    octets_of,
    rows_of,
    wrong,
)
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.devnets.evm.node.views import log_of
from laneway.evm.calls.call import CallAnswer, call, revert_message
from laneway.evm.calls.errors import CallFailed, GasAllowanceExceeded
from laneway.evm.calls.estimate import estimate
from laneway.evm.calls.request import NOBODY, CallRequest
from laneway.evm.errors import InvalidTransaction
from laneway.evm.execution.replay import context_of
from laneway.evm.gas import BASE
from laneway.evm.machine.context import BlockContext
from laneway.evm.rules import ForkRules, rules_of
from laneway.evm.transaction import Access
from laneway.wire.hex import octets, quantity
from laneway.wire.rpc_server.methods import Json, RpcRefused

REVERTED: Final = 3
NOT_EXECUTED: Final = -32003
"""Anvil's own codes."""


def code(caller: EvmCaller, address: bytes, where: object = "latest") -> str:
    return octets(executed_at(caller, where).code(address))


def storage_at(caller: EvmCaller, address: bytes, key: int, where: object = "latest") -> str:
    value = executed_at(caller, where).storage(address, key)
    return octets(value.to_bytes(32, "big"))


def call_on(caller: EvmCaller, fields: Mapping[str, object], where: object) -> str:
    state, context, rules = surroundings(caller, where)
    try:
        answer = call(state, context, rules, request_of(fields))
    except InvalidTransaction as error:
        raise RpcRefused(NOT_EXECUTED, str(error)) from error
    if not answer.is_good():
        raise refusal_of(answer)
    return octets(answer.output)


def estimate_on(caller: EvmCaller, fields: Mapping[str, object], where: object) -> str:
    state, context, rules = surroundings(caller, where)
    request = request_of(fields)
    if request.to is not None and not request.data and not state.code(request.to):
        # Anvil asks of a plain transfer nothing else, not even whether the sender has its value.
        return quantity(BASE)
    try:
        return quantity(estimate(state, context, rules, request))
    except CallFailed as failed:
        raise RpcRefused(REVERTED, str(failed), octets(failed.output)) from failed
    except (GasAllowanceExceeded, InvalidTransaction) as error:
        raise RpcRefused(NOT_EXECUTED, str(error)) from error


def logs(caller: EvmCaller, criteria: Mapping[str, object]) -> list[Json]:
    """The logs of a range of blocks, or of one by its hash, that fit."""
    addresses = places_of(criteria.get("address"), address_of)
    wanted = [places_of(one, digest_of) for one in rows_of(criteria.get("topics") or [])]
    found = []
    for block in blocks_of(caller, criteria):
        for log in logs_of(caller, block):
            if fits(log, addresses, wanted):
                found.append(log)
                if len(found) > LOGS_COUNT_MAX:
                    raise wrong(f"query returned more than {LOGS_COUNT_MAX} results")
    return found


# What they are made of.


def executed_at(caller: EvmCaller, where: object) -> ExecutedState:
    return caller.chain.executed(state_at(caller, where))


def surroundings(caller: EvmCaller, where: object) -> tuple[ExecutedState, BlockContext, ForkRules]:
    """The state after a block, and that block as opcodes see it."""
    block, rules = state_at(caller, where), rules_of(caller.chain.fork)
    assert block.header is not None, "every block of a chain that executes has one"

    def block_hash(number: int) -> bytes:
        """As this node sees it, which may stand on a fork that the others left."""
        found = caller.chain.block(caller.node, number)
        assert found is not None, "it is below a block of the node"
        return found.hash

    context = context_of(block.header, rules, chain_id=caller.chain.chain_id, block_hash=block_hash)
    return caller.chain.executed(block), context, rules


def request_of(fields: Mapping[str, object]) -> CallRequest:
    """A call as wallets write it."""

    def number(name: str) -> int | None:
        return None if fields.get(name) is None else number_of(fields[name])

    written = fields.get("input", fields.get("data"))
    return CallRequest(
        sender=NOBODY if fields.get("from") is None else address_of(fields["from"]),
        to=None if fields.get("to") is None else address_of(fields["to"]),
        data=b"" if written is None else octets_of(written),
        value_wei=number("value") or 0,
        gas=number("gas"),
        gas_price_wei=number("gasPrice"),
        fee_wei_max=number("maxFeePerGas"),
        tip_wei_max=number("maxPriorityFeePerGas"),
        access_list=tuple([access_of(one) for one in rows_of(fields.get("accessList") or [])]),
    )


def access_of(entry: object) -> Access:
    if not isinstance(entry, dict):
        raise wrong("invalid type, expected a map")
    keys = rows_of(entry.get("storageKeys") or [])
    return Access(address_of(entry.get("address")), tuple([digest_of(key) for key in keys]))


def refusal_of(answer: CallAnswer) -> RpcRefused:
    if answer.is_reverted:
        return RpcRefused(REVERTED, revert_message(answer.output), octets(answer.output))
    return RpcRefused(NOT_EXECUTED, f"EVM error {answer.halt}")


def places_of(value: object, kind: object) -> tuple[str, ...] | None:
    """What an entry of a filter takes: one or several of a kind; None for all."""
    if value is None:
        return None
    values = value if isinstance(value, list) else [value]
    return tuple([octets(kind(one)) for one in values])  # type: ignore[operator]


def blocks_of(caller: EvmCaller, criteria: Mapping[str, object]) -> Iterator[EvmBlock]:
    if criteria.get("blockHash") is not None:
        yield block_named(caller, {"blockHash": criteria["blockHash"]})
        return
    first = number_at(caller, criteria.get("fromBlock", "latest"))
    last = number_at(caller, criteria.get("toBlock", "latest"))
    for number in range(first, min(last, caller.chain.head(caller.node).number) + 1):
        block = caller.chain.block(caller.node, number)
        assert block is not None, "the head is above it"
        yield block


def number_at(caller: EvmCaller, where: object) -> int:
    head = caller.chain.head(caller.node).number
    if where in NEWEST_TAGS:
        return head
    return 0 if where in ("safe", "finalized", "earliest") else number_of(where)


def logs_of(caller: EvmCaller, block: EvmBlock) -> list[Json]:
    found = []
    for digest in block.transactions:
        receipt = caller.chain.receipt(caller.node, digest)
        assert receipt is not None, "the node's chain holds its block"
        for index, log in enumerate(receipt.logs, receipt.log_first):
            found.append(log_of(log, receipt, block, index))
    return found


def fits(
    log: Json, addresses: tuple[str, ...] | None, wanted: Sequence[tuple[str, ...] | None]
) -> bool:
    topics = log["topics"]
    if addresses is not None and log["address"] not in addresses:
        return False
    if len(wanted) > len(topics):
        return False
    return all(one is None or topic in one for one, topic in zip(wanted, topics, strict=False))
