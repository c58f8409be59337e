"""The people of a world: they pause, drain, cancel, and settle what only a person can know."""

from typing import TYPE_CHECKING

from laneway.core.ids import IntentId, LaneId, lane_key
from laneway.core.rows import Command
from laneway.lanes.contract.show import describe

if TYPE_CHECKING:
    from laneway.sim.clients import Wish
    from laneway.sim.contract_world import ContractWorld
    from laneway.sim.world import World


class Crew:
    """What people of every world can do: leave a word in a lane's mailbox."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._dice = world.plan.rng("operator")

    def _about(self, verb: str, wishes: "list[Wish]") -> None:
        """A word about one of the intents that were accepted."""
        wishes = [wish for wish in wishes if wish.acked is not None]
        if not wishes:
            return
        wish = self._dice.choice(wishes)
        assert wish.acked is not None
        view = self._world.book.intent(wish.acked)
        assert view is not None
        row = view.intent
        self._tell(
            Command(
                0,
                wish.lane,
                verb,
                self._world.now_ms,
                intent=row.id,
                seq=row.seq,
                priority=row.priority,
                size=row.size(),
            )
        )

    def _tell(self, command: Command) -> None:
        world = self._world
        living = [p for p in world.processes if p.alive and p.frozen_until_ms <= world.now_ms]
        if not living:
            return
        world.seen[f"operator:{command.verb}"] += 1
        world.note(f"operator: {command.verb} {command.word} {command.lane}")
        world.group(lambda book: book.tell(command))
        living[-1].reactor.called(command.lane)
        living[-1].pump_soon()
        world.wake_others(living[-1], lambda p: p.reactor.called(command.lane))


class Operator(Crew):
    """Also the other writers, who put blocks of their own on a contract's chain."""

    _world: "ContractWorld"

    def start(self) -> None:
        self._world.after(300, "operator", self._act)
        self._world.after(200, "foreign", self._write)

    def _act(self) -> None:
        world = self._world
        if not world.faults:
            return
        world.after(300, "operator", self._act)
        if not world.chance(world.plan.operator * 10):
            return
        lane = self._dice.choice(world.lanes)
        verb = self._dice.choice(("pause", "resume", "drain", "cancel"))
        if verb == "cancel":
            self._about("cancel", world.client.wishes)
        else:
            word = self._dice.choice(("queue", "running")) if verb == "drain" else ""
            view = world.book.lane(lane)
            seq = 0 if view is None else view.tail.seq_next - 1
            self._tell(Command(0, lane, verb, world.now_ms, word=word, seq=seq))

    def calm(self) -> None:
        """After the faults: resume what was paused, and settle what is halted, truthfully."""
        self._world.after(500, "calm", self._calm)

    def _calm(self) -> None:
        world = self._world
        world.after(1_000, "calm", self._calm)
        for lane in world.lanes:
            view = world.book.lane(lane)
            if view is None:
                continue
            word = describe(view.head.state, world.plan.settings).word
            if word in ("paused", "draining"):
                self._tell(Command(0, lane, "resume", world.now_ms))
            elif word == "halted":
                world.seen["halted"] += 1
                self._settle(lane)

    def _settle(self, lane: LaneId) -> None:
        """Look at the chain, and say what is there; only when nothing is under way any more."""
        world = self._world
        if world.host.travelling or world.chain.running(lane_key(lane)):
            return
        for intent, wish in world.client.by_intent.items():
            view = world.book.intent(intent)
            if wish.lane != lane or view is None or not view.open or view.result is not None:
                continue
            done = any(b.data == wish.data for b in world.chain.history(lane_key(lane)))
            word = "executed" if done else "not_executed"
            self._tell(self._settling(lane, intent, word))
            self._tell(self._settling(lane, intent, "skip"))

    def _settling(self, lane: LaneId, intent: IntentId, word: str) -> Command:
        return Command(
            0, lane, "settle", self._world.now_ms, "looked at the chain", "sim", intent, word=word
        )

    def _write(self) -> None:
        world = self._world
        if not world.faults:
            return
        world.after(200, "foreign", self._write)
        if world.chance(world.plan.foreign):
            lane = self._dice.choice(world.lanes)
            world.host.write_foreign(lane_key(lane), f"foreign{world.steps}")
