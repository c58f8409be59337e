"""A judged group as statements: a handful, however many requests it has."""

from collections.abc import Iterable, Sequence

from laneway.core.ids import LaneId, Owner
from laneway.stores.codec import encode
from laneway.stores.postgres.draft import Draft
from laneway.stores.postgres.limits import GRAVE_MS
from laneway.stores.postgres.wants import Question

LANE = (
    *("no", "seq_next", "accepted_count", "accepted_bytes", "fast_hits", "slow_hits", "owner"),
    *("fence", "version", "digest", "c0", "c1", "c2", "c3", "settled_count", "settled_bytes"),
    *("wake_ms", "state"),
)
INDEX = ("name", "value", "intent", "lane", "digest", "status", "hash")


def columns(names: Sequence[str], lines: Iterable[Sequence[object]]) -> dict[str, object]:
    """Lines turned into one list a column, as arrays are bound."""
    return dict(zip(names, map(list, zip(*lines, strict=True)), strict=True))


def script(draft: Draft) -> list[Question]:
    """Every change of the group. What other groups may also insert is in a fixed order."""
    asked: list[Question] = []

    def add(name: str, names: Sequence[str], lines: Sequence[Sequence[object]]) -> None:
        if lines:
            asked.append((name, columns(names, lines)))

    numbers = {lane: entry.no for lane, entry in draft.lanes.items()}
    # By number, as all groups do; the lanes are locked, so this is for the pages' sake.
    dirty = sorted((e for e in draft.lanes.values() if e.dirty), key=lambda entry: entry.no)
    add("put_lanes", LANE, [entry.line() for entry in dirty])
    add(
        "add_intents",
        ("id", "lane_no", "priority", "seq", "body"),
        sorted((packed, numbers[lane], *rest) for packed, (lane, *rest) in draft.intents.items()),
    )
    add("add_indexes", INDEX, [index_line(draft.keys[place]) for place in sorted(draft.keys)])
    add("put_indexes", INDEX, [index_line(draft.indexes[place]) for place in sorted(draft.indexes)])
    rows(asked, draft, numbers)
    add(
        "add_results",
        ("intent", "status", "settled_ms", "body"),
        [(packed, *line) for packed, line in draft.results.items()],
    )
    add(
        "add_commands",
        ("id", "lane_no", "body"),
        [(told.id, numbers[told.lane], encode(told)) for told in draft.commands],
    )
    add(
        "drop_commands",
        ("id", "lane_no"),
        [(done, numbers[lane]) for done, lane in draft.answered],
    )
    add(
        "add_feed",
        ("lane_no", "version", "at_ms", "records"),
        [(numbers[lane], *rest) for lane, *rest in draft.feed],
    )
    owners(asked, draft)
    return asked


def index_line(index: object) -> list[object]:
    return [getattr(index, name) for name in INDEX]


def rows(asked: list[Question], draft: Draft, numbers: dict[LaneId, int]) -> None:
    drops: list[tuple[object, ...]] = []
    puts: list[tuple[object, ...]] = []
    for (lane, kind, key), line in draft.rows.items():
        if line is None:
            drops.append((numbers[lane], kind, key))
        else:
            puts.append((numbers[lane], kind, key, *line))
    if drops:
        asked.append(("drop_rows", columns(("lane_no", "kind", "key"), drops)))
    if puts:
        asked.append(("put_rows", columns(("lane_no", "kind", "key", "intent", "body"), puts)))


def owners(asked: list[Question], draft: Draft) -> None:
    if draft.left:
        asked.append(("drop_owners", {"owners": draft.left}))
    if draft.beats:
        beats: list[tuple[Owner, int]] = list(draft.beats.items())
        asked.append(("put_beats", columns(("owner", "ttl_ms"), beats)))
    if draft.buried:
        asked.append(("bury", {"owners": draft.buried}))
    if draft.pruned:
        asked.append(("drop_results", {"ids": draft.pruned}))
        asked.append(("drop_intents", {"ids": draft.pruned}))
        asked.append(("forget_owners", {"age": GRAVE_MS}))
