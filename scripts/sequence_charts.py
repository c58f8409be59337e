"""The state charts of a sequence lane, observed: worlds of the simulator are run, and every step of
an intent or a node is written down with the record that made it."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from laneway.core.outcome import Status
from laneway.core.rows import Result, Touched
from laneway.lanes.kind import LaneKind
from laneway.lanes.sequence.lane import SequenceLane
from laneway.lanes.sequence.rows import Node
from laneway.lanes.sequence.show import status
from laneway.sim.disks import MemoryDisk
from laneway.sim.sequence.plan import cosmos_plan
from laneway.sim.sequence.world import CosmosWorld

WORLDS = range(400)

WORDS = {
    Status.QUEUED: "claimed",
    Status.SIGNED: "signed",
    Status.SUBMITTED: "pending",
}

INTENT_STATES = (
    *("queued", "claimed", "signed", "pending"),
    *("confirmed", "reverted", "refused", "cancelled", "expired", "indeterminate"),
)
NODE_STATES = ("in_step", "waits_for_a_block", "waits_a_while", "catches_up")

Step = tuple[str, str, str]
"""From, to, and what went that way."""


class Watch:
    """Follows what `evolve` does to intents and nodes."""

    def __init__(self, intents: set[Step], nodes: set[Step]) -> None:
        self._intents = intents
        self._nodes = nodes
        self._final: dict[str, str] = {}

    def over(self, kind: LaneKind) -> LaneKind:
        evolve = kind.evolve
        return replace(kind, evolve=lambda lane, record: self.see(evolve, lane, record))

    def see(
        self, evolve: Callable[[Any, Any], Touched], lane: SequenceLane, record: Any
    ) -> Touched:
        name = type(record).__name__
        known = {intent: self.intent(lane, intent) for intent in (*lane.intents, *lane.bound)}
        nodes = dict(lane.nodes)
        touched = evolve(lane, record)
        ends = [each for each in touched if isinstance(each, Result)]
        known |= {each.intent: "queued" for each in ends if each.intent not in known}
        self._final |= {each.intent: each.status for each in ends}
        for intent, before in known.items():
            after = self.intent(lane, intent)
            if before != after:
                self._intents.add((before, after, name))
        for name_, node in lane.nodes.items():
            before, after = state(nodes.get(name_, node)), state(node)
            if before != after:
                self._nodes.add((before, after, cause(before, node, name)))
        return touched

    def intent(self, lane: SequenceLane, intent: Any) -> str:
        if intent in self._final:
            return self._final[intent]
        slot = lane.slot_of(intent)
        return "queued" if slot is None else WORDS[status(slot, lane)]


CATCHES_UP = "catches_up"
WAITED = {"waits_for_a_block": "a new block", "waits_a_while": "its time"}


def state(node: Node) -> str:
    if node.gate is not None:
        return "waits_for_a_block"
    if node.retry_ms is not None:
        return "waits_a_while"
    return CATCHES_UP if node.reason else "in_step"


def cause(before: str, node: Node, record: str) -> str:
    """What the node said, what it waited for, or the record that ended it."""
    if before in WAITED and state(node) == CATCHES_UP:
        return WAITED[before]
    if node.reason.startswith("sequence"):
        return "made again"
    return node.reason.partition(":")[0] if node.reason else record


def observed_sequence() -> tuple[set[Step], set[Step]]:
    intents: set[Step] = set()
    nodes: set[Step] = set()
    for seed in WORLDS:
        world = CosmosWorld(cosmos_plan(seed), MemoryDisk())
        watch = Watch(intents, nodes)
        world.kinds = {name: watch.over(kind) for name, kind in world.kinds.items()}
        world.run()
    return intents, nodes


if __name__ == "__main__":
    for each in observed_sequence():
        for step in sorted(each):
            print(step)
