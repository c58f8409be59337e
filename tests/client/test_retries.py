"""Laws of retries, without a network: what is repeated, how long, and which error ends it."""

from collections.abc import Coroutine
from typing import Any, cast

import pytest

from laneway.client.asynchronous import AsyncClient
from laneway.client.blocking import AtOnce
from laneway.client.errors import (
    AnswerLost,
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    Refused,
    Unavailable,
    Unreachable,
    Unreadable,
)
from laneway.client.limits import BACKOFF_S_MAX, BACKOFF_S_MIN
from laneway.client.place import ServerPlace
from laneway.client.retries import Ask, CallRules, NoAnswer, ServerAnswer, T, Wire
from laneway.core.errors import LanewayError

TX = (
    b'{"id":"tx_1","lane":"contract:Q","status":"queued","final":false,"reason":"","seq":1,'
    b'"accepted_at":"2026-01-01T00:00:00Z","from_the_future":1}'
)
TAKEN = ServerAnswer(202, {}, TX)
CUT = NoAnswer(True, "cut off")
DOWN = NoAnswer(False, "refused")


class World(AsyncClient):
    """A client whose wire has answers in a row, and a clock that only pauses move."""

    def __init__(self, *answers: ServerAnswer | NoAnswer, retry_s: float = 30.0) -> None:
        super().__init__("http://there")
        self.answers = list(answers)
        self.asked: list[Ask] = []
        self.pauses: list[float] = []
        self.now_s = 0.0
        self._requests.rules = CallRules(
            url="http://there",
            retry_s=retry_s,
            timeout_s=5.0,
            now=lambda: self.now_s,
            chance=lambda: 1.0,
        )

    def _connect(self, _place: ServerPlace) -> Wire:
        wire: Any = ScriptedWire(self)
        return cast(Wire, wire)

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return AtOnce().call(call)

    def send_one(self, key: str | None = None) -> Any:
        return self.run(self.send("contract:Q", "x", key=key))


class ScriptedWire:
    def __init__(self, world: World) -> None:
        self.world = world

    async def exchange(self, ask: Ask) -> ServerAnswer | NoAnswer:
        self.world.asked.append(ask)
        answers = self.world.answers
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def pause(self, seconds: float) -> None:
        self.world.pauses.append(seconds)
        self.world.now_s += seconds


def later(**headers: str) -> ServerAnswer:
    body = b'{"type":"t","title":"t","status":503,"code":"draining","detail":"d","retryable":true}'
    return ServerAnswer(503, {name.replace("_", "-"): text for name, text in headers.items()}, body)


def test_every_try_is_the_same_bytes_under_the_same_key() -> None:
    world = World(CUT, DOWN, later(), ServerAnswer(502, {}, b"<html>"), TAKEN)
    taken = world.send_one()
    assert taken.key.startswith("auto-")
    assert len(world.asked) == 5
    assert all(ask == world.asked[0] for ask in world.asked)
    assert taken.key in world.asked[0].headers["Idempotency-Key"]


def test_two_transactions_without_a_key_get_two() -> None:
    world = World(TAKEN)
    assert world.send_one().key != world.send_one().key


def test_pauses_double_up_to_a_bound() -> None:
    world = World(DOWN, retry_s=60)
    with pytest.raises(Unreachable):
        world.send_one()
    assert world.pauses[:3] == [BACKOFF_S_MIN, BACKOFF_S_MIN * 2, BACKOFF_S_MIN * 4]
    assert max(world.pauses) == BACKOFF_S_MAX
    assert world.now_s <= 60


def test_the_server_says_when_to_come_back() -> None:
    world = World(later(retry_after="7"), TAKEN)
    world.send_one()
    assert world.pauses == [7.0]


@pytest.mark.parametrize("text", ["soon", "Wed, 21 Oct 2026 07:28:00 GMT", "-1", "9" * 20, ""])
def test_a_date_or_nonsense_is_no_number_of_seconds(text: str) -> None:
    world = World(later(retry_after=text), TAKEN)
    world.send_one()
    assert world.pauses == [BACKOFF_S_MIN]


def test_what_is_later_than_our_patience_is_told_at_once() -> None:
    world = World(later(retry_after="31"))
    with pytest.raises(Unavailable) as caught:
        world.send_one()
    assert world.pauses == []
    assert (caught.value.code, caught.value.retry) == ("draining", "later")


def test_one_lost_answer_leaves_a_doubt_whatever_the_last_word_was() -> None:
    for last in (DOWN, CUT, later(), ServerAnswer(504, {}, b"")):
        with pytest.raises(AnswerLost) as caught:
            World(CUT, last).send_one("order-7")
        assert caught.value.key == "order-7"
        assert "order-7" in str(caught.value)


def test_a_read_leaves_no_doubt() -> None:
    world = World(CUT)
    with pytest.raises(Unreachable):
        world.run(world.tx("tx_1"))


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "malformed_json", Invalid),
        (401, "key_missing", NotAllowed),
        (403, "scope_missing", NotAllowed),
        (404, "intent_not_found", NotFound),
        (409, "intent_final", Conflict),
        (413, "body_too_large", Invalid),
        (422, "invalid_body", Invalid),
        (422, "idempotency_conflict", Conflict),
        (500, "bug", Refused),
    ],
)
def test_a_problem_is_raised_once_and_not_repeated(
    status: int, code: str, kind: type[Refused]
) -> None:
    body = (
        f'{{"type":"t","title":"t","status":{status},"code":"{code}","detail":"d",'
        '"retryable":false,"tx":"tx_1","lane":"contract:Q"}'
    )
    world = World(ServerAnswer(status, {}, body.encode()))
    with pytest.raises(LanewayError) as caught:
        world.send_one()
    assert type(caught.value) is kind
    assert isinstance(caught.value, Refused)
    assert (caught.value.code, caught.value.detail) == (code, "d")
    assert (caught.value.tx, caught.value.lane) == ("tx_1", "contract:Q")
    assert caught.value.retry == "never"
    assert len(world.asked) == 1


def test_a_page_of_a_proxy_is_a_problem_with_its_number() -> None:
    with pytest.raises(Refused) as caught:
        World(ServerAnswer(500, {}, b"<html>")).send_one()
    assert caught.value.code == "http_500"


@pytest.mark.parametrize("answer", [ServerAnswer(200, {}, b"<html>"), ServerAnswer(302, {}, b"")])
def test_what_is_no_laneway_is_unreadable(answer: ServerAnswer) -> None:
    with pytest.raises(Unreadable):
        World(answer).send_one()


def test_a_wait_asks_again_until_it_is_final_and_not_in_a_hurry() -> None:
    final = TX.replace(b'"final":false', b'"final":true')
    world = World(
        ServerAnswer(200, {}, TX), ServerAnswer(200, {}, TX), CUT, ServerAnswer(200, {}, final)
    )
    assert world.run(world.wait("tx_1")).final
    assert all("wait=confirmed" in ask.target for ask in world.asked)
    # A server with too many waits answers at once; it is not asked in a loop.
    assert world.pauses == [0.25, 0.25, BACKOFF_S_MIN]


def test_a_wait_does_not_outlast_its_time() -> None:
    world = World(ServerAnswer(200, {}, TX))
    with pytest.raises(TimeoutError):
        world.run(world.wait("tx_1", 2.0))
    assert 2.0 <= world.now_s < 2.5
    world = World(DOWN)
    with pytest.raises(Unreachable):
        world.run(world.wait("tx_1", 2.0))
    assert world.now_s <= 2.0


def test_an_id_is_one_part_of_a_path_whatever_it_holds() -> None:
    world = World(TAKEN)
    for odd in ("a/b", "a?b=c", "a b#c", "ü"):
        world.run(world.tx(odd))
        part = world.asked[-1].target.removeprefix("/v1/transactions/")
        assert not set(part) & set("/?# ü")


def test_an_action_by_key_finds_its_id_first() -> None:
    page = b'{"items":[' + TX + b'],"next_cursor":null}'
    world = World(ServerAnswer(200, {}, page), ServerAnswer(404, {}, b""))
    with pytest.raises(NotFound):
        world.run(world.cancel("key:order 7", reason="r"))
    assert [ask.target for ask in world.asked] == [
        "/v1/transactions?key=order+7",
        "/v1/transactions/tx_1/cancel",
    ]
