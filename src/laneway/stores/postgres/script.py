"""A judged group as statements: a handful, however many requests it has."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from laneway.core.rows import START
from laneway.stores.codec import encode, intent_body, pack_id
from laneway.stores.judge import LaneEntry, head_columns, tail_columns
from laneway.stores.postgres.arrays import blobs, numbers, texts
from laneway.stores.postgres.draft import GroupDraft, Question

Pack: TypeAlias = Callable[[Iterable[Any]], bytes]
Columns: TypeAlias = dict[str, Pack]
"""The columns that are bound to a statement, in order, and how each of them is packed."""


def of(names: tuple[str, ...], pack: Pack) -> Columns:
    return dict.fromkeys(names, pack)


ROW_KEY = of(("lane_no",), numbers) | of(("kind", "key"), texts)
ROW = ROW_KEY | of(("intent", "body"), blobs)
COMMAND_KEY = of(("id", "lane_no"), numbers)
COMMAND = COMMAND_KEY | of(("body",), blobs)
FEED = of(("lane_no", "version", "at_ms"), numbers) | of(("records",), blobs)
BEAT = of(("owner",), texts) | of(("ttl_ms",), numbers)
INTENT = of(("id",), blobs) | of(("lane_no", "priority", "seq"), numbers) | of(("body",), blobs)
RESULT = of(("intent",), blobs) | of(("status",), texts) | of(("settled_ms",), numbers)
RESULT |= of(("body",), blobs)
INDEX = of(("name", "value", "intent", "lane"), texts) | of(("digest",), blobs)
INDEX |= of(("status",), texts) | of(("hash",), blobs)
LANE = of(("no", "seq_next", "accepted_count", "accepted_bytes", "fast_hits", "slow_hits"), numbers)
LANE |= of(("owner",), texts) | of(("fence", "version"), numbers) | of(("digest",), blobs)
LANE |= of(("c0", "c1", "c2", "c3", "settled_count", "settled_bytes", "wake_ms"), numbers)
LANE |= of(("state",), blobs)


def packed(columns: Columns, lines: Iterable[Sequence[object]]) -> dict[str, object]:
    """Lines turned into one array a column."""
    turned = zip(*lines, strict=True)
    return {
        name: pack(values) for (name, pack), values in zip(columns.items(), turned, strict=True)
    }


def script(draft: GroupDraft) -> list[Question]:
    """Every change of the group. What other groups may also insert is in a fixed order."""
    asked: list[Question] = []

    def add(name: str, columns: Columns, lines: Sequence[Sequence[object]]) -> None:
        if lines:
            asked.append((name, packed(columns, lines)))

    nos = {lane: entry.no for lane, entry in draft.lanes.items()}
    # By number, as all groups do; the lanes are locked, so this is for the pages' sake.
    dirty = sorted((e for e in draft.lanes.values() if e.is_dirty()), key=lambda entry: entry.no)
    add("put_lanes", LANE, [lane_columns(entry) for entry in dirty])
    intents = [
        (pack_id(one.id), nos[one.lane], one.priority, seq, intent_body(one))
        for one, seq in draft.intents.values()
    ]
    add("add_intents", INTENT, sorted(intents))
    add("add_indexes", INDEX, [index_columns(draft.keys[value]) for value in sorted(draft.keys)])
    newest = [index_columns(draft.indexes[place]) for place in sorted(draft.indexes)]
    add("put_indexes", INDEX, newest)
    drops, puts = [], []
    for (lane, kind, key), row in draft.rows.items():
        if row is None:
            drops.append((nos[lane], kind, key))
        else:
            intent = None if row.intent is None else pack_id(row.intent)
            puts.append((nos[lane], kind, key, intent, row.body))
    add("drop_rows", ROW_KEY, drops)
    add("put_rows", ROW, puts)
    results = [
        (pack_id(one.intent), one.status, one.settled_ms, encode(one))
        for one in draft.results.values()
    ]
    add("add_results", RESULT, results)
    add("add_commands", COMMAND, [(one.id, nos[one.lane], encode(one)) for one in draft.commands])
    add("drop_commands", COMMAND_KEY, [(done, nos[lane]) for done, lane in draft.answered])
    add("add_feed", FEED, [(nos[lane], *rest) for lane, *rest in draft.feed])
    owners(asked, draft)
    return asked


def lane_columns(entry: LaneEntry) -> tuple[object, ...]:
    owner, fence, version, digest, cursors, *rest = head_columns(entry)
    classes = (*cursors, *(None,) * (len(START) - len(cursors)))
    return (entry.no, *tail_columns(entry), owner, fence, version, digest, *classes, *rest)


def index_columns(index: object) -> list[object]:
    return [getattr(index, name) for name in INDEX]


def owners(asked: list[Question], draft: GroupDraft) -> None:
    if draft.left:
        asked.append(("drop_owners", {"owners": texts(draft.left)}))
    if draft.beats:
        asked.append(("put_beats", packed(BEAT, draft.beats.items())))
    if draft.facts.buried:
        asked.append(("bury", {"owners": texts(draft.facts.buried)}))
    if draft.pruned:
        pruned = blobs(map(pack_id, draft.pruned))
        asked.append(("drop_results", {"ids": pruned}))
        asked.append(("drop_intents", {"ids": pruned}))
