"""Worlds of a bundle lane that can be copied quickly, and when two of them are one.

Nothing tells two states apart that neither lane nor chain nor budget can ever show: times and
heights are counted from now, up to where they mean the same; hashes, serials and ids have no
meaning but whose they are.
"""

from copy import copy
from typing import Any, TypeAlias

import msgspec
from tests.lanes.bundle.chain import Chain, State
from tests.lanes.bundle.stage import SLOT_MS, Stage

from laneway.core.rows import Index, Result, RowKey, RowPut
from laneway.lanes.bundle.machine import decide
from laneway.lanes.bundle.rows import BlockState, Fact, FactKind, Slot, Version
from laneway.lanes.common.values import IntentsOffered

FINALITY = 2
"""Blocks on top of a final one: how deep a fork may go."""
AGE_MAX = 9
"""Blocks behind which an age means nothing more: eight is the longest that anything lives."""

Key: TypeAlias = tuple[Any, ...]


class Budget(msgspec.Struct, frozen=True):
    """What may still go wrong."""

    timeouts: int
    reorgs: int
    crashes: int


class Actor(Stage):
    """A stage that can be copied quickly; what it costs to check is checked once a state."""

    def post(self, event: Any) -> None:
        if isinstance(event, IntentsOffered):
            self.lane.intents |= {intent.id: intent for intent in event.intents}
        decision = decide(self.lane, event)
        self.apply(decision.records)
        self.out += decision.effects

    def apply(self, records: Any) -> None:
        for record in records:
            for touch in self.kind.evolve(self.lane, record):
                match touch:
                    case RowPut():
                        self.rows[touch.table, touch.key] = touch
                    case RowKey():
                        del self.rows[touch.table, touch.key]
                    case Result():
                        assert touch.intent not in self.results, "a final answer is written once"
                        self.results[touch.intent] = touch
                    case Index():
                        pass

    def write(self) -> None:
        write = self.kind.head(self.lane, self.kind.deadline(self.lane))
        self.head, self.cursors, self.wake_ms = write.state, write.cursors, write.wake_ms

    def crash(self, **settings: Any) -> None:
        self.write()
        super().crash(**settings)

    def twin(self) -> "Actor":
        """Another world, equal to this one."""
        found = copy(self)
        lane = self.lane.fork()
        lane.bound, lane.finished = dict(lane.bound), copy(lane.finished)
        lane.intents, lane.inherited = dict(lane.intents), dict(lane.inherited)
        found.lane, found.chain = lane, twin_chain(self.chain)
        found.rows, found.results = dict(self.rows), dict(self.results)
        found.out, found.noted = list(self.out), list(self.noted)
        found.heard, found.sent = [], []
        return found


def twin_chain(chain: Chain) -> Chain:
    found = copy(chain)
    found.states, found.packages = dict(chain.states), dict(chain.packages)
    found.cores = dict(chain.cores)
    return found


# When two states are one.


def key(actor: Actor, budget: Budget) -> Key:
    lane, chain = actor.lane, actor.chain
    forks = budget.reorgs > 0
    slots = tuple([slot_key(actor, slot) for slot in lane.in_order()])
    versions = tuple(
        [
            version_key(actor, one, forks=forks)
            for slot in lane.in_order()
            for one in lane.of(slot.id)
        ]
    )
    head = lane.head
    times = ahead(actor, head.look_ms), ahead(actor, head.window_ms), ahead(actor, head.tell_ms)
    seen: list[Any] = []
    state: State | None = chain.best
    while state is not None:
        seen.append(state_key(actor, state, forks=forks))
        # Only a fork shows what the state was before.
        above = forks and state.height > chain.final.height
        state = chain.states[state.parent] if above else None
    final = chain.best.height - chain.final.height
    rest = (head.mode, head.looking, head.telling, doubted(actor), len(lane.tells))
    return slots, versions, times, tuple(seen), final, rest, len(actor.results), budget


def doubted(actor: Actor) -> Key:
    """Packages that were being submitted at a crash, and of which nobody has said that he took
    them."""
    found = [actor.lane.version(*one) for one in actor.lane.inherited]
    return tuple([(one.slot, one.version) for one in found if one is not None and not one.is_held])


def ahead(actor: Actor, at_ms: int | None) -> int | None:
    return None if at_ms is None else at_ms - actor.now_ms


def slot_key(actor: Actor, slot: Slot) -> Key:
    making = slot.making and (slot.making.version, slot.making.core, len(slot.making.prerequisites))
    return (
        slot.id, slot.word, slot.building, slot.queued, slot.version, slot.is_hopeless, making,
        slot.winner, slot.overdue, ahead(actor, slot.overdue_ms), slot.told, slot.tries,
        ahead(actor, slot.retry_ms),
    )  # fmt: skip


def version_key(actor: Actor, one: Version, *, forks: bool) -> Key:
    lane, height = actor.lane, actor.lane.head.height
    facts = tuple(sorted([fact_key(actor, one, fact, forks=forks) for fact in one.facts]))
    named = tuple([lane.hashes.get(package) for package in one.prerequisites])
    # A package lives by its anchor until it is reported, and then only another fork brings that
    # back. One that nobody heard of is too old by where it was built.
    anchor = lane.height_of(one.anchor)
    lives = forks or one.fact(FactKind.REPORTED) is None
    return (
        one.slot, one.version, one.core, named, one.is_held, one.is_refused, one.offering,
        one.last_ms is None or min(actor.now_ms - one.last_ms, SLOT_MS), facts,
        None if anchor is None or not lives else min(height - anchor, AGE_MAX),
        None if one.is_sent() else min(height - one.born, AGE_MAX),
    )  # fmt: skip


def fact_key(actor: Actor, version: Version, fact: Fact, *, forks: bool) -> Key:
    """Its block matters while a fork may take it back, or until it is final; how long ago it was
    reported, while its core is engaged and while another may name it."""
    lane, head = actor.lane, actor.lane.head
    is_over = version.is_dead() and not forks
    at = lane.height_of(fact.block)
    depth = FINALITY + 1 if at is None else min(head.height - at, FINALITY + 1)
    if is_over or (not forks and fact.kind != FactKind.ACCUMULATED):
        depth = 0
    since: tuple[int, ...] = ()
    if fact.kind == FactKind.REPORTED and not is_over:
        assert head.best is not None
        engaged = min(head.best.slot - (fact.number or 0), lane.settings.availability_slots)
        if not forks and (version.fact(FactKind.READY) or version.fact(FactKind.ACCUMULATED)):
            engaged = 0
        since = engaged, reported_age(actor, version.slot, head.height - fact.height)
    return fact.kind, depth, since, fact.number is None, fact.by_prerequisite, fact.words


def reported_age(actor: Actor, slot: int, age: int) -> int:
    """How long ago a package was reported, where another may still name it."""
    lane = actor.lane
    follower = lane.numbers.get(lane.slots[slot].number + 1, 0)
    word = lane.words.get(follower, BlockState.ACCUMULATED)
    named = lane.settings.order == "chained" and word != BlockState.ACCUMULATED
    return min(age, AGE_MAX) if named else 0


def state_key(actor: Actor, state: State, *, forks: bool) -> Key:
    """What a block's state shows of the packages of open blocks."""
    chain = actor.chain
    found = []
    for package in followed(actor):
        slot, version = actor.lane.hashes[package]
        reported = state.reported.get(package)
        if not forks and not chain.may_land(package, state) and package not in state.done:
            # It is dead; the chain may still make it available, and that is all.
            found.append((slot, version, -2, (package in pending(state), False, "dead"), 0))
            continue
        age = AGE_MAX
        if reported is None and (forks or package not in state.done):
            age = chain.age(chain.packages[package].anchor, state) or AGE_MAX
        since = -1 if reported is None else reported_age(actor, slot, state.height - reported[1])
        done = state.done.get(package, "open")
        there = package in state.ready, package in state.lost, str(done)
        found.append((slot, version, since, there, age))
    return tuple(sorted(found))


def followed(actor: Actor) -> list[bytes]:
    """Packages of blocks that are not final: of the others the lane knows nothing any more, and the
    service takes none."""
    return [package for package in actor.chain.packages if package in actor.lane.hashes]


def pending(state: State) -> list[bytes]:
    """Reported, and neither available nor lost."""
    return [one for one in state.reported if one not in state.ready and one not in state.lost]
