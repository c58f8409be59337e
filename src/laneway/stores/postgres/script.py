"""A judged group as statements: a handful, however many requests it has."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from laneway.core.ids import LaneId, Owner
from laneway.stores.codec import encode
from laneway.stores.postgres.arrays import blobs, numbers, texts
from laneway.stores.postgres.draft import Draft
from laneway.stores.postgres.wants import Question

Columns: TypeAlias = dict[str, Callable[[Iterable[Any]], bytes]]
"""What is bound to a statement, and how each of it is packed."""

LANE: Columns = {
    "no": numbers,
    "seq_next": numbers,
    "accepted_count": numbers,
    "accepted_bytes": numbers,
    "fast_hits": numbers,
    "slow_hits": numbers,
    "owner": texts,
    "fence": numbers,
    "version": numbers,
    "digest": blobs,
    "c0": numbers,
    "c1": numbers,
    "c2": numbers,
    "c3": numbers,
    "settled_count": numbers,
    "settled_bytes": numbers,
    "wake_ms": numbers,
    "state": blobs,
}
INTENT: Columns = {
    "id": blobs,
    "lane_no": numbers,
    "priority": numbers,
    "seq": numbers,
    "body": blobs,
}
RESULT: Columns = {"intent": blobs, "status": texts, "settled_ms": numbers, "body": blobs}
INDEX: Columns = {
    "name": texts,
    "value": texts,
    "intent": texts,
    "lane": texts,
    "digest": blobs,
    "status": texts,
    "hash": blobs,
}
ROW: Columns = {"lane_no": numbers, "kind": texts, "key": texts, "intent": blobs, "body": blobs}
ROW_KEY: Columns = {"lane_no": numbers, "kind": texts, "key": texts}
COMMAND: Columns = {"id": numbers, "lane_no": numbers, "body": blobs}
COMMAND_KEY: Columns = {"id": numbers, "lane_no": numbers}
FEED: Columns = {"lane_no": numbers, "version": numbers, "at_ms": numbers, "records": blobs}
BEAT: Columns = {"owner": texts, "ttl_ms": numbers}


def packed(columns: Columns, lines: Iterable[Sequence[object]]) -> dict[str, object]:
    """Lines turned into one array a column."""
    turned = zip(*lines, strict=True)
    return {
        name: pack(values) for (name, pack), values in zip(columns.items(), turned, strict=True)
    }


def script(draft: Draft) -> list[Question]:
    """Every change of the group. What other groups may also insert is in a fixed order."""
    asked: list[Question] = []

    def add(name: str, columns: Columns, lines: Sequence[Sequence[object]]) -> None:
        if lines:
            asked.append((name, packed(columns, lines)))

    nos = {lane: entry.no for lane, entry in draft.lanes.items()}
    # By number, as all groups do; the lanes are locked, so this is for the pages' sake.
    dirty = sorted((e for e in draft.lanes.values() if e.dirty), key=lambda entry: entry.no)
    add("put_lanes", LANE, [entry.line() for entry in dirty])
    add(
        "add_intents",
        INTENT,
        sorted((id_, nos[lane], *rest) for id_, (lane, *rest) in draft.intents.items()),
    )
    add("add_indexes", INDEX, [index_line(draft.keys[place]) for place in sorted(draft.keys)])
    add("put_indexes", INDEX, [index_line(draft.indexes[place]) for place in sorted(draft.indexes)])
    rows(asked, draft, nos)
    add(
        "add_results",
        RESULT,
        [(id_, *line) for id_, line in draft.results.items()],
    )
    add(
        "add_commands",
        COMMAND,
        [(told.id, nos[told.lane], encode(told)) for told in draft.commands],
    )
    add(
        "drop_commands",
        COMMAND_KEY,
        [(done, nos[lane]) for done, lane in draft.answered],
    )
    add(
        "add_feed",
        FEED,
        [(nos[lane], *rest) for lane, *rest in draft.feed],
    )
    owners(asked, draft)
    return asked


def index_line(index: object) -> list[object]:
    return [getattr(index, name) for name in INDEX]


def rows(asked: list[Question], draft: Draft, nos: dict[LaneId, int]) -> None:
    drops: list[tuple[object, ...]] = []
    puts: list[tuple[object, ...]] = []
    for (lane, kind, key), line in draft.rows.items():
        if line is None:
            drops.append((nos[lane], kind, key))
        else:
            puts.append((nos[lane], kind, key, *line))
    if drops:
        asked.append(("drop_rows", packed(ROW_KEY, drops)))
    if puts:
        asked.append(("put_rows", packed(ROW, puts)))


def owners(asked: list[Question], draft: Draft) -> None:
    if draft.left:
        asked.append(("drop_owners", {"owners": texts(draft.left)}))
    if draft.beats:
        beats: list[tuple[Owner, int]] = list(draft.beats.items())
        asked.append(("put_beats", packed(BEAT, beats)))
    if draft.buried:
        asked.append(("bury", {"owners": texts(draft.buried)}))
    if draft.pruned:
        asked.append(("drop_results", {"ids": blobs(draft.pruned)}))
        asked.append(("drop_intents", {"ids": blobs(draft.pruned)}))
