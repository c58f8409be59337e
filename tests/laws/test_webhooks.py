"""Laws of webhooks on the real engine: the ladder in virtual time, while others pass."""

from itertools import pairwise

from msgspec import Struct
from tests.engine.virtual import VirtualTime

from laneway.core.ids import IntentId, LaneId, Owner, lane_id
from laneway.core.intent import Arrival
from laneway.core.rows import Result
from laneway.engine.delivery import DeliveryPerformer, encode_message
from laneway.engine.heart import HeartPace
from laneway.engine.reactor import Reactor
from laneway.engine.shell import Engine
from laneway.lanes.delivery import delivery_kind
from laneway.lanes.delivery.lane import decode_history
from laneway.ports import DeliveryMessage, Posted
from laneway.stores.group import GroupStore
from laneway.stores.memory import MemoryBook

LANE: LaneId = lane_id("delivery", "hook")
SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
LADDER = (0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR)
SLOW_HEART = HeartPace(HOUR, 5 * HOUR)
"""Days pass here, and the law is not about hearts."""


class Sent(Struct):
    at_ms: int
    message: str


class Endpoint:
    """Answers as the test says; it remembers who came when."""

    def __init__(self, time: VirtualTime) -> None:
        self.time = time
        self.sent: list[Sent] = []
        self.codes: dict[str, list[int | None]] = {}

    async def post(self, endpoint: str, message: DeliveryMessage) -> Posted:
        assert endpoint == "hook"
        self.sent.append(Sent(self.time.now_ms(), message.id))
        codes = self.codes.get(message.id, [])
        code = codes.pop(0) if codes else 200
        return Posted(code, 5, "" if code == 200 else f"HTTP {code}")

    async def close(self) -> None: ...

    def times(self, message: str) -> list[int]:
        return [one.at_ms for one in self.sent if one.message == message]


class World:
    def __init__(self) -> None:
        self.time = VirtualTime()
        self.endpoint = Endpoint(self.time)
        self.book = MemoryBook()
        self.lives = 0

    async def engine(self) -> Engine:
        self.lives += 1
        engine = Engine(
            GroupStore(self.book, self.time),
            Reactor({"delivery": delivery_kind()}, Owner(f"p{self.lives}")),
            {"delivery": DeliveryPerformer(self.endpoint, self.time)},
            self.time,
            pace=SLOW_HEART,
        )
        await engine.start()
        return engine


def arrival(number: int) -> Arrival:
    message = DeliveryMessage(f"msg_{number}", "webhook.test", b"{}")
    return Arrival(IntentId(f"tx_{number:032x}"), LANE, encode_message(message), b"", 0)


def waits(times: list[int]) -> tuple[int, ...]:
    return (0, *(later - earlier for earlier, later in pairwise(times)))


def test_a_message_climbs_the_ladder_for_a_day_and_others_pass_it() -> None:
    world = World()
    world.endpoint.codes["msg_1"] = [500] * 8

    async def main() -> Result:
        engine = await world.engine()
        await engine.submit(arrival(1))
        for number in range(2, 40):
            await engine.submit(arrival(number))
            assert (await engine.result(arrival(number).id, LANE)).status == "confirmed"
        dead = await engine.result(arrival(1).id, LANE)
        await engine.stop()
        return dead

    dead = world.time.run(main())
    assert waits(world.endpoint.times("msg_1")) == LADDER
    assert dead.status == "dead"
    assert [attempt.code for attempt in decode_history(dead.history).attempts] == [500] * 8
