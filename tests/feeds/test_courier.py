"""Every event that an endpoint wants becomes one message, however often the feed is read."""

import asyncio

import msgspec
import pytest

from laneway.core.ids import IntentId, LaneId, lane_id
from laneway.core.rows import FeedEntry
from laneway.engine.delivery import decode_message
from laneway.feeds.courier import EndpointProgress, EventSubscription, arrivals_of, ended
from laneway.feeds.limits import MARK_ENTRIES
from laneway.kinds.events import events_of
from laneway.lanes.common.values import ModeChanged
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.contract.values import SlotSettled
from laneway.lanes.delivery import delivery_kind
from laneway.lanes.delivery.values import FeedPassed

LANE = lane_id("contract", "Qm1")
HOOK = EventSubscription("hook")


def tx(number: int) -> IntentId:
    return IntentId(f"tx_{number:032x}")


def entry(version: int = 7, lane: LaneId = LANE) -> FeedEntry:
    kind = contract_kind(ContractSettings())
    records = (
        SlotSettled(1, "confirmed", 1, 5, "", 9, tx(1)),
        ModeChanged("paused", "upgrade", "ada", 9),
        ModeChanged("paused", "upgrade", "ada", 9),
        SlotSettled(2, "refused", 1, None, "no", 9, tx(2)),
    )
    return FeedEntry("c1", lane, version, 1_700_000_000_000, kind.encode(records))


def test_a_message_says_what_happened_and_when_and_its_place() -> None:
    first, *_, last = arrivals_of(entry(), events_of(entry()), HOOK)
    message = decode_message(first.payload)
    assert first.lane == "delivery:hook"
    assert message.type == "transaction.confirmed"
    assert message.id == "msg_" + first.id.removeprefix("tx_")
    assert msgspec.json.decode(message.body) == {
        "type": "transaction.confirmed",
        "timestamp": "2023-11-14T22:13:20Z",
        "data": {
            "lane": "contract:Qm1",
            "version": 7,
            "tx": tx(1),
            "status": "confirmed",
            "block": 5,
            "seq": 7 << 22,
        },
    }
    assert msgspec.json.decode(decode_message(last.payload).body)["data"]["seq"] == (7 << 22) + 3


def test_a_feed_that_is_read_again_makes_the_same_messages() -> None:
    once = [(a.id, a.payload) for a in arrivals_of(entry(), events_of(entry()), HOOK)]
    assert once == [(a.id, a.payload) for a in arrivals_of(entry(), events_of(entry()), HOOK)]
    assert len({name for name, _ in once}) == 4, "equal events of one commit are still two"


def test_no_two_endpoints_lanes_or_commits_share_a_message() -> None:
    others = [
        arrivals_of(entry(), events_of(entry()), EventSubscription("other")),
        arrivals_of(entry(8), events_of(entry(8)), HOOK),
        arrivals_of(
            entry(7, lane_id("contract", "Qm2")),
            events_of(entry(7, lane_id("contract", "Qm2"))),
            HOOK,
        ),
    ]
    ids = {a.id for found in others for a in found}
    assert len(ids) == 12
    assert ids.isdisjoint({a.id for a in arrivals_of(entry(), events_of(entry()), HOOK)})


@pytest.mark.parametrize(
    ("events", "lanes", "count"),
    [
        (("*",), ("*",), 4),
        (("transaction.*",), ("*",), 2),
        (("transaction.refused", "lane.*"), ("contract:*",), 3),
        (("*",), ("contract:Other",), 0),
        (("Transaction.*",), ("*",), 0),
    ],
)
def test_an_endpoint_hears_of_what_it_asked_for(
    events: tuple[str, ...], lanes: tuple[str, ...], count: int
) -> None:
    wanted = EventSubscription("hook", events, lanes)
    every = {a.id for a in arrivals_of(entry(), events_of(entry()), HOOK)}
    found = [a.id for a in arrivals_of(entry(), events_of(entry()), wanted)]
    assert len(found) == count
    assert every.issuperset(found), "a message's name does not depend on the filter"


def test_deliveries_make_no_messages_of_their_own() -> None:
    records = delivery_kind().encode((FeedPassed("c0"),))
    told = FeedEntry("c1", HOOK.lane(), 1, 0, records)
    assert list(arrivals_of(told, events_of(told), HOOK)) == []


def test_a_place_is_written_down_now_and_then_while_it_moves() -> None:
    route = EndpointProgress("", 100.0)
    assert not route.is_due(1_000.0), "nothing moved"
    route.unmarked = 1
    assert not route.is_due(105.0)
    assert route.is_due(110.0)
    route.unmarked = MARK_ENTRIES
    assert route.is_due(100.0)


def test_a_bug_does_not_end_it_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> None:
        raise KeyError("odd")

    async def main() -> None:
        for work, words in ((asyncio.sleep(0), ""), (broken(), "stopped by a bug")):
            task = asyncio.create_task(work)
            await asyncio.wait([task])
            ended(task)
            assert words in caplog.text
            assert bool(words) == bool(caplog.text)

    asyncio.run(main())
