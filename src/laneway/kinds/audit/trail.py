"""Who did what and why: entries in a lane of their own, durable before what they speak of.

An act has two entries. The first stands before anything is done, so that nothing is ever done
without one; the second says what came of it. Where a crash left only the first, the lane's own
events say the rest. Acts that are refused for their form, and dry runs, leave none.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct

from laneway.core.errors import CallerError, LanewayError
from laneway.core.ids import IntentId, LaneId, lane_id
from laneway.core.intent import Accepted, IntentRow
from laneway.engine.faults import LaneFault
from laneway.engine.passing import is_passing
from laneway.engine.shell import Engine
from laneway.kinds.arrivals import ArrivalMaker
from laneway.kinds.limits import LISTING_SCAN_MAX, LISTING_SCAN_PAGE, NOTE_AGAIN_S
from laneway.lanes.audit import KIND
from laneway.ports import Clock, Entropy
from laneway.wire.cursor import TxPlace
from laneway.wire.times import to_time
from laneway.wire.values import Action, AuditEntry, WebhookAction

if TYPE_CHECKING:
    # The library has a trail and no server.
    from laneway.server.access import Key
    from laneway.server.desk import AuditListing

LANE: LaneId = lane_id(KIND, "log")
KEYS_FILE = "keys_file"
"""Who changes API keys: anyone who may write that file."""
ITSELF = "laneway"
"""Who says that a bug stopped a lane."""
KEY_SCOPE = "~apikey"
"""Of idempotency keys: processes that start together note a change once."""


class TrailEntry(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """As it is kept. Fields are only ever appended."""

    actor: str
    action: str
    lane: str = ""
    tx: str = ""
    api_key: str = ""
    reason: str = ""
    outcome: str = "asked"
    detail: str = ""
    of: str = ""
    """The entry this one answers."""
    mark: str = ""
    """Of an API key: a digest of all that may change of it. Of a stopped lane: its fault, as JSON
    for the other processes."""


A = TypeVar("A", Action, WebhookAction)

encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(TrailEntry).decode


class Audit:
    """Writes and reads the trail of one store."""

    def __init__(self, engine: Engine, clock: Clock, entropy: Entropy) -> None:
        self._engine = engine
        self._store = engine.store
        self._maker = ArrivalMaker(clock, entropy)
        self._noting: set[asyncio.Task[None]] = set()
        engine.stopping = self.stopped

    async def note(self, entry: TrailEntry, key: str | None = None) -> str:
        """Keep an entry; returns when it is durable. `key`: noted twice, it is kept once."""
        payload, scope = encode(entry), "" if key is None else KEY_SCOPE
        arrival = self._maker.arrival(LANE, payload, payload, key, scope)
        answer = await self._engine.submit(arrival)
        assert key is not None or isinstance(answer, Accepted)
        return arrival.id

    async def acted(self, asked: TrailEntry, act: Callable[[], Awaitable[A]]) -> A:
        """Do it, between an entry before and an entry after."""
        first = await self.note(asked)
        try:
            action = await act()
        except CallerError as error:
            # Nothing changed. After any other error nobody knows: the first entry stands alone.
            await self._answer(asked, first, "refused", str(error))
            raise
        await self._answer(asked, first, action.outcome, action.effect)
        return action

    async def _answer(self, asked: TrailEntry, first: str, outcome: str, detail: str) -> None:
        await self.note(msgspec.structs.replace(asked, outcome=outcome, detail=detail, of=first))

    def stopped(self, fault: LaneFault) -> None:
        """Keep the evidence of a bug that stopped a lane: it outlives the process that met it."""
        entry = TrailEntry(
            actor=ITSELF,
            action="lane.stopped",
            lane=fault.lane,
            tx=fault.intents[0] if len(fault.intents) == 1 else "",
            reason=fault.error,
            outcome="done",
            detail=fault.evidence(),
            mark=msgspec.json.encode(fault).decode(),
        )
        task = asyncio.get_running_loop().create_task(self._note_if_possible(entry))
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)

    async def _note_if_possible(self, entry: TrailEntry) -> None:
        """An engine that is stopping takes no more; the log has it too."""
        while True:
            try:
                await self.note(entry)
            except LanewayError as error:
                if not is_passing(error):
                    return
                await asyncio.sleep(NOTE_AGAIN_S)
            else:
                return

    async def page(self, listing: "AuditListing") -> tuple[Sequence[AuditEntry], TxPlace | None]:
        """In the order of the entries; a filter that fits few gives a short page."""
        after = None if listing.after is None else IntentId(listing.after.intent)
        items: list[AuditEntry] = []
        scanned = 0
        while scanned < LISTING_SCAN_MAX:
            views = await self._store.history(LANE, after, LISTING_SCAN_PAGE)
            for view in views:
                after = view.intent.id
                entry = entry_of(view.intent)
                if listing.fits(entry):
                    items.append(entry)
                    if len(items) == listing.limit:
                        return items, TxPlace(LANE, after)
            if len(views) < LISTING_SCAN_PAGE:
                return items, None
            scanned += len(views)
        assert after is not None
        return items, TxPlace(LANE, after)

    async def keys(self, keys: "Sequence[Key]") -> None:
        """Note what changed of the API keys since the last entry about them."""
        known = await self._known_keys()
        for key in keys:
            number, last = known.pop(key.id, (0, None))
            mark = blake2b(encode(key), digest_size=8).hexdigest()
            if last is None or last.mark != mark or last.action == "apikey.removed":
                verb = "in_force" if last is None else "changed"
                detail = f"scopes {' '.join(key.scopes)}; lanes {' '.join(key.lanes)}"
                await self._key_entry(key.id, verb, detail, mark, number)
        for name, (number, last) in known.items():
            if last.action != "apikey.removed":
                await self._key_entry(name, "removed", "it is refused from now on", "", number)

    async def _key_entry(self, name: str, verb: str, detail: str, mark: str, number: int) -> None:
        entry = TrailEntry(
            actor=KEYS_FILE,
            action=f"apikey.{verb}",
            api_key=name,
            reason="found at a start",
            outcome="done",
            detail=detail,
            mark=mark,
        )
        # The number of the entry before: a process that starts beside us means the same change.
        await self.note(entry, key=f"{name}:{verb}:{mark}:{number}")

    async def _known_keys(self) -> dict[str, tuple[int, TrailEntry]]:
        """The last entry about each key, with its place in the trail."""
        known: dict[str, tuple[int, TrailEntry]] = {}
        after: IntentId | None = None
        while True:
            views = await self._store.history(LANE, after, LISTING_SCAN_PAGE)
            for view in views:
                entry = decode(view.intent.payload)
                if entry.api_key:
                    known[entry.api_key] = (view.intent.seq, entry)
            if len(views) < LISTING_SCAN_PAGE:
                return known
            after = views[-1].intent.id


def entry_of(row: IntentRow) -> AuditEntry:
    entry = decode(row.payload)
    return AuditEntry(
        id=row.id,
        seq=row.seq,
        at=to_time(row.accepted_ms),
        actor=entry.actor,
        action=entry.action,
        outcome=entry.outcome,  # type: ignore[arg-type]
        reason=entry.reason,
        detail=entry.detail,
        lane=entry.lane or None,
        tx=entry.tx or None,
        api_key=entry.api_key or None,
        answers=entry.of or None,
    )
