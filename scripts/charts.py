"""The state charts of an account's lane, observed: worlds of the lane's own tests are run, and
every step of an intent or a nonce is written down with the record that made it."""

import sys
from pathlib import Path
from typing import Any

from msgspec.structs import replace

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.lanes.eoa import stage

from laneway.core.outcome import Status
from laneway.core.rows import Result, Touched
from laneway.lanes.eoa.lane import EoaLane
from laneway.lanes.eoa.show import status
from laneway.lanes.eoa.values import ChainRead, LookAtChain

SEEDS = range(120)
"""The rarest step comes with number 104."""
FAILED_EVERY = 7
"""Every seventh transaction of these worlds is mined and fails."""

WORDS = {
    Status.QUEUED: "claimed",
    Status.SIGNED: "borrowed",
    Status.SUBMITTED: "submitted",
    Status.INCLUDED: "included",
}
IN_PLACE = ("BumpOrdered", "AttemptReoffered")
"""Records that are worth showing although the state stays the same."""

Step = tuple[str, str, str]
"""From, to, and the record."""


class Watched(stage.World):
    """A world whose steps are written down."""

    def __init__(self, seed: int, intents: set[Step], nonces: set[Step]) -> None:
        super().__init__(seed, stage.various(seed))
        self._intents = intents
        self._nonces = nonces
        self._final: dict[str, str] = {}
        self._evolve = self.kind.evolve
        self.kind = replace(self.kind, evolve=self.watch)

    def watch(self, lane: EoaLane, record: Any) -> Touched:
        name = type(record).__name__
        before, numbers = self.intents(lane), self.numbers(lane)
        touched = self._evolve(lane, record)
        self._final |= {each.intent: each.status for each in touched if isinstance(each, Result)}
        for intent, after in self.intents(lane).items():
            if before[intent] != after:
                self._intents.add((before[intent], after, name))
        if name in IN_PLACE and (slot := lane.slots[record.slot]).intent is not None:
            here = before[slot.intent]
            word = f"{name} ({record.purpose})" if name == "BumpOrdered" else name
            self._intents.add((here, here, word))
        for number, now in self.numbers(lane).items():
            was = numbers.get(number, "unused")
            if was != now:
                self._nonces.add((was, now, name))
        for number, was in numbers.items():
            if number not in self.numbers(lane) and was != "unused":
                self._nonces.add((was, "unused", name))
        return touched

    def intents(self, lane: EoaLane) -> dict[str, str]:
        return {intent: self.state(lane, intent) for intent in self.accepted}

    def state(self, lane: EoaLane, intent: Any) -> str:
        if intent in self._final:
            return self._final[intent]
        slot = lane.slot_of(intent)
        if slot is None:
            return "returned" if intent in lane.returned else "pending"
        return WORDS[status(slot, lane)]

    def numbers(self, lane: EoaLane) -> dict[int, str]:
        """Each number below the optimistic one, and what it is."""
        found: dict[int, str] = {}
        for number in range(lane.head.nonce_next or 0):
            slot = lane.slot_at(number)
            if slot is None:
                found[number] = "recycled" if number in lane.free else "used"
            else:
                found[number] = "no-op" if slot.intent is None else "bound"
        return found

    def look(self, effect: LookAtChain) -> ChainRead:
        read = super().look(effect)
        receipts = tuple(replace(one, ok=one.hash[0] % FAILED_EVERY != 0) for one in read.receipts)
        return replace(read, receipts=receipts)


def observed() -> tuple[set[Step], set[Step]]:
    intents: set[Step] = set()
    nonces: set[Step] = set()
    for seed in SEEDS:
        world = Watched(seed, intents, nonces)
        world.accept(12)
        for _ in range(400):
            world.step()
        world.faults = False
        world.tell("resume")
        for _ in range(4_000):
            if world.is_over():
                break
            world.step()
    return intents, nonces


def drawn(steps: set[Step], states: tuple[str, ...], ends: tuple[str, ...] = ()) -> list[str]:
    """A Mermaid chart, its states in their order; an arrow names all records that go that way."""
    unknown = {state for step in steps for state in step[:2]} - set(states)
    if unknown:
        raise SystemExit(f"the chart has no place for {', '.join(sorted(unknown))}")
    lines = ["```mermaid", "stateDiagram-v2", f"  [*] --> {quoted(states[0])}"]
    for here in states:
        for there in states:
            names = sorted(name for begin, end, name in steps if (begin, end) == (here, there))
            if names:
                lines.append(f"  {quoted(here)} --> {quoted(there)}: {', '.join(names)}")
    lines += [f"  {quoted(end)} --> [*]" for end in ends if any(end == step[1] for step in steps)]
    return [*lines, "```"]


def quoted(state: str) -> str:
    """Mermaid takes a minus for an arrow."""
    return state.replace("-", "_")


if __name__ == "__main__":
    for each in observed():
        for step in sorted(each):
            print(step)
