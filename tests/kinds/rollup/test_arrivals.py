"""Laws of a rollup's arrivals: the same bytes are one intent, and nothing unreadable passes."""

import asyncio

import pytest

from laneway.core.errors import BadRequest
from laneway.core.ids import LaneId, is_intent_id
from laneway.core.intent import Accepted, Conflict, Replayed
from laneway.engine.system import SystemClock
from laneway.kinds.rollup.arrivals import RollupArrivals, Tried, intent_of, octets_of
from laneway.wiring.store import open_store

LANE, OTHER = LaneId("rollup:1"), LaneId("rollup:2")
HASH, RAW = bytes(range(32)), b"transfer"


def test_an_intent_is_named_by_lane_hash_and_how_often_it_was_tried() -> None:
    names = [
        intent_of(LANE, HASH),
        intent_of(LANE, HASH, 1),
        intent_of(OTHER, HASH),
        intent_of(LANE, bytes(32)),
    ]
    assert len(set(names)) == 4
    assert all(is_intent_id(name) for name in names)
    assert intent_of(LANE, HASH) == intent_of(LANE, HASH, 0) == names[0]


def test_the_names_of_lanes_do_not_run_into_hashes() -> None:
    assert intent_of(LaneId("rollup:1"), b"2" + HASH) != intent_of(LaneId("rollup:12"), HASH)


@pytest.mark.parametrize("raw", [b"\x01\xff", "01ff", "0x01FF"])
def test_bytes_may_come_as_digits(raw: bytes | str) -> None:
    assert octets_of(raw) == b"\x01\xff"


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        ("01f", "not hexadecimal digits"),
        ("0xzz", "not hexadecimal digits"),
        (7, "bytes or hexadecimal digits, not int"),
        (None, "bytes or hexadecimal digits, not NoneType"),
    ],
)
def test_what_is_no_bytes_is_refused(raw: object, problem: str) -> None:
    with pytest.raises(BadRequest, match=problem) as caught:
        octets_of(raw)
    assert caught.value.field == "raw"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"key": 7}, "key"),
        ({"key": ""}, "key"),
        ({"valid_until_ms": -1}, "valid_until_ms"),
        ({"valid_until_ms": "soon"}, "valid_until_ms"),
    ],
)
def test_a_word_that_could_not_be_read_again_is_refused(
    given: dict[str, object], field: str
) -> None:
    async def story() -> None:
        clock = SystemClock()
        arrivals = RollupArrivals(clock, open_store(":memory:", clock))
        with pytest.raises(BadRequest) as caught:
            arrivals.make(LANE, RAW, HASH, **given)  # type: ignore[arg-type]
        assert caught.value.field == field

    asyncio.run(story())


def test_the_same_bytes_are_one_intent_with_whatever_key() -> None:
    async def story() -> None:
        clock = SystemClock()
        store = open_store(":memory:", clock)
        arrivals = RollupArrivals(clock, store)
        assert not await arrivals.is_known(LANE, HASH)
        first = arrivals.make(LANE, RAW, HASH, key="a")
        same = [
            arrivals.make(LANE, RAW, HASH),
            arrivals.make(LANE, RAW, HASH, key="a"),
            arrivals.make(LANE, RAW, HASH, key="b", scope="other", valid_until_ms=5),
        ]
        others = [
            arrivals.make(LANE, b"other", bytes(32), key="a"),
            arrivals.make(LANE, b"other", bytes(32), key="c"),
            arrivals.make(OTHER, RAW, HASH),
        ]
        answers = await store.accept([first, *same, *others])
        intent = intent_of(LANE, HASH)
        assert isinstance(answers[0], Accepted)
        assert answers[0].id == intent
        assert answers[1:4] == [Replayed(intent)] * 3
        assert answers[4] == Conflict(intent)
        assert [type(answer) for answer in answers[5:]] == [Accepted, Accepted]
        assert await arrivals.is_known(LANE, HASH)
        # It is open, so nothing else may stand in its place.
        newest = await arrivals.newest(LANE, HASH)
        assert newest == Tried(0, "", key="a")
        assert not any(newest.is_open_again(one) for one in (first, *same))
        assert await arrivals.ended(LANE, [HASH, bytes(32)]) == {}
        await store.close()

    asyncio.run(story())


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 100])
def test_the_newest_try_is_found(count: int) -> None:
    async def story() -> None:
        clock = SystemClock()
        store = open_store(":memory:", clock)
        arrivals = RollupArrivals(clock, store)
        tries = [arrivals.make(LANE, RAW, HASH, tried=number) for number in range(count)]
        await store.accept([*tries, arrivals.make(LANE, b"other", bytes(32))])
        newest = await arrivals.newest(LANE, HASH)
        assert newest == (Tried(count - 1, "") if count else None)
        await store.close()

    asyncio.run(story())


@pytest.mark.parametrize(
    ("status", "by_none", "by_own", "by_other"),
    [
        ("", False, False, False),
        ("confirmed", False, False, False),
        ("reverted", False, False, False),
        ("dead", False, False, False),
        ("indeterminate", False, False, False),
        # Whoever asks again follows the refusal's own advice.
        ("refused", True, False, True),
        # A person, or the time that its caller gave it, ended these: that takes a word.
        ("cancelled", False, False, True),
        ("expired", False, False, True),
    ],
)
def test_who_may_try_again_what_came_to_nothing(
    status: str, by_none: bool, by_own: bool, by_other: bool
) -> None:
    arrivals = RollupArrivals(SystemClock(), open_store(":memory:", SystemClock()))
    tried = Tried(3, status, "scope", "a")
    assert tried.is_open_again(arrivals.make(LANE, RAW, HASH)) is by_none
    own = arrivals.make(LANE, RAW, HASH, key="a", scope="scope")
    assert tried.is_open_again(own) is by_own
    for key, scope in (("b", "scope"), ("a", "")):
        other = arrivals.make(LANE, RAW, HASH, key=key, scope=scope)
        assert tried.is_open_again(other) is by_other
