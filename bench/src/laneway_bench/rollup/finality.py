"""How many slots a rollup block takes to be final when nothing goes wrong.

The machine on the chain model with the real ledger service: transfers are signed, blocks executed,
refined by the guarantors, accumulated by the service's line, and final by the validators' votes,
two blocks upon each. Time is the benchmark's own, and every answer comes at once.

Counted are the slots from the one in whose window a block's first package was offered to a node, to
that of the chain's newest block when the lane called the block final.
"""

from statistics import median
from typing import Any

from laneway.core.jam import JamBlockRef
from laneway.devnets.jam.devnet import rollup_service
from laneway.devnets.jam.model.values import ModelSetup
from laneway.jam.codec import U64
from laneway.jam.hashing import blake2b
from laneway.jam.service.commitment import package_key
from laneway.lanes.bundle.records import BlockFinalised, Record, VersionOffered
from laneway.lanes.bundle.rows import ExecutionVerdict
from laneway.lanes.bundle.settings import BundleSettings
from laneway.lanes.bundle.values import (
    BlockBuilt,
    BuildBlock,
    BuildVersion,
    JudgedTransaction,
    VersionBuilt,
)
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.block import BODY, LedgerBlock, block_hash, genesis_header
from laneway.rollups.ledger.limits import BALANCE_DEV
from laneway.rollups.ledger.state import LedgerState, execute, genesis_state, witness_of
from laneway.rollups.ledger.transfer import signed, transfer_hash
from laneway.rollups.ledger.witness import work_item
from laneway_bench.contestant import answer_all, say
from laneway_bench.rollup.chain import ModelChain
from laneway_bench.rollup.lane import LANE, SLOT_MS, DrivenLane

GOAL = "slots_to_finality_no_faults"
SERVICE = int(LANE.partition(":")[2])


class LedgerChain(ModelChain):
    """The tiny chain with the ledger, and a builder that sends from one account to another."""

    def __init__(self) -> None:
        setup = ModelSetup()
        super().__init__(ModelSetup(services={SERVICE: rollup_service(setup)}))
        self._domain = Domain(self.model.genesis, SERVICE)
        state = genesis_state(self._domain, {one.id: BALANCE_DEV for one in DEV_ACCOUNTS})
        header = genesis_header(state.root)
        self._tips: dict[bytes, tuple[LedgerBlock, LedgerState]] = {
            b"": (LedgerBlock(header, (), ()), state),
            block_hash(header): (LedgerBlock(header, (), ()), state),
        }
        self._before: dict[bytes, LedgerState] = {}

    def number_of(self, block: JamBlockRef, package: bytes) -> int | None:
        key = package_key(package)
        record = self.model.service_value(0, block.header_hash, SERVICE, key)
        return None if record is None else U64.decode(record, "package record")

    def execute(self, order: BuildBlock, now_ms: int) -> BlockBuilt:
        parent, state = self._tips[order.parent]
        sender, recipient = DEV_ACCOUNTS[0], DEV_ACCOUNTS[1]
        first = state.account(sender.id).nonce
        transfers = [
            signed(sender.key, self._domain, recipient=recipient.id, amount=1, nonce=first + place)
            for place in range(len(order.intents))
        ]
        block, after = execute(state, transfers, parent.header, now_ms // SLOT_MS)
        name = block_hash(block.header)
        self._tips[name], self._before[name] = (block, after), state
        payload = BODY.encode(block)
        judged = [
            JudgedTransaction(intent, ExecutionVerdict.INCLUDED, transfer_hash(one))
            for intent, one in zip(order.intents, transfers, strict=True)
        ]
        return BlockBuilt(
            now_ms=now_ms,
            slot=order.slot,
            order=order.order,
            payload=payload,
            digest=blake2b(payload),
            block=name,
            pre_root=block.header.pre_root,
            post_root=block.header.post_root,
            judged=tuple(judged),
        )

    def package(self, order: BuildVersion) -> VersionBuilt:
        block = BODY.decode(order.payload, "block")
        work = work_item(self._domain, block, witness_of(self._before[order.block], block))
        return self.made(order, work.items[0], work.extrinsics)


def measure(slots: int) -> dict[str, Any]:
    chain = LedgerChain()
    offered: dict[int, int] = {}
    taken: list[int] = []

    def hear(record: Record) -> None:
        if isinstance(record, VersionOffered):
            offered.setdefault(record.slot, driven.now_ms // SLOT_MS)
        elif isinstance(record, BlockFinalised):
            taken.append(chain.best.slot - offered.pop(record.slot))

    driven = DrivenLane(BundleSettings(service=SERVICE, block_txs_max=2), chain, hear)
    for slot in range(1, 1 + slots):
        chain.step(slot)
        driven.now_ms = slot * SLOT_MS
        driven.supply += 2
        driven.until((slot + 1) * SLOT_MS - 1)
        say(progress=slot / slots)
    return {
        "from": "the slot in whose window its first package is offered to a node",
        "to": "the slot of the chain's newest block when the lane calls it final",
        "blocks": len(taken),
        "slots": {"min": min(taken), "median": median(taken), "max": max(taken)},
        GOAL: median(taken),
    }


def main() -> None:
    answer_all(lambda question: measure(**question))


if __name__ == "__main__":
    main()
