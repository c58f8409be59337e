"""The chain of a world: timeslots at their time, and what befalls blocks, validators and nodes."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from laneway.core.jam import JamBlockRef, PackageKind
from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.values import (
    BlockUnavailable,
    Impossible,
    ModelSetup,
    SubmissionRefusal,
)
from laneway.jam.service.commitment import block_key, head_of
from laneway.jam.service.values import BLOCK_RECORD, AppliedBlock, ServiceHead
from laneway.jam.spec import TINY
from laneway.lanes.bundle.rows import LineReceipt
from laneway.sim.bundle.doubts import DOUBTS, DoubtfulView
from laneway.sim.bundle.maker import SERVICE, service_setup, transaction_hash
from laneway.sim.bundle.node_view import NodeView, Storage, ref
from laneway.sim.bundle.plan import NODES

if TYPE_CHECKING:
    from laneway.sim.bundle.port import JamGround

TRUTH = len(NODES)
"""The place of a node that nothing befalls; nobody asks it but the laws."""

SWALLOWER = 0
"""The place of the node that takes packages and never passes them on, in worlds that have one."""

BEFORE = 3
"""Blocks that are there when a world begins."""

LASTS = (1, 2, 4, 9, 14)
"""How many slots a trouble lasts: the longer ones outlive an anchor."""


FOR_EVER = 1 << 32

Act = Callable[[], object]


class Trouble(Struct, frozen=True):
    """Something that lasts for a while."""

    chance: float
    """Of its beginning, in a slot."""
    begin: Act
    end: Act


class JamNetwork:
    """One chain, two nodes that builders speak to, and one that sees all."""

    def __init__(self, world: "JamGround") -> None:
        plan = world.plan
        self._world = world
        self._dice = plan.rng("network")
        self.model = JamModel(
            ModelSetup(
                services={SERVICE: service_setup()},
                nodes=len(NODES) + 1,
                finality_lag_blocks=plan.finality_lag,
                signs=False,
                codes_shards=False,
                seed=b"%d" % plan.seed,
            )
        )
        self._switches = self.model.faults
        self._switches.keeps_reported = plan.keeps_reported
        self.begin_ms = world.now_ms - BEFORE * plan.slot_ms
        """When slot 0 began."""
        self.skew_ms = 0
        """How far the machine's clock is from the chain's calendar."""
        for slot in range(1, BEFORE + 1):
            self.model.step(slot)
        self.views = [
            NodeView(self.model, node, name, tells_history=plan.tells_history)
            for node, name in enumerate((*NODES, "truth"))
        ]
        self.truth = self.views[TRUTH]
        self.handed: dict[bytes, None] = {}
        """Packages that reached a guarantor."""
        self.travelling: Counter[bytes] = Counter()
        """Packages on their way to a node."""
        self.condemned: dict[bytes, PackageKind] = {}
        """Packages that every node refuses for good."""
        self.blocks = 0
        """How many were made."""
        self._lines: dict[bytes, tuple[AppliedBlock, ...]] = {}
        self._down: dict[int, None] = {}
        self._active: dict[str, int] = {}
        """Troubles, and the slot in which they end."""
        self._doubtful: dict[int, DoubtfulView] = {}
        """Nodes that show something else than the others."""
        self._left: list[JamBlockRef] = []
        """Heads of forks that were left."""
        self._troubles = self._all_troubles()
        if plan.is_forking:
            self._active["stalled"] = FOR_EVER
            self._troubles["stalled"].begin()

    # Time.

    def start(self) -> None:
        """Let slots come from now on."""
        self._world.after(self._until_next(), "slot", self._tick)

    def _until_next(self) -> int:
        begins_ms = self.begin_ms + (self.model.slot + 1) * self._world.plan.slot_ms
        return max(0, begins_ms - self._world.now_ms)

    def _tick(self) -> None:
        slot = self.model.slot + 1
        if self._world.is_faulty:
            self._befall(slot)
        self._world.pass_slot(slot)
        self.step(slot)
        self.start()

    def step(self, slot: int) -> None:
        bites = dict(self._switches.bites)
        self.model.step(slot)
        self.blocks += 1
        for fault, count in self._switches.bites.items():
            self._world.seen[f"bite:{fault.value}"] += count - bites[fault]

    def is_hit(self, chance: float) -> bool:
        return chance > 0 and self._dice.random() < chance

    # Troubles.

    def _befall(self, slot: int) -> None:
        chances, faults = self._world.plan.faults, self._switches
        for name, trouble in self._troubles.items():
            until = self._active.get(name)
            if until is not None and slot >= until:
                del self._active[name]
                trouble.end()
            elif until is None and self.is_hit(trouble.chance):
                lasts = self._dice.choice(LASTS)
                self._world.note(f"trouble: {name} for {lasts} slots")
                self._active[name] = slot + lasts
                trouble.begin()
        self._world.befall()
        if self.is_hit(chances.skip):
            faults.skipped_slots.add(slot)
        if self.is_hit(chances.reorg):
            self._left.append(ref(self.model.best(TRUTH)))
            depths = (2, 2, 3) if self._world.plan.is_forking else (1, 1, 2, 3, 9)
            faults.reorg_depth = self._dice.choice(depths)

    def _all_troubles(self) -> "dict[str, Trouble]":
        """Each with its chance, how it begins and how it ends."""
        chances, faults = self._world.plan.faults, self._switches

        def switch(chance: float, name: str, on: int) -> Trouble:
            set_ = partial(setattr, faults, name)
            return Trouble(chance, partial(set_, on), partial(set_, type(on)(0)))

        def some(chance: float, cores: set[int]) -> Trouble:
            pick = partial(self._dice.choice, ((0,), (1,), (0, 1)))
            return Trouble(chance, lambda: cores.update(pick()), cores.clear)

        return {
            "withheld": some(chances.withhold, faults.withheld_cores),
            "unavailable": some(chances.unavailable, faults.unavailable_cores),
            "mismatched": some(chances.mismatch, faults.mismatched_cores),
            "stalled": switch(chances.stall, "is_finality_stalled", True),
            "paired": switch(chances.pair, "pairs_versions", True),
            "forgetful": switch(chances.forgetful, "drops_at_rotation", True),
            "late": switch(chances.late, "late_slots", 2),
            "censored": Trouble(chances.censor, self._censor, faults.censored.clear),
            "lagging": Trouble(chances.lag, self._lag, faults.lag_slots.clear),
            "hidden": Trouble(chances.hide, self._hide, faults.hidden_reports.clear),
            "down": Trouble(chances.down, self._stop, self._down.clear),
            "doubtful": Trouble(chances.doubt, self._doubt, self._doubtful.clear),
            "skewed": Trouble(chances.skew, self._skew, self._straighten),
            "parted": Trouble(chances.part, self._part, self.model.heal),
            "swung": Trouble(chances.swing, self._swing, partial(self.model.prefer, None)),
        }

    def _waiting(self) -> list[bytes]:
        found = list(dict.fromkeys(package for _, package in self.model.waiting()))
        self._dice.shuffle(found)
        return found

    def _censor(self) -> None:
        self._switches.censored.update(self._waiting()[:1])

    def _lag(self) -> None:
        self._switches.lag_slots[self._dice.randrange(len(NODES))] = self._dice.choice((1, 2, 4))

    def _hide(self) -> None:
        self._switches.hidden_reports[self._dice.randrange(len(NODES))] = set(self._waiting())

    def _stop(self) -> None:
        self._down.update(dict.fromkeys(self._dice.choice(((0,), (1,), (0, 1)))))

    def _doubt(self) -> None:
        """One of the nodes that builders speak to; they need another one to find it out."""
        place = self._dice.choice((0, 0, 1))  # The first is asked before the second.
        kind = self._dice.choice(DOUBTS)
        view = DoubtfulView(self.views[place], kind, self._dice.randrange(1 << 16))
        self._doubtful[place] = view
        self._world.note(f"{view.name} shows {kind.value}")

    def _skew(self) -> None:
        self.skew_ms = self._dice.choice((-3, 2)) * self._world.plan.slot_ms

    def _straighten(self) -> None:
        self.skew_ms = 0

    def _part(self) -> None:
        validators = list(range(TINY.validator_count))
        self._dice.shuffle(validators)
        cut = self._dice.choice((2, 3))
        nodes = {node: self._dice.randrange(2) for node in range(len(NODES))}
        self.model.partition((validators[cut:], validators[:cut]), nodes)

    def _swing(self) -> None:
        if not self._left:
            return
        left = self._left.pop()
        try:
            self.model.prefer(left.header_hash)
        except Impossible:
            return
        self._world.seen["an old fork is back"] += 1

    def calm(self) -> None:
        """The faults are over: everybody speaks to everybody, and does what they should."""
        for name in list(self._active):
            del self._active[name]
            self._troubles[name].end()
        self._switches.reorg_depth = 0

    # Nodes.

    def view(self, node: int) -> NodeView:
        """What a node shows now."""
        return self._doubtful.get(node, self.views[node])

    def is_doubtful(self) -> bool:
        """Whether nodes may show different things."""
        return bool(self._doubtful)

    def is_up(self, node: int) -> bool:
        return node not in self._down

    def is_out(self, package: bytes) -> bool:
        """Whether a guarantor has it, or may have it soon."""
        return package in self.handed or self.travelling[package] > 0

    def hand_in(
        self, node: int, core: int, name: bytes, encoded: bytes
    ) -> SubmissionRefusal | None:
        if self._world.plan.swallows and node == SWALLOWER:
            self._world.seen["package swallowed"] += 1
            return None
        said = self.model.submit(node, core, encoded)
        if said is None:
            self.handed[name] = None
        return said

    # The truth, for the laws.

    def eye(self, block: bytes) -> int:
        """The place of a node that has seen it; BlockUnavailable if it is forgotten."""
        for node in range(TRUTH, -1, -1):
            if self.model.has_seen(node, block):
                return node
        raise BlockUnavailable(block)

    def best(self) -> JamBlockRef:
        return ref(self.model.best(TRUTH))

    def final(self) -> JamBlockRef:
        """The newest final block that anyone knows."""
        told = [ref(self.model.finalized(node)) for node in range(len(NODES) + 1)]
        return max(told, key=lambda one: one.slot)

    def stored(self, block: bytes, key: bytes) -> bytes | None:
        return self.model.service_value(self.eye(block), block, SERVICE, key)

    def service_head(self, block: bytes) -> ServiceHead:
        """The newest rollup block after a block of the chain."""
        head = head_of(Storage(self.model, self.eye(block), block, SERVICE))
        assert head is not None
        return head

    def done(self, block: bytes, most: int) -> dict[bytes, LineReceipt]:
        """The transactions that were executed up to a block of the chain in its first blocks, by
        their hashes."""
        return {
            transaction_hash(one): LineReceipt(
                number, record.block, place, record.package_hash, one.way != "revert"
            )
            for number, record in enumerate(self.line(block)[:most], 1)
            for place, one in enumerate(self._world.maker.blocks[record.block].inside)
        }

    def line(self, block: bytes) -> tuple[AppliedBlock, ...]:
        """What was applied up to a block of the chain, from number 1 on."""
        known = self._lines.get(block)
        if known is None:
            node = self.eye(block)
            view = Storage(self.model, node, block, SERVICE)
            head = self.service_head(block)
            found = []
            for number in range(1, head.number + 1):
                raw = view.read(block_key(number))
                assert raw is not None
                found.append(BLOCK_RECORD.decode(raw, "block record"))
            known = self._lines[block] = tuple(found)
        return known
