"""The methods of filters: a client makes one, and asks it what is new."""

from collections.abc import Mapping
from typing import Final

from laneway.devnets.evm.node.filters import (
    FILTER_UNKNOWN,
    BlockFilter,
    LogFilter,
    NodeFilter,
    PendingFilter,
)
from laneway.devnets.evm.node.logs import LogCriteria, asked_logs, criteria_of
from laneway.devnets.evm.node.parameters import anything
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.wire.rpc_server.methods import Json, Method, RpcRefused


def new_filter(caller: EvmCaller, criteria: LogCriteria) -> str:
    return added(caller, LogFilter(caller.chain, caller.node, criteria))


def new_block_filter(caller: EvmCaller) -> str:
    return added(caller, BlockFilter(caller.chain, caller.node))


def new_pending_filter(caller: EvmCaller) -> str:
    return added(caller, PendingFilter(caller.chain, caller.node))


def added(caller: EvmCaller, one: NodeFilter) -> str:
    return caller.host.filters.add(one)


def filter_changes(caller: EvmCaller, name: object) -> list[object]:
    return caller.host.filters.get(name, caller.node).changes()


def filter_logs(caller: EvmCaller, name: object) -> list[Json]:
    """All logs that fit, whether they were handed out or not."""
    found = caller.host.filters.get(name, caller.node)
    if not isinstance(found, LogFilter):
        raise RpcRefused(FILTER_UNKNOWN, "filter not found")
    return asked_logs(caller.chain, caller.node, found.criteria)


def uninstall_filter(caller: EvmCaller, name: object) -> bool:
    return caller.host.filters.remove(name, caller.node)


FILTERS: Final[Mapping[str, Method]] = {
    "eth_newFilter": Method((criteria_of,), new_filter),
    "eth_newBlockFilter": Method((), new_block_filter),
    "eth_newPendingTransactionFilter": Method((), new_pending_filter),
    "eth_getFilterChanges": Method((anything,), filter_changes),
    "eth_getFilterLogs": Method((anything,), filter_logs),
    "eth_uninstallFilter": Method((anything,), uninstall_filter),
}
