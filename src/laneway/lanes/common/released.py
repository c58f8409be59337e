"""Records as earlier releases wrote them, read as what they are called today.

A feed is kept for weeks, and a lane may be folded from it: every tag that a release ever wrote is
read here, or beside the records of its own lane.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Union

import msgspec

from laneway.core.ids import IntentId
from laneway.lanes.common.values import CommandRefused, IntentDropped, LaneRecord

Upgrades: TypeAlias = Mapping[type, Callable[[Any], Any]]
"""Types that only earlier releases wrote, and the function that reads each as a record of today, or
as None if nothing is recorded of it today."""


def records_reader(
    record: Any,
    upgrades: Upgrades,
    complete: Callable[[Sequence[Any]], Sequence[Any]] = lambda records: records,
) -> Callable[[bytes], tuple[Any, ...]]:
    """Reads what a feed keeps of one commit. `record` is the union of a lane's own records, and
    `complete` adds to a commit of an earlier release what its records say of each other."""
    known: Any = Union[(record, *upgrades)]
    several: Any = tuple[known, ...]
    decode: Callable[[bytes], tuple[Any, ...]] = msgspec.msgpack.Decoder(several).decode

    def read(body: bytes) -> tuple[Any, ...]:
        found = decode(body)
        if any(type(one) in upgrades for one in found):
            read_today = [upgrades.get(type(one), unchanged)(one) for one in complete(found)]
            return tuple([one for one in read_today if one is not None])
        return found

    return read


def unchanged(record: Any) -> Any:
    return record


class Dropped(LaneRecord, frozen=True, tag="IntentDropped"):
    """As contracts, Cosmos accounts and rollups had it."""

    intent: IntentId
    seq: int
    priority: int
    size: int
    status: str
    reason: str
    at_ms: int
    passes: bool = True


def dropped(old: Dropped) -> IntentDropped:
    return IntentDropped(*msgspec.structs.astuple(old))


class OldCommandRefused(LaneRecord, frozen=True, tag="CommandRefused"):
    """As accounts and rollups had it."""

    verb: str
    reason: str
    intent: IntentId | None = None


class RefusedAt(LaneRecord, frozen=True, tag="CommandRefused"):
    """As contracts and deliveries had it."""

    verb: str
    intent: IntentId | None
    reason: str
    at_ms: int


def refused(old: OldCommandRefused | RefusedAt) -> CommandRefused:
    return CommandRefused(old.verb, old.reason, old.intent)
