"""All that can happen to three blocks with two versions each: a closed search, state by state.

One step is one of these, in any order and as often as a budget allows:

* guarantee: the next chain block reports one package that it can report;
* accumulate: the next chain block makes one report available;
* calm: the next chain block reports all it can, and makes all available;
* timeout: chain blocks without anything, until what is out and not reported is too old, and with
  what is reported lost for want of validators that have it;
* reorg: another fork, one block longer, one or two blocks back, which reports one of the
  packages in its first block, or none;
* crash: the process dies idle, with versions being built, or in the middle of submitting, when some
  of the packages are with a node and the others are not.

Two states are one when nothing differs that the lane, the chain or the budgets can ever show: times
and heights are counted from now, up to where they mean the same; hashes, serials and ids have no
meaning but whose they are. Each package is guaranteed once on a fork and accumulated once, so there
is an end: the search goes on until no state is new. Steps that would build a third version of a
block are counted, and not followed.

Laws: in every state each transaction is in one place, what had an effect had it once and in order,
rows restore the lane, and `resume` holds what is awaited; in every step no package of a block goes
to a node while another can land, and what is queued is submitted in the next window if there is a
core and room for it; and from every state calm steps alone lead to all blocks final.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any

import msgspec
from tests.lanes.bundle.stage import SLOT_MS, due, shape
from tests.laws.bundle_states import AGE_MAX, FINALITY, Actor, Budget, Key, followed, key, pending
from tests.laws.bundle_world import check_line

from laneway.lanes.bundle.rows import BlockState
from laneway.lanes.bundle.standing import free_cores, inflight, prerequisites_of
from laneway.lanes.bundle.values import SubmitPackage

replace = msgspec.structs.replace

VERSIONS_MAX = 2
CALM_STEPS_MAX = 60
"""Calm steps after which all is final; the longest way takes a third of them."""
SHOWN_EVERY = 20_000
"""States after which a search that takes long says how far it is."""
END = -1
"""Where a calm step leads from a state in which all is final."""

SETTINGS: dict[str, Any] = {
    "block_txs_max": 1,
    "cores": (0, 1, 2),
    "poll_ms": 2_000,
    "guarantee_timeout_ms": 0,
    "accumulate_timeout_ms": 6_000,
    "accumulate_timeouts_max": 1,
    "max_submit_retries": 1_000,
    "max_version_retries": 1_000,
}
"""Impatient: the chain alone keeps the lane from building another version too early. What counts up
to a bound that no way here reaches has none, and does not tell states apart."""


class Scope(msgspec.Struct, frozen=True):
    blocks: int = 3
    timeouts: int = 1
    reorgs: int = 1
    crashes: int = 1


def first(scope: Scope, **settings: Any) -> Actor:
    """So many blocks wait to be submitted."""
    actor = Actor(**{**SETTINGS, "max_inflight": scope.blocks, **settings})
    actor.chain.produce()
    actor.now_ms = actor.chain.best.ref.slot * SLOT_MS
    for _ in range(scope.blocks):
        actor.accept(1)
        actor.pull()
        actor.build()
        if actor.lane.head.looking:
            actor.look()
        actor.now_ms += 1
        actor.apply(due(actor))
    # Another block, so that the lane knows the one that packages are anchored at.
    actor.chain.produce()
    actor.now_ms = actor.chain.best.ref.slot * SLOT_MS
    return seen(actor)


# What can happen.


def steps(actor: Actor, budget: Budget) -> Iterator[tuple[str, Actor, Budget]]:
    ready = actor.twin()
    ready.to_slot()
    check_window(actor, ready)
    chain = ready.chain
    best = chain.best
    yield "calm", passed(ready, ready.reportable(), None), budget
    for package in followed(ready):
        if chain.can_report(package, best):
            yield "guarantee", passed(ready, [package], ()), budget
    for package in [one for one in pending(best) if one in ready.lane.hashes]:
        yield "accumulate", passed(ready, [], (package,)), budget
    if budget.timeouts and (pending(best) or outstanding(ready)):
        yield "timeout", timed_out(ready), replace(budget, timeouts=budget.timeouts - 1)
    if budget.reorgs:
        less = replace(budget, reorgs=budget.reorgs - 1)
        for twin in reorged(ready):
            yield "reorg", twin, less
    if budget.crashes:
        less = replace(budget, crashes=budget.crashes - 1)
        for twin in crashed(actor):
            yield "crash", twin, less


def check_window(before: Actor, after: Actor) -> None:
    """Window open, core free and something queued: a submission of it in that window."""
    lane = before.lane
    waiting = [slot for slot in lane.in_order() if lane.words[slot.id] == BlockState.QUEUED]
    able = waiting and free_cores(lane) and inflight(lane) < lane.settings.max_inflight
    if able and prerequisites_of(lane, waiting[0]) is not None:
        sent = [after.lane.hashes[package][0] for _, package in after.sent]
        assert waiting[0].id in sent, f"{waiting[0]} waits, and a window has passed"


def outstanding(actor: Actor) -> list[bytes]:
    """With a node, and not reported yet."""
    chain, best = actor.chain, actor.chain.best
    return [
        package
        for package in chain.packages
        if package not in best.reported and chain.may_land(package, best)
    ]


def passed(ready: Actor, reports: list[bytes], available: tuple[bytes, ...] | None) -> Actor:
    twin = ready.twin()
    twin.chain.produce(reports, ready=available)
    return seen(twin)


def seen(actor: Actor) -> Actor:
    """The lane sees the newest block, and nobody is asked for anything."""
    actor.chain.finalise(behind=FINALITY)
    begin_ms = actor.chain.best.ref.slot * SLOT_MS
    actor.until(begin_ms + 1_000)
    if actor.lane.slots and actor.lane.head.best != actor.chain.best.ref:
        actor.look()
    actor.until(begin_ms + SLOT_MS - actor.settings.build_from_ms - 1)
    return actor


def timed_out(ready: Actor) -> Actor:
    twin = ready.twin()
    twin.chain.produce(ready=(), lose=pending(twin.chain.best))
    seen(twin)
    for _ in range(AGE_MAX):
        if not outstanding(twin):
            break
        twin.to_slot()
        twin.chain.produce(ready=())
        seen(twin)
    return twin


def reorged(ready: Actor) -> Iterator[Actor]:
    parent = ready.chain.best
    for depth in range(1, FINALITY + 1):
        if parent.height <= ready.chain.final.height:
            return
        parent = ready.chain.states[parent.parent]
        able = [one for one in followed(ready) if ready.chain.can_report(one, parent)]
        for reports in ([], *([one] for one in able)):
            twin = ready.twin()
            fork = twin.chain.produce(reports, ready=(), parent=parent, is_best=False)
            for at in range(depth):
                fork = twin.chain.produce(ready=(), parent=fork, is_best=at == depth - 1)
            yield seen(twin)


def crashed(actor: Actor) -> Iterator[Actor]:
    yield restarted(actor.twin())
    window = actor.twin()
    window.tick(1)
    yield restarted(window.twin())
    window.make()
    orders = [one for one in window.out if isinstance(one, SubmitPackage)]
    for count in range(1, len(orders) + 1):
        twin = window.twin()
        for order in orders[:count]:
            twin.reach(order)
        yield restarted(twin)


def restarted(twin: Actor) -> Actor:
    twin.crash()
    twin.settle()
    return twin


# The laws.


def judge(actor: Actor) -> None:
    actor.check_places()
    check_line(actor)
    assert [one for one in actor.chain.line() if one not in actor.accepted] == []
    line = actor.chain.line()
    assert line == list(actor.accepted)[: len(line)], "in order"
    for result in actor.results.values():
        assert result.intent in line, "what is confirmed is on the chain"
    actor.write()
    assert shape(actor.restored()) == shape(actor.lane), "rows restore the lane"
    assert not actor.out
    resumed = actor.kind.resume(actor.lane)
    assert not resumed, f"all was answered, and resume holds {resumed}"


def is_settled(actor: Actor) -> bool:
    return not actor.lane.slots and len(actor.results) == len(actor.accepted)


class Found(msgspec.Struct):
    """What a search went through."""

    states: int = 0
    steps: int = 0
    merged: int = 0
    beyond: int = 0
    """Steps to a third version, which were not followed."""
    settled: int = 0
    calm_max: int = 0
    """The longest way of calm steps to the end."""
    names: dict[str, int] = msgspec.field(default_factory=dict)

    def words(self) -> str:
        kinds = ", ".join(f"{name} {count:,}" for name, count in sorted(self.names.items()))
        return (
            f"{self.states:,} states, {self.steps:,} steps ({kinds}), {self.merged:,} of them to "
            f"known states, {self.beyond:,} beyond the scope, {self.settled:,} states settled, "
            f"at most {self.calm_max} calm steps to the end"
        )


def search(scope: Scope, **settings: Any) -> Found:
    """Until no state is new."""
    found = Found()
    budget = Budget(scope.timeouts, scope.reorgs, scope.crashes)
    begin = first(scope, **settings)
    judge(begin)
    known: dict[Key, int] = {key(begin, budget): 0}
    calm: list[int] = [0]
    """Where a calm step leads from each state."""
    waiting = [(0, begin, budget)]
    while waiting:
        place, actor, left = waiting.pop()
        if is_settled(actor):
            found.settled += 1
            calm[place] = END
            continue
        for name, twin, after in steps(actor, left):
            found.steps += 1
            found.names[name] = found.names.get(name, 0) + 1
            judge(twin)
            if any(slot.version > VERSIONS_MAX for slot in twin.lane.slots.values()):
                found.beyond += 1
                if name == "calm":
                    calm[place] = END  # Whoever goes on from there is not in this scope.
                continue
            name_of = key(twin, after)
            reached = known.get(name_of)
            if reached is None:
                reached = known[name_of] = len(calm)
                calm.append(reached)
                waiting.append((reached, twin, after))
                if len(calm) % SHOWN_EVERY == 0:
                    print(f"{len(calm):,} states, {len(waiting):,} wait", file=sys.stderr)
            else:
                found.merged += 1
            if name == "calm":
                calm[place] = reached
    found.states = len(calm)
    found.calm_max = longest(calm)
    return found


def longest(calm: list[int]) -> int:
    """The longest way of calm steps; all of them have an end."""
    lengths = {END: 0}
    for place in range(len(calm)):
        way = [place]
        while way[-1] not in lengths:
            way.append(calm[way[-1]])
            assert len(way) <= CALM_STEPS_MAX + 1, "calm steps lead to the end"
        for back, one in enumerate(reversed(way[:-1]), 1):
            lengths[one] = lengths[way[-1]] + back
    return max(lengths.values())


def main() -> None:
    """`bundle_scope.py [ORDER [BLOCKS [TIMEOUTS [REORGS [CRASHES]]]]]`."""
    words = sys.argv[1:]
    orders = [words[0]] if words else ["chained", "parallel"]
    scope = Scope(*map(int, words[1:]))
    for order in orders:
        begun = time.monotonic()
        found = search(scope, order=order)
        took_s = time.monotonic() - begun
        print(f"{order}, {scope.blocks} blocks: {found.words()}; {took_s:.0f} s", flush=True)


if __name__ == "__main__":
    main()
