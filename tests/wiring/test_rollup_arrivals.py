"""Laws of a rollup's arrivals: the same bytes are one intent, and nothing unreadable passes."""

import asyncio

import pytest

from laneway.core.errors import BadRequest
from laneway.core.ids import IntentId, LaneId
from laneway.core.intent import Accepted, Conflict, Replayed
from laneway.wiring.commands import is_intent_id
from laneway.wiring.rollup_arrivals import RollupArrivals, intent_of, octets_of
from laneway.wiring.store import open_store
from laneway.wiring.system import SystemClock

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
        assert not await arrivals.is_open_again(same[2], answers[3])
        assert not await arrivals.is_open_again(first, answers[0])
        await store.close()

    asyncio.run(story())


def test_an_intent_that_is_named_by_another_key_is_not_tried_again() -> None:
    async def story() -> None:
        clock = SystemClock()
        store = open_store(":memory:", clock)
        arrival = RollupArrivals(clock, store).make(LANE, RAW, HASH, key="a")
        answer = Replayed(IntentId("tx_" + "0" * 32))
        assert not await RollupArrivals(clock, store).is_open_again(arrival, answer)
        await store.close()

    asyncio.run(story())
