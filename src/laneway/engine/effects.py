"""Carries out the reactor's effects, a bounded number at once, and returns their answers to it."""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from laneway.core.errors import StoreError
from laneway.core.ids import lane_kind
from laneway.engine.limits import EFFECTS_INFLIGHT_MAX
from laneway.engine.orders import Perform
from laneway.engine.performers import Batcher, Performer
from laneway.engine.reactor import Reactor


class Effects:
    """Calls to the world that are under way or wait for their turn."""

    def __init__(
        self, reactor: Reactor, performers: Mapping[str, Performer], may_act: Callable[[], bool]
    ) -> None:
        """`may_act` says whether the lease of this process still holds."""
        self._reactor = reactor
        self._performers = performers
        self._batchers = {
            kind: performer
            for kind, performer in performers.items()
            if isinstance(performer, Batcher)
        }
        self._may_act = may_act
        self._waiting: deque[Perform] = deque()
        self._out: dict[Perform, asyncio.Task[None]] = {}
        self._sent: dict[Perform, None] = {}
        """Orders under way that may have been sent already, in their order."""
        self._closing = False
        self._stopped = False
        self.moved: Callable[[], None] = lambda: None
        """Called when an effect has ended."""
        self.failed: Callable[[StoreError], None] = lambda _: None
        """Called when the store failed under an effect."""

    def add(self, order: Perform) -> None:
        self._waiting.append(order)

    def is_quiet(self) -> bool:
        return not self._waiting and not self._out

    def has_waiting(self) -> bool:
        """Whether something waits that may begin now."""
        return bool(self._waiting) and len(self._out) < EFFECTS_INFLIGHT_MAX and not self._stopped

    def begin(self) -> bool:
        """Begin what waits, up to the bound; True if some of it was answered at once."""
        waiting, out = self._waiting, self._out
        if not waiting or self._stopped:
            return False
        loop = asyncio.get_running_loop()
        answered = False
        while waiting and len(out) < EFFECTS_INFLIGHT_MAX:
            order = waiting.popleft()
            if self._answered_now(order):
                answered = True
            elif lane_kind(order.lane) in self._batchers:
                for first, *more in self._groups(order):
                    out[first] = loop.create_task(self._carry_out(first, more))
            else:
                out[order] = loop.create_task(self._carry_out(order))
        return answered

    def _groups(self, order: Perform) -> list[list[Perform]]:
        """All that waits in a row for this lane, by class and node, each in its order."""
        waiting, lane, fence = self._waiting, order.lane, order.fence
        groups: dict[object, list[Perform]] = {group_of(order.effect): [order]}
        while waiting and (more := waiting[0]).lane == lane and more.fence == fence:
            groups.setdefault(group_of(more.effect), []).append(waiting.popleft())
        return list(groups.values())

    def _answered_now(self, order: Perform) -> bool:
        """Carry it out without a task, if its performer can; the answer goes back at once."""
        lane, effect = order.lane, order.effect
        performer = self._performers[lane_kind(lane)]
        if not performer.prompt or self._why_not(order) is not None:
            return False
        try:
            event = performer.perform_now(lane, effect)
        except Exception as error:  # noqa: BLE001 - a performer never raises; this is a bug.
            self._reactor.broken(lane, error, effect)
            return True
        if event is None:
            return False
        self._reactor.answered(lane, event)
        return True

    async def _carry_out(self, order: Perform, more: Sequence[Perform] = ()) -> None:
        """One effect, and those that are performed together with it."""
        try:
            await self._carried_out(order, more)
        except GeneratorExit:
            # The loop is gone, and with it everybody who could be notified.
            raise
        except BaseException:
            self._ended(order)
            raise
        self._ended(order)

    async def _carried_out(self, order: Perform, more: Sequence[Perform]) -> None:
        lane = order.lane
        try:
            for event in await self._answers(order, more):
                self._reactor.answered(lane, event)
        except StoreError as error:
            self.failed(error)
        except Exception as error:  # noqa: BLE001 - a performer never raises; this is a bug.
            effects = (order.effect, *(one.effect for one in more))
            self._reactor.broken(lane, error, effects if more else order.effect)

    async def _answers(self, order: Perform, more: Sequence[Perform]) -> Sequence[Any]:
        lane, kind = order.lane, lane_kind(order.lane)
        performer = self._performers[kind]
        reason = self._why_not(order)
        if reason is not None:
            return [performer.decline(lane, one.effect, reason) for one in (order, *more)]
        self._sent[order] = None
        batcher = self._batchers.get(kind)
        if batcher is None:
            return (await performer.perform(lane, order.effect),)
        effects = [order.effect, *(one.effect for one in more)]
        return await batcher.perform_all(lane, effects, partial(self._why_not, order))

    def _ended(self, order: Perform) -> None:
        del self._out[order]
        self._sent.pop(order, None)
        if self._waiting:
            self.begin()
        self.moved()

    def _why_not(self, order: Perform) -> str | None:
        """Why this must not be begun now, though it was ordered; asked right before each send.

        Nothing was sent, and nothing will be: that is a proof, and the lane receives it. Silence
        would leave it with an execution that nobody began and everybody has to wait for.
        """
        if self._closing:
            return "not sent: the engine is stopping"
        if not self._may_act():
            return "not sent: the lease may be over"
        if not self._reactor.owns(order.lane, order.fence):
            return "not sent: the lane was given up before its turn came"
        return None

    def stop(self) -> None:
        """Begin nothing more; the engine has failed."""
        self._stopped = True

    def close(self) -> None:
        """Cancel what was sent, and decline all else, now and from here on.

        A task that has not begun must not be cancelled: it would end without an answer.
        """
        self._closing = True
        for order in list(self._sent):
            self._out[order].cancel()


def group_of(effect: Any) -> object:
    """What is carried out together: effects of one class, and of one node where they name it, for a
    node that hangs must not hold the answers of the others."""
    return type(effect), getattr(effect, "node", None)
