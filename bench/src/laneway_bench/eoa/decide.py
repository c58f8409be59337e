"""What an account's machine costs for each transfer, with few and with many nonces in flight.

Only decisions are timed, as an engine's turn makes them: decide, fold every record, say the next
deadline and encode the head. No store, no signature, no node. Sixteen transfers are mined,
claimed, made and answered a cycle, however wide the window is: what a cycle costs more in a wide
window is what the machine does for nonces that nothing happened to.
"""

import time
from collections.abc import Sequence
from typing import Any

from laneway.core.ids import LaneId, intent_id
from laneway.core.intent import IntentRow
from laneway.core.outcome import Outcome
from laneway.lanes.common.values import IntentsOffered, TimerFired
from laneway.lanes.eoa import EoaSettings, eoa_kind
from laneway.lanes.eoa.fees import EvmFee
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.values import (
    AttemptsMade,
    BroadcastReturned,
    ChainRead,
    Event,
    Made,
    MakeAttempt,
    Receipt,
    SendAttempt,
    SendResult,
)
from laneway_bench.contestant import answer_all, tune
from laneway_bench.limits import CYCLE_TRANSFERS

LANE = LaneId("evm:31337:0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")
NODE = "node"
RAW = bytes(110)
"""The bytes of a transfer, about."""
GWEI = 10**9


class DecideStage:
    """A lane whose window is full, and a chain of a few lines."""

    def __init__(self, inflight: int) -> None:
        settings = EoaSettings(
            nodes=(NODE,),
            target_tps=inflight,
            block_ms=1_000,
            confirm_delay_ms=0,
            finality_depth_blocks=1,
        )
        assert settings.inflight_max() == inflight
        self._kind = eoa_kind(settings)
        self.lane: EoaLane = self._kind.empty(LANE)
        self.spent_ns: dict[str, int] = {}
        """By the name of an event."""
        self._now_ms = 1_000_000
        self._block = 0
        self._mined = 0
        self._offered = 0
        self._read(())
        while self.wants() > 0:
            self._claim(self.wants())

    def wants(self) -> int:
        wanted: int = self._kind.wants(self.lane)
        return wanted

    def run(self, cycles: int) -> dict[str, float]:
        """CPU microseconds a transfer, by event."""
        self.spent_ns = {}
        for _ in range(cycles):
            self._now_ms += 1_000
            self._post(TimerFired(self._now_ms))
            self._mine(CYCLE_TRANSFERS)
            self._claim(CYCLE_TRANSFERS)
        transfers = cycles * CYCLE_TRANSFERS
        return {name: spent / 1_000 / transfers for name, spent in self.spent_ns.items()}

    def _mine(self, count: int) -> None:
        block = self._block + 1
        receipts = [
            Receipt(hash_of(nonce), block, hash_of(block), ok=True, gas_used=21_000, price=GWEI)
            for nonce in range(self._mined, self._mined + count)
        ]
        self._mined += count
        self._block = block
        self._read(receipts)

    def _read(self, receipts: Sequence[Receipt]) -> None:
        self._post(
            ChainRead(
                now_ms=self._now_ms,
                since=self.lane.head.block_hash,
                latest=self._mined,
                preconfirmed=self._mined,
                balance=10**22,
                base_fee=GWEI,
                tip=GWEI,
                block=self._block,
                block_hash=hash_of(self._block),
                receipts=tuple(receipts),
            )
        )

    def _claim(self, count: int) -> None:
        """Intents of the backlog get numbers, their bytes are made, the node takes them."""
        offered = tuple(self._intent() for _ in range(count))
        for intent in offered:
            self.lane.intents[intent.id] = intent
        orders = self._post(IntentsOffered(self._now_ms, offered))
        made = tuple(made_of(order) for order in orders if isinstance(order, MakeAttempt))
        orders = self._post(AttemptsMade(self._now_ms, made))
        sent = [order for order in orders if isinstance(order, SendAttempt)]
        results = tuple(SendResult(one.slot, one.number, NODE, Outcome.ACCEPTED) for one in sent)
        self._post(BroadcastReturned(self._now_ms, results))
        assert len(results) == count

    def _intent(self) -> IntentRow:
        self._offered += 1
        name = intent_id(self._now_ms, self._offered.to_bytes(10, "big"))
        return IntentRow(name, LANE, self._offered, 0, self._now_ms, None, None, "", b"", b"")

    def _post(self, event: Event) -> tuple[Any, ...]:
        """One turn, timed."""
        kind, lane = self._kind, self.lane
        begun_ns = time.process_time_ns()
        decision = kind.decide(lane, event)
        for record in decision.records:
            kind.evolve(lane, record)
        kind.head(lane, kind.deadline(lane))
        spent_ns = time.process_time_ns() - begun_ns
        name = type(event).__name__
        self.spent_ns[name] = self.spent_ns.get(name, 0) + spent_ns
        return decision.effects


def hash_of(number: int) -> bytes:
    return number.to_bytes(32, "big")


def made_of(order: MakeAttempt) -> Made:
    fee = EvmFee(order.market.cap, order.market.tip)
    cost = 21_000 * fee.cap
    return Made(order.slot, order.number, RAW, hash_of(order.nonce), fee, 21_000, cost)


def measure(inflight: Sequence[int], rounds: int, cycles: int) -> dict[str, Any]:
    """Both lanes in one process and in turn, so that both see the same minutes."""
    stages = {str(count): DecideStage(count) for count in inflight}
    tune()
    found: dict[str, list[dict[str, float]]] = {name: [] for name in stages}
    for _ in range(rounds):
        for name, stage in stages.items():
            found[name].append(stage.run(cycles))
    return {"us_per_transfer": found}


def main() -> None:
    answer_all(lambda question: measure(**question))


if __name__ == "__main__":
    main()
