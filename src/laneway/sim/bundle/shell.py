"""Layer S3 of rollup lanes: the shell and the real performer, killed after any callback."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from msgspec.structs import replace

from laneway.core.ids import LaneId, Owner
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.engine.bundle import BundlePerformer, Rollup, rollup_lane
from laneway.engine.bundle.rollup import KIND
from laneway.engine.reactor import Reactor
from laneway.engine.shell import Engine
from laneway.jam.hashing import blake2b
from laneway.lanes.bundle.machine import bundle_kind
from laneway.lanes.bundle.rows import Tell
from laneway.ports import JamChain
from laneway.sim.bundle.durable import Durable
from laneway.sim.bundle.maker import SERVICE, Ear, Maker, Request, encode_request
from laneway.sim.bundle.plan import RollupPlan
from laneway.sim.bundle.port import LoopBuilder, LoopChain
from laneway.sim.bundle.sky import Sky
from laneway.sim.loop import LoopClock, SimLoop
from laneway.sim.shell_world import ShellWorld
from laneway.sim.world import LawBroken
from laneway.stores.group import GroupStore

INTENTS_MAX = 6

WAYS = {"!": "refuse", "~": "revert", "=": "later"}


class RollupShell(ShellWorld):
    """The chain outlives every process."""

    callbacks_life_max = 400

    def __init__(self, plan: RollupPlan) -> None:
        super().__init__(plan)
        # Nobody is there to wake a lane that has halted.
        self.plan = replace(plan, settings=replace(plan.settings, drops_max=1_000), hopeless=0.0)
        self._loop: SimLoop | None = None
        self.sky = Sky(self)
        self.maker = Maker()
        self.ear = Ear()
        self.heard: list[int] = []
        """The user's callbacks, by the ids of their tells."""
        self.lane = rollup_lane(SERVICE)
        self._left: dict[bytes, None] = {}
        """Packages that a node was offered."""
        self._place = 0
        self._kind = bundle_kind(self.plan.settings)
        self._durable = Durable(
            self.lane, self.plan.settings, self.sky, self.maker, self._left.__contains__, self.seen
        )
        self._words: dict[str, str] = {}
        """What each wish was told in the end."""
        self.wishes = [(self.lane, self._data(n)) for n in range(min(plan.intents, INTENTS_MAX))]

    def _data(self, number: int) -> str:
        """Some are in no block, some fail in theirs, some wait for the next."""
        return self._dice.choice(("", "", "", "", "!", "~", "=")) + f"d{number}"

    def pick(self, choices: Sequence[Any]) -> Any:
        return self._dice.choice(choices)

    # What the sky needs.

    @property
    def now_ms(self) -> int:
        return int((self._now_s if self._loop is None else self._loop.time()) * 1000)

    def after(self, delay_ms: int, _label: str, act: Callable[[], None]) -> None:
        assert self._loop is not None
        self._loop.call_later(delay_ms / 1000, act)

    def travel(self, delay_s: float, node: int, core: int, encoded: bytes) -> None:
        """Bytes that arrive when nobody waits for them any more."""
        assert self._loop is not None
        name = blake2b(encoded)

        def arrive() -> None:
            if self.sky.is_up(node):
                self.sky.hand_in(node, core, name, encoded)

        self._loop.call_later(delay_s, arrive)

    def leaving(self, package: bytes) -> None:
        try:
            self._read()
            self._durable.check_submission(package)
        except LawBroken as error:
            self._break(error)
            raise
        self.seen["same bytes again"] += package in self._left
        self._left[package] = None

    def _break(self, error: LawBroken) -> None:
        """The engine would take it for a lane's own trouble: the world ends here."""
        assert self._loop is not None
        self._loop.errors.append({"law": str(error)})
        self._loop.dies_at = 0

    def _read(self) -> None:
        """All that was committed since, under the laws of what is durable."""
        found = self.book.entries[self._place :]
        self._place += len(found)
        for entry in found:
            self._durable.take(self._kind.decode(entry.records))

    # One life.

    def engine(self, loop: SimLoop, clock: LoopClock, store: GroupStore, owner: Owner) -> Engine:
        self._loop = loop
        if not self.faults:
            self.sky.calm()
        self.sky.start()
        chain = cast(JamChain, LoopChain(self))
        rollups = {self.lane: Rollup(chain, LoopBuilder(self))}
        performer = BundlePerformer(rollups, clock, heard=self._hear)
        kinds = {KIND: self._kind}
        reactor = Reactor(kinds, owner, self.plan.windows, {KIND: performer.answer_now})
        return Engine(store, reactor, {KIND: performer}, clock)

    def _hear(self, _lane: LaneId, tell: Tell) -> None:
        if self.chance(self.plan.deaf):
            self.seen["callback failed"] += 1
            raise ValueError("a user's own trouble")
        if tell.id > max(self.heard, default=0) + 1 or tell.id not in self.ear.tells:
            self._break(LawBroken(f"in order: tell {tell.id} comes behind {self.heard}"))
        self.heard.append(tell.id)

    def payload(self, _lane: LaneId, data: str) -> bytes:
        return encode_request(Request(data, WAYS.get(data[0], "send")))

    # The laws.

    def judge(self, data: str, result: Result) -> None:
        words = {"!": Status.REFUSED, "~": Status.REVERTED}
        expected = words.get(data[0], Status.CONFIRMED).value
        # What is put off too often, or with too many others, is refused in the end.
        is_put_off = data.startswith("=") and result.status == Status.REFUSED.value
        if result.status != expected and not is_put_off:
            raise LawBroken(f"{data} ended as {result.status}: {result.reason}")
        self._words[data] = result.status

    def check_chain(self) -> None:
        self._read()
        if self.ear.problem:
            raise LawBroken(self.ear.problem)
        self._durable.check_line(self.sky.best().header_hash)

    def check_results(self) -> None:
        final = self.sky.line(self.sky.final().header_hash)
        inside = [one for record in final for one in self.maker.blocks[record.block].inside]
        data = [request.data for request in inside]
        for _, wish in self.wishes:
            if (wish in data) == (self._words[wish] == Status.REFUSED.value):
                raise LawBroken(f"never lost: {wish}, and on the chain is {data}")
        self.seen["told twice"] += len(self.heard) - len(set(self.heard))
