"""A transaction that a builder puts off holds nobody up, and waits neither idle nor for ever."""

from typing import Any

import msgspec
import pytest
from tests.builder.stage import ledger, transfer
from tests.lanes.bundle.chain import digest
from tests.lanes.bundle.stage import GENESIS, Stage

from laneway.core.ids import IntentId
from laneway.lanes.bundle.rows import ExecutionVerdict
from laneway.lanes.bundle.values import BlockBuilt, BuildBlock, JudgedTransaction

INSIDE = (ExecutionVerdict.INCLUDED, ExecutionVerdict.REVERTED)


class Stubborn(Stage):
    """Its builder puts the first transaction off, always."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.builds: list[tuple[int, int]] = []
        """When a block was executed, and of how many transactions."""

    def built(self, order: BuildBlock, **words: str) -> BlockBuilt:
        first = next(iter(self.accepted))
        self.builds.append((self.now_ms, len(order.intents)))
        is_in = first in order.intents
        late = {f"t{order.intents.index(first)}": ExecutionVerdict.DEFERRED} if is_in else {}
        return super().built(order, **late)


@pytest.mark.parametrize("interval_ms", [0, 6_000])
@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_builder_that_always_puts_one_off_holds_no_other_up(interval_ms: int, most: int) -> None:
    stage = Stubborn(block_interval_ms=interval_ms, block_txs_max=most)
    stage.accept(12)
    stage.run(25)
    assert stage.statuses() == ["refused", *["confirmed"] * 11]
    (first, *others) = stage.accepted
    assert "so it is" in stage.results[first].reason
    assert stage.chain.line() == others
    assert len(stage.builds) < 30, "it does not spin"
    stage.check_places()


@pytest.mark.parametrize("interval_ms", [0, 6_000])
def test_alone_it_is_tried_again_each_time_later_and_not_for_ever(interval_ms: int) -> None:
    stage = Stubborn(block_interval_ms=interval_ms)
    stage.accept(1)
    begun_ms = stage.now_ms
    stage.until(begun_ms + 59_999)
    assert stage.statuses() == [""]
    pauses = [one[0] - begun_ms for one in stage.builds]
    assert pauses == [0, 1_000, 3_000, 7_000, 15_000, 31_000]
    stage.until(begun_ms + 60_000)
    assert stage.statuses() == ["refused"]
    assert stage.kind.deadline(stage.lane) is None


class OnLedger(Stage):
    """Its builder is the ledger's."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.rollup, self.parent, self.state = ledger()
        self.log: list[list[tuple[int, str]]] = []
        self.nonces: dict[IntentId, int] = {}

    def hand_in(self, *nonces: int) -> None:
        for nonce in nonces:
            (name,) = self.accept(1, payload=transfer(nonce))
            self.nonces[name] = nonce

    def built(self, order: BuildBlock, **words: str) -> BlockBuilt:
        done = self.rollup.execute(self.state, self.parent, order.payloads, order.made_ms)
        if done.block is not None:
            self.parent, self.state = done.block, done.state
        judged = tuple(
            JudgedTransaction(name, one.verdict, one.hash, one.reason)
            for name, one in zip(order.intents, done.judged, strict=True)
        )
        self.log.append([(self.nonces[one.intent], one.verdict) for one in judged])
        inside = tuple(one.intent for one in judged if one.verdict in INSIDE)
        parent = order.parent or GENESIS
        payload = msgspec.msgpack.encode([order.number, parent, inside, order.made_ms])
        block = digest("block", payload)
        return BlockBuilt(
            now_ms=self.now_ms,
            slot=order.slot,
            order=order.order,
            payload=payload,
            digest=digest(payload),
            block=block,
            pre_root=order.parent_root or digest("root", GENESIS),
            post_root=digest("root", block),
            judged=judged,
        )


def test_a_nonce_that_lies_in_the_backlog_is_waited_for() -> None:
    stage = OnLedger(block_txs_max=3)
    stage.hand_in(0, 3, 1, 2, 4)
    stage.run(12)
    assert stage.statuses() == ["confirmed"] * 5
    assert stage.log[0] == [(0, "included"), (3, "deferred"), (1, "included")]


@pytest.mark.parametrize("most", [1, 2, 5, 100])
def test_neighbours_that_are_swapped_all_land(most: int) -> None:
    stage = OnLedger(block_txs_max=most)
    stage.hand_in(0, 1, 2, 4, 3, 5, 6, 8, 7, 9, 10)
    stage.run(25)
    assert stage.statuses() == ["confirmed"] * 11


def test_a_nonce_that_comes_a_while_later_is_waited_for() -> None:
    stage = OnLedger()
    stage.hand_in(1)
    stage.run(5)
    assert stage.statuses() == [""]
    stage.hand_in(0)
    stage.run(8)
    assert stage.statuses() == ["confirmed"] * 2


def test_a_nonce_that_never_comes_is_named_in_the_end() -> None:
    stage = OnLedger()
    stage.hand_in(7)
    stage.run(12)
    assert stage.statuses() == ["refused"]
    (result,) = stage.results.values()
    assert "nonce 0 is awaited first" in result.reason
