"""What is known of a bug that stopped a lane, and how its lane is revived.

A lane that a bug stopped is given back and not opened again by this process, until a person
sends it `revive` (a durable command) or the process starts anew. What stopped it is named as far as
it can be: the event, the command or the effect it was about, and whose intents stand in it.
"""

import traceback
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from laneway.core.ids import IntentId, LaneId, Owner
from laneway.core.intent import IntentRow
from laneway.core.reason import clip, shown_error
from laneway.core.rows import Command, Rows
from laneway.engine.limits import FAULT_DEPTH_MAX, FAULT_FRAMES, FAULT_INTENTS_MAX

REVIVE = "revive"
LOADING = "its rows, before anything was decided"


class LaneFault(Struct, frozen=True):
    """Why a lane was stopped, for people and for the audit trail."""

    lane: LaneId
    at_ms: int
    error: str
    """The exception, cut to the length of a reason."""
    where: str
    """The innermost frames, as `file:line function`, the last one last."""
    doing: str
    """What it was about: an event, a command, an effect, or the loading of its rows."""
    intents: tuple[IntentId, ...] = ()
    """Whose intents stand in that; exactly one where the offender is known."""
    command: int = 0
    """The mailbox number of the command that broke it; 0 if it was none."""
    version: int = 0
    """The lane's version when it was stopped: a higher one shows that it went on."""
    owner: Owner | None = None
    """The process that stopped it, which looks into its mailbox now and then."""

    def words(self) -> str:
        """The text that a lane shows as its reason."""
        return f"stopped by a bug: {self.error}; `laneway lane revive {self.lane}` shows what to do"

    def evidence(self) -> str:
        """The text that an intent that was put aside, and an audit entry, keep."""
        return f"{self.error} at {self.where}, about {self.doing}"


def fault_of(
    lane: LaneId,
    error: Exception,
    doing: Any,
    intents: tuple[IntentId, ...],
    at_ms: int,
    *,
    version: int = 0,
    owner: Owner | None = None,
) -> LaneFault:
    frames = traceback.extract_tb(error.__traceback__)[-FAULT_FRAMES:]
    places = [
        f"{frame.filename.rpartition('/laneway/')[2]}:{frame.lineno} {frame.name}"
        for frame in frames
    ]
    return LaneFault(
        lane=lane,
        at_ms=at_ms,
        error=clip(shown_error(error)),
        where=clip(" > ".join(places)),
        doing=LOADING if doing is None else clip(f"{type(doing).__name__} {doing!r}"),
        intents=intents,
        command=command_in(doing),
        version=version,
        owner=owner,
    )


def command_in(doing: Any) -> int:
    command = getattr(doing, "command", None)
    return command.id if isinstance(command, Command) else 0


def suspects(lane: Any, doing: Any) -> tuple[IntentId, ...]:
    """Whose intents an event, a command or an effect names, by themselves or by their slots. A
    lane of any kind is asked, so nothing is taken for granted of its slots."""
    held = getattr(lane, "slots", None)
    slots = [*(held.values() if isinstance(held, dict) else ()), getattr(lane, "slot", None)]
    by_slot = {getattr(slot, "id", None): getattr(slot, "intent", None) for slot in slots}
    found: dict[IntentId, None] = {}
    for intent in named_in(doing, by_slot, FAULT_DEPTH_MAX):
        if len(found) < FAULT_INTENTS_MAX:
            found[intent] = None
    return tuple(found)


def named_in(value: Any, by_slot: dict[Any, Any], depth: int) -> Iterator[IntentId]:
    if depth == 0:
        return
    if isinstance(value, IntentRow):
        yield value.id
    elif isinstance(value, Struct):
        for field in value.__struct_fields__:
            one = getattr(value, field)
            if field == "intent" and isinstance(one, str):
                yield IntentId(one)
            elif field == "slot" and isinstance(one, int) and by_slot.get(one) is not None:
                yield by_slot[one]
            else:
                yield from named_in(one, by_slot, depth - 1)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from named_in(one, by_slot, depth - 1)


# The command. A machine never receives it: an intent that is put aside is cancelled by the command
# before it, which the store queues once, however often a lane is revived. A contract's execution
# has no bytes that could go out again harmlessly: its lane is commanded first to try it no more.


def put_aside(
    row: IntentRow, verbs: Sequence[str], now_ms: int, reason: str, by: str
) -> tuple[Command, ...]:
    """The commands about an intent that stopped a lane, sent before it is revived."""
    fields = (now_ms, reason, by, row.id, row.seq, row.priority, row.size())
    return tuple(Command(0, row.lane, verb, *fields) for verb in verbs)


def may_go_on(rows: Rows, version: int) -> bool:
    """Whether a lane that was stopped at a version was revived since, or another process got beyond
    that: without either nothing has changed, and it would be stopped again at the same place."""
    is_revived = any(command.verb == REVIVE for command in rows.mailbox)
    return is_revived or rows.head.version > version


def passed_over(mailbox: Iterable[Command]) -> tuple[int, ...]:
    """The commands that a person put aside, because they broke their lane."""
    return tuple(
        int(command.word)
        for command in mailbox
        if command.verb == REVIVE and command.word.isdecimal()
    )
