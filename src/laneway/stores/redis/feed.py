"""The feed's lines as Redis keeps them, and the cursor over all groups of lanes."""

from typing import Any

from laneway.core.errors import BadRequest
from laneway.core.ids import LaneId
from laneway.stores.limits import FEED_CURSOR_CHARS_MAX

FeedLine = tuple[int, int, int, LaneId, int, bytes]
"""When, in which group, the place there, the lane, its version and its records."""


def feed_parsed(shard: int, entry: list[Any]) -> list[FeedLine]:
    """An entry bears the number of the last commit that it tells of."""
    place, told = entry
    first = int(place.partition(b"-")[2]) - len(told) // 4 + 1
    return [
        (
            int(told[at + 2]),
            shard,
            first + at // 4,
            LaneId(told[at].decode()),
            int(told[at + 1]),
            told[at + 3],
        )
        for at in range(0, len(told), 4)
    ]


def feed_places(cursor: str, shards: int) -> list[int]:
    """How far each group's feed was read; the empty cursor is the beginning."""
    if not cursor:
        return [0] * shards
    parts = cursor.split(".")
    for part in parts:
        if not (part.isascii() and part.isdigit()) or len(part) > FEED_CURSOR_CHARS_MAX:
            raise BadRequest("cursor", "not a cursor of this store")
    if len(parts) != shards:
        raise BadRequest("cursor", "not a cursor of this store")
    return [int(part) for part in parts]


def feed_cursor(places: list[int]) -> str:
    return ".".join(map(str, places))
