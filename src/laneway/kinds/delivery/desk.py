"""The server's desk for webhooks, over a running engine."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Literal, assert_never

import msgspec

from laneway.core.errors import BadRequest, CommandUnfit, IntentNotFound, WebhookNotFound
from laneway.core.ids import ENTROPY_BYTES, IntentId, LaneId, intent_id, is_intent_id, lane_id
from laneway.core.intent import Arrival
from laneway.core.outcome import Status
from laneway.core.rows import Command
from laneway.core.urls import shown_url
from laneway.engine.delivery import decode_message, encode_message
from laneway.engine.system import SystemEntropy
from laneway.feeds.courier import message_id
from laneway.kinds.audit.trail import TrailEntry
from laneway.kinds.commands import checked
from laneway.kinds.common.views import copied
from laneway.kinds.delivery.section import WebhookSection
from laneway.kinds.limits import FOLLOW_S_MAX
from laneway.kinds.revival import RevivalPlan
from laneway.kinds.served import Home, Operator
from laneway.lanes.delivery.lane import DeliveryLane, decode_history, describe, read_head
from laneway.lanes.delivery.values import KIND, Attempt
from laneway.ports import Clock, DeliveryMessage, IntentView
from laneway.server.desk import OperatorReason
from laneway.wire.cursor import TxPlace
from laneway.wire.times import to_time
from laneway.wire.values import Delivery, DeliveryAttempt, Webhook, WebhookAction

TEST_TYPE = "webhook.test"

WebhookVerb = Literal["pause", "resume", "revive", "test"]


class WebhooksDesk:
    """The endpoints of this process: how each fares, its messages, and commands about them."""

    def __init__(
        self, home: Home, operator: Operator, sections: Sequence[WebhookSection], clock: Clock
    ) -> None:
        self._engine = home.engine
        self._store = home.store
        self._following = operator.following
        self._trail = operator.trail
        self._revival = operator.revival
        self._clock = clock
        self._entropy = SystemEntropy()
        self._sections = {section.id: section for section in sections}

    async def listed(self) -> Sequence[Webhook]:
        return [await self._shown(section) for section in self._sections.values()]

    async def _shown(self, section: WebhookSection) -> Webhook:
        view = await self._store.lane(lane_id(KIND, section.id))
        raw = b"" if view is None else view.head.state
        head, state = read_head(raw), describe(raw)
        fault = self._engine.faults.get(lane_id(KIND, section.id))
        if fault is not None:
            state = msgspec.structs.replace(state, word="halted", reason=fault.words())
        waiting = 0 if view is None else view.depth() - head.open_count
        return copied(
            Webhook,
            section,
            url=shown_url(section.url),
            state="ready" if state.word == "idle" and waiting else state.word,
            reason=state.reason,
            by=state.by,
            waiting=waiting,
            open=head.open_count,
            delivered=head.delivered_count,
            dead=head.dead_count,
            failures=head.failures,
        )

    def _section(self, webhook: str) -> WebhookSection:
        section = self._sections.get(webhook)
        if section is None:
            raise WebhookNotFound(webhook)
        return section

    # The delivery log.

    async def deliveries(
        self, webhook: str, after: TxPlace | None, limit: int
    ) -> tuple[Sequence[Delivery], TxPlace | None]:
        lane = lane_id(KIND, self._section(webhook).id)
        if after is not None and not (after.lane == lane and is_intent_id(after.intent)):
            raise BadRequest("cursor", "not a cursor of this list")
        place = None if after is None else IntentId(after.intent)
        views = await self._store.history(lane, place, limit)
        more = len(views) == limit
        items = [self._delivery(webhook, view) for view in views]
        return items, TxPlace(lane, views[-1].intent.id) if more else None

    def _delivery(self, webhook: str, view: IntentView) -> Delivery:
        row, result = view.intent, view.result
        message = decode_message(row.payload)
        attempts, next_ms = self._attempts(view)
        open_status = Status.SUBMITTED if view.open else Status.QUEUED
        return Delivery(
            id=row.id,
            webhook=webhook,
            message=message.id,
            type=message.type,
            status=open_status.value if result is None else result.status,  # type: ignore[arg-type]
            final=result is not None,
            reason=result.reason if result else attempts[-1].reason if attempts else "",
            seq=row.seq,
            accepted_at=to_time(row.accepted_ms),
            settled_at=None if result is None else to_time(result.settled_ms),
            next_attempt_at=None if next_ms is None else to_time(next_ms),
            resends=message.resends or None,
            attempts=[attempt_of(attempt) for attempt in attempts],
            body=msgspec.json.decode(message.body),
        )

    def _attempts(self, view: IntentView) -> tuple[tuple[Attempt, ...], int | None]:
        """What was tried so far, and when it is tried next."""
        if view.result is not None:
            history = view.result.history
            return (decode_history(history).attempts if history else ()), None
        lane: DeliveryLane | None = self._engine.reactor.lane(view.intent.lane)
        for slot in () if lane is None else lane.slots.values():
            if slot.intent == view.intent.id:
                assert lane is not None
                return lane.attempts.get(slot.id, ()), slot.retry_ms
        return (), None

    # An operator's commands.

    async def resend(self, webhook: str, delivery: str, order: OperatorReason) -> WebhookAction:
        section = self._section(webhook)
        lane = lane_id(KIND, section.id)
        view = await self._store.intent(IntentId(delivery)) if is_intent_id(delivery) else None
        if view is None or view.intent.lane != lane:
            raise IntentNotFound(delivery)
        message = msgspec.structs.replace(decode_message(view.intent.payload), resends=delivery)
        if order.dry_run:
            effect = f"{message.id} would be sent once more"
            return await self._action(section, "resend", "would", effect)
        asked = TrailEntry(order.by, "webhook.resend", lane, delivery, reason=order.reason)
        return await self._trail.acted(asked, partial(self._send, section, "resend", message))

    async def operate(
        self, webhook: str, verb: WebhookVerb, order: OperatorReason
    ) -> WebhookAction:
        section = self._section(webhook)
        lane = lane_id(KIND, section.id)
        asked = TrailEntry(order.by, f"webhook.{verb}", lane, reason=order.reason)
        match verb:
            case "test":
                effect = "a message of the type webhook.test would be sent"
                act = partial(self._send, section, verb, None)
            case "pause":
                effect = "sends nothing more; messages wait"
                act = partial(self._command, section, verb, order)
            case "resume":
                fault = self._engine.faults.get(lane)
                if fault is not None:
                    raise CommandUnfit(lane, verb, fault.words())
                effect = "goes on with what waits"
                act = partial(self._command, section, verb, order)
            case "revive":
                plan = await self._revival.plan(lane)
                effect = plan.effect()
                act = partial(self._revive, section, plan, order)
            case _:
                assert_never(verb)
        if order.dry_run:
            return await self._action(section, verb, "would", effect)
        return await self._trail.acted(asked, act)

    async def _send(
        self, section: WebhookSection, verb: str, message: DeliveryMessage | None
    ) -> WebhookAction:
        """A delivery that a person commanded; it waits its turn like the others."""
        now_ms = self._clock.now_ms()
        intent = intent_id(now_ms, self._entropy.token(ENTROPY_BYTES))
        message = message or test_message(section.id, intent, now_ms)
        arrival = Arrival(
            id=intent,
            lane=lane_id(KIND, section.id),
            payload=encode_message(message),
            digest=b"",
            accepted_ms=now_ms,
            fresh=True,
        )
        await self._engine.submit(arrival)
        return await self._action(section, verb, "done", f"{message.id} is queued", intent)

    async def _command(
        self, section: WebhookSection, verb: str, order: OperatorReason
    ) -> WebhookAction:
        lane = lane_id(KIND, section.id)
        command = Command(
            0,
            lane,
            verb,
            self._clock.now_ms(),
            reason=checked("reason", order.reason),
            by=checked("by", order.by),
        )
        with self._following.watch(lane, verb) as answer:
            await self._engine.tell(command)
            followed = await self._followed(lane, verb, answer)
        effect = "sends nothing more" if verb == "pause" else "goes on with what waits"
        return await self._action(section, verb, "done" if followed else "told", effect)

    async def _revive(
        self, section: WebhookSection, plan: RevivalPlan, order: OperatorReason
    ) -> WebhookAction:
        followed, effect = await self._revival.act(plan, order.reason, order.by, self._following)
        outcome = "done" if followed else "told"
        intent = None if plan.row is None else plan.row.id
        return await self._action(section, "revive", outcome, effect, intent)

    async def _followed(
        self, lane: LaneId, verb: str, answer: "asyncio.Future[str | None]"
    ) -> bool:
        try:
            async with asyncio.timeout(FOLLOW_S_MAX):
                refusal = await answer
        except TimeoutError:
            return False
        if refusal is not None:
            raise CommandUnfit(lane, verb, refusal)
        return True

    async def _action(
        self,
        section: WebhookSection,
        verb: str,
        outcome: str,
        effect: str,
        intent: IntentId | None = None,
    ) -> WebhookAction:
        view = None if intent is None else await self._store.intent(intent)
        return WebhookAction(
            action=verb,
            outcome=outcome,  # type: ignore[arg-type]
            effect=effect,
            webhook=await self._shown(section),
            delivery=None if view is None else self._delivery(section.id, view),
        )


def test_message(webhook: str, intent: IntentId, now_ms: int) -> DeliveryMessage:
    body = {"type": TEST_TYPE, "timestamp": to_time(now_ms), "data": {"webhook": webhook}}
    return DeliveryMessage(message_id(intent), TEST_TYPE, msgspec.json.encode(body))


def attempt_of(attempt: Attempt) -> DeliveryAttempt:
    preview = attempt.preview.decode("utf-8", "replace")
    return copied(DeliveryAttempt, attempt, ended_at=to_time(attempt.ended_ms), preview=preview)
