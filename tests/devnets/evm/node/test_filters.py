"""Laws of filters: what they hand out over reorganisations, and that nobody can fill a node."""

from typing import Any

import pytest
from tests.anvil import GWEI, KEYS
from tests.devnets.evm.node.said import Node

from laneway.devnets.evm import limits
from laneway.devnets.evm.limits import FILTER_IDLE_S, FILTERS_COUNT_MAX
from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.rules import GETH
from laneway.devnets.evm.node import filters
from laneway.devnets.evm.node.filters import BlockFilter, EvmFilters, PendingFilter
from laneway.wire.rpc_server.methods import RpcRefused

LOGS = "0x" + "33" * 20
CODE = bytes.fromhex("602a602b60206000a1")
"""Logs with the topic 0x2b."""
TOPIC = "0x" + f"{0x2B:064x}"


class LoggingNode(Node):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.devnet.chain.set_code(bytes.fromhex(LOGS[2:]), CODE)

    def log(self, nonce: int) -> str:
        return self.send(nonce, to=LOGS, gas=100_000)

    def changes(self, name: str) -> list[Any]:
        found: list[Any] = self.say("eth_getFilterChanges", name)
        return found


def test_a_filter_follows_the_chain_over_a_reorganisation() -> None:
    node = LoggingNode()
    blocks, logs = node.say("eth_newBlockFilter"), node.say("eth_newFilter", {"address": LOGS})
    sent = node.log(0)
    node.devnet.mine()
    (first,) = node.changes(blocks)
    assert [one["transactionHash"] for one in node.changes(logs)] == [sent]
    assert (node.changes(blocks), node.changes(logs)) == ([], [])
    node.say("anvil_reorg", 1, [])
    (other,) = node.changes(blocks)
    assert other != first
    assert node.changes(logs) == []
    assert node.say("eth_getFilterLogs", logs) == []
    node.devnet.mine()
    node.say("anvil_rollback", 2)
    assert (node.changes(blocks), node.changes(logs)) == ([], []), "it was set back"


def test_as_geth_reads_a_log_that_was_taken_back_is_shown_again_as_removed() -> None:
    node = LoggingNode(rules=GETH)
    name = node.say("eth_newFilter", {"address": LOGS})
    node.log(0)
    node.log(1)
    node.devnet.mine()
    shown = node.changes(name)
    assert [one["removed"] for one in shown] == [False, False]
    node.devnet.chain.reorg(1, 5_000, returns=True)
    gone = node.changes(name)
    assert gone == [{**one, "removed": True} for one in shown]
    node.devnet.mine()
    again = node.changes(name)
    assert [one["removed"] for one in again] == [False, False]
    assert {one["blockHash"] for one in again}.isdisjoint(one["blockHash"] for one in shown)


def test_a_filter_with_a_range_hands_out_only_what_is_in_it() -> None:
    node = LoggingNode()
    names = [
        node.say("eth_newFilter", {"fromBlock": "0x0", "toBlock": "0x1"}),
        node.say("eth_newFilter", {"toBlock": "0x1"}),
    ]
    for nonce in range(2):
        node.log(nonce)
        node.devnet.mine()
    assert [len(node.changes(name)) for name in names] == [1, 1]


def test_a_filter_with_a_beginning_hands_out_what_was_there_but_not_as_geth_reads() -> None:
    for options, count in (({}, 1), ({"rules": GETH}, 0)):
        node = LoggingNode(**options)
        node.log(0)
        node.devnet.mine()
        name = node.say("eth_newFilter", {"fromBlock": "0x0"})
        assert len(node.changes(name)) == count
        assert node.changes(name) == []


def test_pending_transactions_are_handed_out_once_they_are_ready() -> None:
    node = Node()
    node.send(0)
    name = node.say("eth_newPendingTransactionFilter")
    assert node.say("eth_getFilterChanges", name) == [], "it was there already"
    later = node.send(2)
    assert node.say("eth_getFilterChanges", name) == [], "it waits for another"
    between = node.send(1)
    assert node.say("eth_getFilterChanges", name) == [between, later]
    node.devnet.mine()
    mined_between = node.send(3)
    node.devnet.mine()
    assert node.say("eth_getFilterChanges", name) == [mined_between]


def test_pending_transactions_are_seen_where_every_send_is_mined_at_once() -> None:
    node = Node()
    node.say("evm_setAutomine", True)
    name = node.say("eth_newPendingTransactionFilter")
    sent = node.send(0)
    assert node.say("eth_blockNumber") == "0x1"
    assert node.say("eth_getFilterChanges", name) == [sent]


def test_a_node_sees_its_own_filters_and_its_own_chain() -> None:
    node = Node(nodes=2)
    node.devnet.chain.lag(1, 1)
    ours = node.say("eth_newBlockFilter")
    theirs = node.devnet.say("eth_newBlockFilter", node=1)
    node.devnet.mine()
    assert len(node.say("eth_getFilterChanges", ours)) == 1
    assert node.devnet.say("eth_getFilterChanges", theirs, node=1) == [], "it lags"
    assert node.refusal("eth_getFilterChanges", theirs).message == "filter not found"
    assert node.say("eth_uninstallFilter", theirs) is False
    assert node.devnet.say("eth_uninstallFilter", theirs, node=1) is True


class Clock:
    def __init__(self) -> None:
        self.now_s = 1_000.0


def held() -> tuple[EvmModel, EvmFilters, Clock]:
    clock = Clock()
    return EvmModel({}, executes=True), EvmFilters(now_s=lambda: clock.now_s), clock


def test_a_filter_that_nobody_asks_for_is_forgotten() -> None:
    chain, store, clock = held()
    asked, idle = (store.add(BlockFilter(chain, 0)) for _ in range(2))
    for _ in range(3):
        clock.now_s += FILTER_IDLE_S
        store.get(asked, 0)
    with pytest.raises(RpcRefused, match="filter not found"):
        store.get(idle, 0)
    clock.now_s += FILTER_IDLE_S + 1
    with pytest.raises(RpcRefused, match="filter not found"):
        store.get(asked, 0)


def test_filters_are_so_many_and_no_more_until_some_are_forgotten() -> None:
    chain, store, clock = held()
    for _ in range(FILTERS_COUNT_MAX):
        store.add(BlockFilter(chain, 0))
    with pytest.raises(RpcRefused, match="at most"):
        store.add(BlockFilter(chain, 0))
    clock.now_s += FILTER_IDLE_S + 1
    assert store.add(BlockFilter(chain, 0)) == hex(FILTERS_COUNT_MAX + 1), "no name comes twice"


def test_a_filter_that_is_too_far_behind_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "FILTER_BLOCKS_MAX", 3)
    chain, store, _ = held()
    name = store.add(BlockFilter(chain, 0))
    for number in range(3):
        chain.mine(number * 1_000)
    store.notice()
    assert len(store.get(name, 0).changes()) == 3
    for number in range(4):
        chain.mine(10_000 + number * 1_000)
    with pytest.raises(RpcRefused, match="filter not found"):
        store.get(name, 0)
    assert limits.FILTER_BLOCKS_MAX > limits.MINE_COUNT_MAX, "one call of mining is not too far"


def test_a_filter_keeps_so_many_transactions_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filters, "FILTER_HASHES_MAX", 2)
    node = Node()
    name = node.say("eth_newPendingTransactionFilter")
    for nonce in range(2):
        node.send(nonce)
    assert len(node.say("eth_getFilterChanges", name)) == 2
    for nonce in range(3):
        node.send(nonce, key=KEYS[1])
    assert node.refusal("eth_getFilterChanges", name).code == -32000


def test_a_replaced_transaction_is_shown_as_the_one_that_is_ready_now() -> None:
    node = Node()
    chain = node.devnet.chain
    one = PendingFilter(chain, 0)
    node.send(0)
    higher = node.send(0, maxFeePerGas=200 * GWEI)
    assert one.changes() == [higher], "the first was gone when it was asked"


def test_criteria_are_read_strictly() -> None:
    node = LoggingNode()
    for criteria in (
        5,
        {"address": "0x12"},
        {"address": [LOGS] * 1_001},
        {"topics": TOPIC},
        {"topics": [5]},
        {"topics": [[[TOPIC]]]},
        {"fromBlock": "nonsense"},
        {"toBlock": -1},
        {"blockHash": "0x12"},
    ):
        for method in ("eth_newFilter", "eth_getLogs"):
            assert node.refusal(method, criteria).code == -32602
    assert node.refusal("eth_getLogs", {"blockHash": "0x" + "00" * 32}).message == "unknown block"


def test_as_geth_reads_ranges_are_within_the_chain() -> None:
    node = LoggingNode(rules=GETH)
    node.devnet.mine(3)
    reversed_range = {"fromBlock": "0x3", "toBlock": "0x2"}
    assert node.refusal("eth_getLogs", reversed_range).message == "invalid block range params"
    beyond = node.refusal("eth_getLogs", {"fromBlock": "0x1", "toBlock": "0x4"})
    assert beyond.message == "block range extends beyond current head block"
    assert node.say("eth_getLogs", {"fromBlock": "0x1", "toBlock": "0x3"}) == []


def test_logs_are_so_many_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("laneway.devnets.evm.node.logs.LOGS_COUNT_MAX", 2)
    node = LoggingNode()
    name = node.say("eth_newFilter", {})
    for nonce in range(3):
        node.log(nonce)
    node.devnet.mine()
    assert "more than 2" in node.refusal("eth_getLogs", {"fromBlock": "0x0"}).message
    assert "more than 2" in node.refusal("eth_getFilterChanges", name).message
