"""Rows of a lane become cells and come back; what a server holds of a lane is exactly its cells."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contracts.test_store import arrival
from tests.redis_servers import empty, shared
from tests.stores.lane_cells import LaneRows, cells, parse

from laneway.core.errors import Bug
from laneway.core.ids import LaneId, Owner
from laneway.core.intent import placed
from laneway.core.rows import (
    Command,
    Head,
    HeadWrite,
    Index,
    Result,
    RowKey,
    RowPut,
    Table,
    Tail,
    Write,
)
from laneway.ports import Commit
from laneway.stores.judge import leftovers
from laneway.stores.redis import RedisStore
from laneway.stores.redis.layout import NO_LAYOUTS
from laneway.stores.redis.rows.cells import FINAL_STATUSES, changes
from laneway.stores.redis.rows.keys import LANE, MAIL, Names, cluster

A = LaneId("contract:a")
ME = Owner("me")


@st.composite
def lanes(draw: st.DrawFn) -> LaneRows:
    """Any lane that a store could hold."""
    small = st.integers(0, 1 << 40)
    intents = []
    for number in range(draw(st.integers(0, 6))):
        one = arrival(number, key=draw(st.none() | st.text()), priority=draw(st.integers(0, 3)))
        intents.append(placed(one, number + 1))
    ended = [one for one in intents if draw(st.booleans())]
    results = [
        Result(one.id, draw(st.sampled_from(FINAL_STATUSES)), draw(small), reason="why")
        for one in ended
    ]
    members = draw(st.sets(st.tuples(st.sampled_from([Table.SLOT, Table.AUX]), st.text("a0-"))))
    named = st.sampled_from([None, *(one.id for one in intents)])
    rows = [RowPut(*member, draw(named), draw(st.binary())) for member in sorted(members)]
    gone = placed(arrival(99, key="old"), 9)
    left = [leftovers(gone, Result(gone.id, "dead", 5))[0]] if draw(st.booleans()) else []
    version = draw(small)
    head = Head(
        A,
        draw(st.sampled_from([None, ME])),
        draw(small),
        version,
        draw(st.binary(max_size=16)) if version else b"",
        draw(st.sampled_from([(1,), (4, 3, 2, 1)])) if version else Head(A).cursors,
        draw(small),
        draw(small),
        draw(st.none() | small),
        draw(st.binary()) if version else b"",
    )
    told = [Command(n, A, "pause", 3, intent=draw(named)) for n in range(draw(st.integers(0, 3)))]
    return LaneRows(
        Tail(A, draw(small) + 1, draw(small), draw(small), draw(small), draw(small)),
        head,
        tuple(sorted(intents, key=lambda row: (row.priority, row.seq))),
        tuple(rows),
        tuple(results),
        tuple(Index("hash", str(i), one.id, A) for i, one in enumerate(ended)),
        tuple(told),
        tuple(left),
    )


@settings(max_examples=60, deadline=None, derandomize=True)
@given(lane=lanes())
def test_cells_bring_the_lane_back(lane: LaneRows) -> None:
    assert parse(A, cells(lane)) == lane


def test_of_one_intent_there_is_one_final_answer() -> None:
    twice = tuple(Result(arrival(1).id, "dead", 5) for _ in range(2))
    with pytest.raises(Bug, match="already"):
        changes(A, Write(HeadWrite((1,), 1, 1, None, b""), twice))


def test_of_two_words_on_one_row_the_last_counts() -> None:
    first, second = (RowPut(Table.SLOT, "1", None, body) for body in (b"a", b"b"))
    gone = RowKey(Table.SLOT, "1")
    head = HeadWrite((1,), 1, 1, None, b"")

    def rows(*touched: RowPut | RowKey) -> list[tuple[str, list[str], list[bytes]]]:
        made = changes(A, Write(head, touched))
        return [(sign, [*members], [*values]) for sign, _, members, _, values in made]

    assert rows(first, second) == [("+row", ["slot\x1f1"], [b"\nb"])]
    assert rows(gone, first) == [("+row", ["slot\x1f1"], [b"\na"])]
    assert rows(first, gone) == [("-row", ["slot\x1f1"], [])]
    assert rows(first, gone, second) == [("+row", ["slot\x1f1"], [b"\nb"])]


def test_every_key_of_a_lane_carries_its_groups_tag() -> None:
    names = cluster("laneway:")
    tag = f"{{{names.shard_of(A)}}}"
    assert all(tag in key for key in names.lane(A, LANE, MAIL))
    assert len({names.shard_of(f"contract:{number}") for number in range(1_000)}) == names.shards
    assert Names("p:").lane(A, LANE) == ["p:lane:contract:a"]


def test_what_the_server_holds_of_a_lane_is_its_cells() -> None:
    (redis,) = shared(1)
    empty([redis])

    async def story() -> LaneRows:
        store = await RedisStore(redis.url, layouts=NO_LAYOUTS).open()
        one, two = arrival(1), arrival(2, priority=2)
        await store.accept([one, two])
        await store.tell(Command(0, A, "pause", 3))
        await store.beat(ME, 5_000)
        lease = await store.claim(A, ME)
        assert lease is not None
        touched: tuple[Any, ...] = (
            RowPut(Table.SLOT, "1", two.id, b"slot"),
            RowPut(Table.ATTEMPT, "1", two.id, b"try"),
            Result(one.id, "confirmed", 5),
            Index("hash", "ff", one.id, A),
        )
        write = Write(HeadWrite((1, 0, 0, 0), 1, 2, 700, b"state"), touched, (), 5, b"feed")
        await store.commit([Commit(lease, 1, write)])
        rows, view = await store.load(lease), await store.lane(A)
        assert view is not None
        await store.close()
        history = (placed(one, 1), placed(two, 2))
        return LaneRows(
            *(view.tail, view.head, history, rows.open, touched[2:3], touched[3:], rows.mailbox),
        )

    lane = asyncio.run(story())
    held = {}
    for kind, key, member in cells(lane):
        name = Names("laneway:").shared(0, key)
        own = Names("laneway:").lane(A, key)[0]
        for place in (name, own):
            if kind == "hash":
                value = redis.say("HGET", place, member)
            else:
                value = redis.say("ZSCORE", place, member)
            if value is not None:
                held[kind, key, member] = value
    assert held == cells(lane)
    flat = redis.say("HGETALL", "laneway:lane:contract:a")
    known = {member.encode() for _, key, member in cells(lane) if key == LANE}
    rest = {flat[i + 1] for i in range(0, len(flat), 2) if flat[i] not in known}
    assert rest <= {b"0"}
    assert parse(A, held) == lane
    assert lane.head.wake_ms == 0
