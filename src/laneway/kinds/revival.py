"""Reviving a lane that a bug stopped: what is put aside, and the durable commands that do it.

The transaction that stopped the lane is cancelled, as far as its lane can: what a node may have
stays bound and watched, and a contract halts over it. Then the command `revive` opens the lane
again, in whichever process it belongs to. All stand in the lane's mailbox, so that a crash in
between loses none.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from laneway.core.errors import CommandUnfit, IntentFinal, IntentNotFound
from laneway.core.ids import IntentId, LaneId, is_intent_id, lane_kind
from laneway.core.intent import IntentRow
from laneway.core.reason import clip
from laneway.core.rows import Command
from laneway.engine.faults import REVIVE, LaneFault, put_aside
from laneway.engine.shell import Engine
from laneway.kinds.following import LaneFollowing
from laneway.kinds.limits import FOLLOW_S_MAX, REVIVED_POLL_S
from laneway.ports import Clock

if TYPE_CHECKING:
    from laneway.kinds.served import Served


class RevivalPlan(Struct, frozen=True):
    """What a revival puts aside."""

    lane: LaneId
    fault: LaneFault | None
    """None: none is known. The lane may be starting, or have stopped in this very moment."""
    row: IntentRow | None
    """The transaction that is taken back; None: none of them is known to be the offender."""
    aside: str = ""
    """What becomes of it, in words."""
    verbs: Sequence[str] = ("cancel",)
    """The commands that put it aside."""
    halts: bool = False
    """Whether the lane halts over it where it may have had its effect."""

    def effect(self) -> str:
        if self.fault is None:
            return "goes on in the process that stopped it; here no bug of it is known"
        why = self.fault.evidence()
        if self.row is not None:
            return f"{self.aside}; {why}"
        if self.fault.command:
            return f"passes over the command that broke it, and goes on; {why}"
        if len(self.fault.intents) > 1:
            some = ", ".join(self.fault.intents)
            return f"puts nothing aside, for any of {some} may be it, and goes on one by one; {why}"
        return f"forgets the answer that broke it, which is asked for again; {why}"

    def reason(self, text: str, by: str) -> str:
        """The final reason of the transaction that is put aside."""
        who = f"put aside by {by or 'an operator'}: {text}"
        return clip(who if self.fault is None else f"{who}; it stopped its lane: {self.why()}")

    def why(self) -> str:
        return "" if self.fault is None else f"{self.fault.error} at {self.fault.where}"


class Revival:
    def __init__(self, engine: Engine, clock: Clock, kinds: "Mapping[str, Served]") -> None:
        self._engine = engine
        self._clock = clock
        self._kinds = kinds

    async def plan(self, lane: LaneId, tx: str | None = None, *, keep: bool = False) -> RevivalPlan:
        """CommandUnfit where no bug stopped it; `tx` names what is put aside, `keep` nothing."""
        fault = self._engine.faults.get(lane)
        if fault is None and (self._engine.reactor.holds(lane) or self._engine.is_home(lane)):
            raise CommandUnfit(lane, REVIVE, "no bug stopped it")
        if tx is None and not keep and fault is not None and not fault.command:
            tx = fault.intents[0] if len(fault.intents) == 1 else None
            view = None if tx is None else await self._engine.store.intent(IntentId(tx))
            if view is None or view.result is not None:
                return RevivalPlan(lane, fault, None)
            return self._plan(lane, fault, view.intent)
        return self._plan(lane, fault, None if tx is None else await self._named(lane, tx))

    def _plan(self, lane: LaneId, fault: LaneFault | None, row: IntentRow | None) -> RevivalPlan:
        if row is None:
            return RevivalPlan(lane, fault, None)
        kind = self._kinds[lane_kind(lane)]
        verbs = self._engine.reactor.kind(lane).aside_verbs
        return RevivalPlan(lane, fault, row, kind.aside(row.id), verbs, kind.halts_aside)

    async def _named(self, lane: LaneId, tx: str) -> IntentRow:
        view = await self._engine.store.intent(IntentId(tx)) if is_intent_id(tx) else None
        if view is None or view.intent.lane != lane:
            raise IntentNotFound(tx)
        if view.result is not None:
            raise IntentFinal(view.intent.id, view.result.status)
        return view.intent

    async def command(self, plan: RevivalPlan, text: str, by: str) -> None:
        """All commands are durable when this returns."""
        now_ms, row = self._clock.now_ms(), plan.row
        if row is not None:
            for command in put_aside(row, plan.verbs, now_ms, plan.reason(text, by), by):
                await self._engine.tell(command)
        broken = "" if plan.fault is None else str(plan.fault.command or "")
        await self._engine.tell(Command(0, plan.lane, REVIVE, now_ms, text, by, word=broken))

    async def act(
        self, plan: RevivalPlan, text: str, by: str, following: LaneFollowing
    ) -> tuple[bool, str]:
        """Whether the lane goes on already, and what became of what was put aside."""
        intent = None if plan.row is None else plan.row.id
        with following.watch(plan.lane, "cancel", intent) as answer:
            await self.command(plan, text, by)
            followed = await self._goes_on(plan)
            if not followed or intent is None:
                return followed, "goes on" if followed else plan.effect()
            try:
                async with asyncio.timeout(FOLLOW_S_MAX):
                    refusal = await answer
            except TimeoutError:
                return False, plan.effect()
        if refusal is None:
            return True, f"goes on; {intent} is put aside"
        does = "halted" if plan.halts else "goes on"
        return True, f"{does}; {intent} stays bound and is watched: {refusal}"

    async def _goes_on(self, plan: RevivalPlan) -> bool:
        """CommandUnfit where it was stopped again at once."""
        if plan.lane not in self._engine.faults_here:
            return False
        for _ in range(int(FOLLOW_S_MAX / REVIVED_POLL_S)):
            fault = self._engine.faults.get(plan.lane)
            if fault is not None and fault is not plan.fault:
                raise CommandUnfit(plan.lane, REVIVE, f"it was stopped again: {fault.evidence()}")
            if fault is None and self._engine.reactor.is_settled(plan.lane):
                return True
            await asyncio.sleep(REVIVED_POLL_S)
        return False
