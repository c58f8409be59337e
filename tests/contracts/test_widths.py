"""Whatever the door accepts, every store can write: the largest value of every field is accepted,
committed and loaded again on each of them, and one more is refused at the door.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import ValidationError, convert, structs
from tests.contracts.test_store import ME, YOU, Desk, opened, postgres_desk, redis_desk
from tests.engine.eoa import stage as eoa
from tests.engine.sequence import stage as sequence

from laneway.core.cosmos import CommittedAccount
from laneway.core.errors import BadRequest
from laneway.core.ids import LaneId
from laneway.core.intent import Accepted, Arrival
from laneway.core.limits import (
    KEY_CHARS_MAX,
    LANE_ID_CHARS_MAX,
    PAYLOAD_BYTES_MAX,
    REASON_CHARS_MAX,
)
from laneway.core.outcome import Outcome
from laneway.core.rows import Command, Lease
from laneway.core.units import amount
from laneway.cosmos.limits import FEE_MAX
from laneway.engine.orders import (
    CommitDone,
    Open,
    Perform,
    ReadBacklog,
    ReadMailbox,
    Release,
    Stopped,
)
from laneway.engine.reactor import Reactor
from laneway.kinds.arrivals import ArrivalMaker
from laneway.kinds.contract.arrivals import ContractArrivals
from laneway.kinds.cosmos.arrivals import CosmosArrivals
from laneway.kinds.cosmos.request import request_of as cosmos_request
from laneway.kinds.cosmos.views import ConfiguredCosmosAccount
from laneway.kinds.evm.request import encoded as evm_encoded
from laneway.kinds.evm.request import request_of as evm_request
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.lanes.contract.values import Execute, ExecutionReturned, HeightRead, ReadHeight
from laneway.lanes.eoa.machine import eoa_kind
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.kind import LaneKind
from laneway.lanes.sequence.machine import sequence_kind
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.ports import Commit, ContractCall, EvmRequest
from laneway.wire.cosmos import CosmosPayload
from laneway.wire.evm import EvmPayload
from laneway.wire.limits import NUMBER_MAX
from laneway.wire.values import NewTx, Order, SequenceOrder

STORES = ("memory", "sqlite never", "postgres", "redis", "redis cluster")
INT63, WORD = (1 << 63) - 1, (1 << 256) - 1
NOW_MS = 1_700_000_000_000
TURNS_MAX = 12
"""Enough to accept, sign, offer and look; an account's lane looks for ever."""


@pytest.fixture(params=STORES)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    if request.param == "postgres":
        opening = postgres_desk(request.getfixturevalue("postgres_server"))
    elif request.param.startswith("redis"):
        opening = redis_desk(3 if request.param == "redis cluster" else 1)
    else:
        opening = opened(request.param, tmp_path)
    with opening as desk:
        yield desk


class FixedWorld:
    """The clock and the dice of the doors."""

    def now_ms(self) -> int:
        return NOW_MS

    def monotonic_ms(self) -> int:
        return NOW_MS

    def token(self, size: int) -> bytes:
        return bytes(size)


WORLD = FixedWorld()


class Driver:
    """A reactor over one store, its effects carried out by `perform`."""

    def __init__(self, desk: Desk, kind: LaneKind, perform: Callable[[Any], list[Any]]) -> None:
        self.desk = desk
        self.kind = kind
        self.reactor = Reactor({kind.name: kind}, ME)
        self._perform = perform
        self.leases: list[Lease] = []

    def run(self, lane: LaneId) -> None:
        self.desk.beat(ME, 60_000)
        self.reactor.woken(lane)
        for turn in range(TURNS_MAX):
            for order in self.reactor.orders(NOW_MS + turn * 1_000):
                self._carry_out(order)

    def _carry_out(self, order: Any) -> None:
        desk, reactor = self.desk, self.reactor
        match order:
            case Open(lane=lane):
                lease = desk.claim(lane, ME)
                self.leases.append(lease)
                reactor.opened(lease, desk.load(lease))
            case ReadBacklog(lease=lease, after=after, limit=limit):
                reactor.backlog_read(lease, desk.backlog(lease, after, limit))
            case ReadMailbox(lease=lease):
                reactor.mailbox_read(lease, desk.mailbox(lease))
            case Commit(lease=lease, version=version, write=write):
                reactor.committed(lease, desk.commit(lease, version, write))
            case Perform(lane=lane, effect=effect):
                for event in self._perform(effect):
                    reactor.answered(lane, event)
            case Release(lease=lease):
                desk.release(lease)
            case Stopped(error=error):
                pytest.fail(f"the lane was stopped by {error!r}")
            case _:
                assert isinstance(order, CommitDone)


def goes_through(
    desk: Desk,
    kind: LaneKind,
    arrival: Arrival,
    perform: Callable[[Any], list[Any]],
    *commands: Command,
) -> None:
    """Accepted, committed, and loaded again as it stood in memory."""
    (answer,) = desk.accept([arrival])
    assert isinstance(answer, Accepted)
    for command in commands:
        desk.tell(command)
    driver = Driver(desk, kind, perform)
    driver.run(arrival.lane)
    lane = driver.reactor.lane(arrival.lane)
    assert driver.reactor.is_settled(arrival.lane)
    view = desk.intent(arrival.id)
    assert view is not None
    assert view.intent.payload == arrival.payload
    assert (view.intent.key, view.intent.valid_until_ms) == (arrival.key, arrival.valid_until_ms)
    assert view.open or view.result is not None, "the lane has taken it"
    desk.release(driver.leases[-1])
    desk.beat(YOU, 60_000)
    lease = desk.claim(arrival.lane, YOU)
    again = kind.restore(desk.load(lease))
    assert kind.head(again, None) == kind.head(lane, None)
    assert kind.resume(again) == kind.resume(lane)


# Contracts.


def contract_door(**said: Any) -> Arrival:
    lane = said.pop("lane", "contract:T")
    key, until_ms = said.pop("key", None), said.pop("valid_until_ms", None)
    priority = said.pop("priority", 0)
    new = convert({"lane": lane, "payload": {"data": "Red", **said}}, NewTx)
    one = new.payload
    call = ContractCall(
        new.lane.partition(":")[2], one.executor, one.data, one.quorum_type, one.comment
    )
    return ContractArrivals(ContractSettings(priorities=True), WORLD, WORLD).make(
        call, key, priority, until_ms
    )


def contract_performed(effect: Any) -> list[Any]:
    """A chain at its last block, on which everything runs."""
    match effect:
        case ReadHeight(slot=slot):
            return [HeightRead(NOW_MS, slot, NUMBER_MAX - 1)]
        case Execute(slot=slot, attempt=attempt):
            return [ExecutionReturned(NOW_MS, slot, attempt, Outcome.ACCEPTED, NUMBER_MAX)]
        case _:
            raise AssertionError(effect)


SPARE = len(contract_door(data="").payload) + 8
"""Of an encoded call, beside its data."""

CONTRACT_EDGES = [
    ({"quorum_type": NUMBER_MAX}, {"quorum_type": NUMBER_MAX + 1}),
    ({"key": "\U0001f600" * KEY_CHARS_MAX}, {"key": "\U0001f600" * (KEY_CHARS_MAX + 1)}),
    ({"valid_until_ms": NUMBER_MAX}, {"valid_until_ms": NUMBER_MAX + 1}),
    ({"valid_until_ms": NUMBER_MAX}, {"valid_until_ms": -1}),
    ({"priority": 3}, {"priority": 4}),
    (
        {"lane": "contract:".ljust(LANE_ID_CHARS_MAX, "T")},
        {"lane": "contract:".ljust(LANE_ID_CHARS_MAX + 1, "T")},
    ),
    ({"data": "x" * (PAYLOAD_BYTES_MAX - SPARE)}, {"data": "x" * (PAYLOAD_BYTES_MAX + 1)}),
    ({"data": "\0\u0661" * 9, "executor": "\0", "comment": "\0"}, {"quorum_type": -1}),
]


@pytest.mark.parametrize(("most", "beyond"), CONTRACT_EDGES)
def test_a_contracts_door_is_as_wide_as_every_store(
    desk: Desk, most: dict[str, Any], beyond: dict[str, Any]
) -> None:
    kind = contract_kind(ContractSettings(priorities=True))
    goes_through(desk, kind, contract_door(**most), contract_performed)
    with pytest.raises((BadRequest, ValidationError)):
        contract_door(**beyond)


def staged(desk: Desk, kind: LaneKind, arrival: Arrival, stage: Any, *commands: Command) -> None:
    """The same, with an account's own performer before a chain of a few lines."""
    loop = stage.time.loop

    def performed(effect: Any) -> list[Any]:
        answering = stage.performer.perform_all(stage.lane, (effect,), lambda: None)
        events: list[Any] = loop.run_until_complete(answering)
        return events

    try:
        goes_through(desk, kind, arrival, performed, *commands)
    finally:
        loop.close()


# EVM accounts.

ADDRESS = "0x" + "22" * 20


def blobs(**more: Any) -> dict[str, Any]:
    one = {"blobs": ["0x" + "00" * 131_072], "commitments": ["0x" + "63" * 48]}
    return {"blobs": {**one, "proofs": ["0x" + "70" * 48], **more}}


def delegated(**more: Any) -> dict[str, Any]:
    one = {"chain_id": "7", "address": ADDRESS, "nonce": "0", "y_parity": 0, "r": "1", "s": "1"}
    return {"authorization_list": [{**one, **more}]}


def evm_door(lane: LaneId, said: dict[str, Any]) -> Arrival:
    asked = convert({"to": ADDRESS, "gas": 1_000_000, **said}, EvmPayload)
    return ArrivalMaker(WORLD, WORLD).of_request(lane, evm_request(asked), evm_encoded, None)


EVM_EDGES: list[tuple[str, int, Callable[[str], dict[str, Any]]]] = [
    ("value", WORD, lambda most: {"value": most}),
    ("gas", INT63, lambda most: {"gas": most}),
    ("max_fee_per_gas", INT63, lambda most: {"max_fee_per_gas": most}),
    ("max_priority_fee_per_gas", INT63, lambda most: {"max_priority_fee_per_gas": most}),
    ("max_cost", WORD, lambda most: {"max_cost": most}),
    ("max_fee_per_blob_gas", INT63, lambda most: blobs(max_fee_per_blob_gas=most)),
    ("chain_id", INT63, lambda most: delegated(chain_id=most)),
    ("nonce", INT63, lambda most: delegated(nonce=most)),
    ("r", WORD, lambda most: delegated(r=most)),
    ("s", WORD, lambda most: delegated(s=most)),
    # All at once: what is derived from them is widest then.
    (
        "max_fee_per_gas",
        INT63,
        lambda most: {
            "value": str(WORD),
            "gas": str(INT63),
            "max_fee_per_gas": most,
            "max_priority_fee_per_gas": str(INT63),
            **blobs(max_fee_per_blob_gas=str(INT63)),
        },
    ),
]


@pytest.mark.parametrize(("field", "most", "said"), EVM_EDGES)
def test_an_evm_accounts_door_is_as_wide_as_every_store(
    desk: Desk, field: str, most: int, said: Callable[[str], dict[str, Any]]
) -> None:
    stage = eoa.Stage()
    kind = eoa_kind(EoaSettings())
    staged(desk, kind, evm_door(stage.lane, said(str(most))), stage)
    with pytest.raises(BadRequest, match=rf"{field}.* {most + 1} is more than {most}"):
        evm_door(stage.lane, said(str(most + 1)))


@pytest.mark.parametrize("blob_wei", [1, INT63 // 2, INT63, WORD])
def test_a_blob_fee_that_was_accepted_before_its_width_was_checked_stops_no_lane(
    desk: Desk, blob_wei: int
) -> None:
    stage = eoa.Stage()
    content = structs.replace(eoa.BLOBS, fee_wei_max=amount(blob_wei))
    request = EvmRequest(to=eoa.TO, gas=21_000, type=3, blobs=content)
    arrival = ArrivalMaker(WORLD, WORLD).of_request(stage.lane, request, evm_encoded, None)
    staged(desk, eoa_kind(EoaSettings()), arrival, stage)


# Cosmos accounts.


PAYER = ConfiguredCosmosAccount(
    LaneId("cosmos:dev:from"),
    "from",
    "celestia1from",
    "dev",
    "dev",
    SequenceSettings(),
    "celestia",
    "utia",
)


def cosmos_door(lane: LaneId, **said: Any) -> Arrival:
    asked = convert({"to": sequence.TO, "amount": "5", "gas": 100_000, **said}, CosmosPayload)
    return CosmosArrivals(WORLD, WORLD, 1 << 30).make(lane, cosmos_request(asked, PAYER), None)


def cosmos_stage(**words: Any) -> sequence.Stage:
    """An account that exists."""
    stage = sequence.Stage(**words)
    stage.chain.look_said = structs.replace(
        stage.chain.look_said, account=CommittedAccount(7, 3), address=stage.account.address
    )
    return stage


COSMOS_EDGES = [
    ({"amount": "9" * 78}, {"amount": "9" * 79}),
    ({"amount": NUMBER_MAX}, {"amount": NUMBER_MAX + 1}),
    ({"gas": NUMBER_MAX}, {"gas": NUMBER_MAX + 1}),
    ({"fee": NUMBER_MAX}, {"fee": NUMBER_MAX + 1}),
    ({"timeout_height": NUMBER_MAX}, {"timeout_height": NUMBER_MAX + 1}),
    ({"gas_price": "999999999.999999"}, {"gas_price": "1000000000"}),
    ({"gas": 1_000_000, "gas_price": "999999999"}, {"gas": NUMBER_MAX, "gas_price": "999999999"}),
    ({"gas": NUMBER_MAX, "gas_price": "1024"}, {"gas": NUMBER_MAX, "gas_price": "1024.001"}),
    ({"memo": "\U0001f600" * 64}, {"memo": "x" * 1_025}),
]


@pytest.mark.parametrize(("most", "beyond"), COSMOS_EDGES)
def test_a_cosmos_accounts_door_is_as_wide_as_every_store(
    desk: Desk, most: dict[str, Any], beyond: dict[str, Any]
) -> None:
    stage = cosmos_stage(price_micro=4_000)
    arrival = cosmos_door(stage.lane, **most)
    staged(desk, sequence_kind(SequenceSettings()), arrival, stage)
    with pytest.raises((BadRequest, ValidationError)):
        cosmos_door(stage.lane, **beyond)


def test_gas_times_its_price_is_refused_with_both_and_the_bound() -> None:
    with pytest.raises(BadRequest, match=f"gas_price.*{NUMBER_MAX} gas.*more than {FEE_MAX}"):
        cosmos_door(LaneId("cosmos:dev:main"), gas=NUMBER_MAX, gas_price="999999999")


@pytest.mark.parametrize("price_micro", [10**15, 10**30])
def test_a_price_of_the_chain_that_no_row_can_hold_parks_and_stops_no_lane(
    desk: Desk, price_micro: int
) -> None:
    stage = cosmos_stage(price_micro=price_micro)
    arrival = cosmos_door(stage.lane, gas=NUMBER_MAX)
    staged(desk, sequence_kind(SequenceSettings()), arrival, stage)


# An operator's words.


def test_an_operators_words_are_as_wide_as_every_store(desk: Desk) -> None:
    words = "\U0001f600" * REASON_CHARS_MAX
    assert convert({"reason": words}, Order).reason == words
    assert convert({"reason": "x", "sequence": NUMBER_MAX}, SequenceOrder).sequence == NUMBER_MAX
    for kind, said in ((Order, {"reason": words + "x"}), (SequenceOrder, {"reason": ""})):
        with pytest.raises(ValidationError):
            convert(said, kind)
    with pytest.raises(ValidationError):
        convert({"reason": "x", "sequence": NUMBER_MAX + 1}, SequenceOrder)
    stage = cosmos_stage(price_micro=4_000)
    told = [
        Command(0, stage.lane, verb, NOW_MS, words, words, word=word)
        for verb, word in (("pause", ""), ("set-sequence", str(NUMBER_MAX)), ("resume", ""))
    ]
    arrival = cosmos_door(stage.lane)
    staged(desk, sequence_kind(SequenceSettings()), arrival, stage, *told)
