"""Parts over the streams of an account, permits asked last of all, nothing behind a doubt."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tests.engine.eoa.stage import CHAIN_ID, SECRET, Stage, sending

from laneway.core.facts import SendAnswer, SendKind, sent
from laneway.core.outcome import Outcome
from laneway.engine.eoa import EoaPerformer, EvmAccount
from laneway.engine.eoa.sending import AFTER_A_DOUBT, send_all
from laneway.engine.limits import SENDS_PER_PART
from laneway.evm.envelope import encode_canonical
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import DynamicFeeTransaction, signed
from laneway.lanes.eoa.values import BroadcastReturned, SendAttempt
from laneway.signers.local import LocalSigner


def test_many_go_out_in_one_batch_in_their_order() -> None:
    stage = Stage()
    returned = stage.perform(*(sending(bytes([n]), n) for n in (1, 2, 3)))
    assert isinstance(returned, BroadcastReturned)
    assert stage.chain.sent == [[b"\x01", b"\x02", b"\x03"]]
    assert [(one.slot, one.node, one.outcome) for one in returned.results] == [
        (slot, "node", Outcome.ACCEPTED) for slot in (1, 2, 3)
    ]
    assert all(one.first for one in returned.results)


def test_a_second_batch_waits_for_the_first_to_be_answered() -> None:
    stage = Stage()
    stage.chain.takes_s = 1.0

    async def story() -> None:
        send = stage.performer.perform_all
        await asyncio.gather(
            *(send(stage.lane, [sending(bytes([n]), n)], lambda: None) for n in range(5))
        )

    stage.run(story())
    assert stage.chain.sent == [[bytes([n])] for n in range(5)]
    assert stage.chain.sending_max == 1


def test_another_account_does_not_wait() -> None:
    stage = Stage()
    stage.chain.takes_s = 1.0
    second = EvmAccount(CHAIN_ID, stage.view, LocalSigner("two", b"\x02" * 32))
    performer = EoaPerformer({stage.lane: stage.account, second.lane: second}, stage.time)

    async def story() -> None:
        await asyncio.gather(
            performer.perform_all(stage.lane, [sending(b"a")], lambda: None),
            performer.perform_all(second.lane, [sending(b"b")], lambda: None),
        )

    stage.run(story())
    assert stage.chain.sending_max == 2


def test_a_permit_is_asked_again_after_waiting_and_nothing_leaves_without_it() -> None:
    """The lease may end while a batch waits behind another that hangs."""
    stage = Stage()
    stage.chain.takes_s = 60.0
    over: list[str] = []

    async def story() -> list[Any]:
        def permit() -> str | None:
            return over[0] if over else None

        send = stage.performer.perform_all
        first = asyncio.create_task(send(stage.lane, [sending(b"one", 1)], permit))
        second = asyncio.create_task(send(stage.lane, [sending(b"two", 2)], permit))
        await asyncio.sleep(1)
        over.append("not sent: the lease may be over")
        await first
        return list(await second)

    (returned,) = stage.run(story())
    assert stage.chain.sent == [[b"one"]]
    ((result),) = returned.results
    assert (result.slot, result.outcome, result.final) == (2, Outcome.REFUSED, False)
    assert result.reason == "not sent: the lease may be over"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (SendKind.TAKEN, {"outcome": Outcome.ACCEPTED}),
        (SendKind.ALREADY_KNOWN, {"outcome": Outcome.ACCEPTED}),
        (SendKind.NONCE_TOO_LOW, {"outcome": Outcome.UNKNOWN, "used": True}),
        (SendKind.SILENT, {"outcome": Outcome.UNKNOWN}),
        (SendKind.UNKNOWN, {"outcome": Outcome.UNKNOWN}),
        (SendKind.OVERSIZED, {"outcome": Outcome.REFUSED, "final": True, "hopeless": True}),
        (SendKind.GAS_LIMIT, {"outcome": Outcome.REFUSED, "final": True, "hopeless": True}),
        (SendKind.UNSUPPORTED, {"outcome": Outcome.REFUSED, "final": True}),
        (SendKind.NODE_FEE_CAP, {"outcome": Outcome.REFUSED, "final": True}),
        (SendKind.UNDERPRICED, {"outcome": Outcome.REFUSED, "cheap": True}),
        (SendKind.FEE_CAP_TOO_LOW, {"outcome": Outcome.REFUSED, "cheap": True}),
        (SendKind.REPLACEMENT_UNDERPRICED, {"outcome": Outcome.REFUSED, "cheap": True}),
        (SendKind.NOT_SERVED, {"outcome": Outcome.REFUSED}),
        (SendKind.MALFORMED, {"outcome": Outcome.REFUSED, "final": True}),
        (SendKind.POOL_FULL, {"outcome": Outcome.REFUSED, "cheap": True}),
    ],
)
def test_what_a_node_says_reaches_the_lane_as_what_it_proves(
    kind: SendKind, words: dict[str, Any]
) -> None:
    stage = Stage()
    stage.chain.answers = [kind]
    (result,) = stage.perform(sending(b"raw")).results
    flags = ("final", "hopeless", "broke", "cheap", "used")
    told = {name: getattr(result, name) for name in ("outcome", *flags)}
    expected = {**dict.fromkeys(flags, False), **words}
    assert told == expected


def test_of_what_cannot_be_paid_it_is_said_what_it_costs() -> None:
    stage = Stage()
    stage.chain.answers = [SendKind.INSUFFICIENT_FUNDS]
    transaction = DynamicFeeTransaction(1, 7, 2, 30, 21_000, b"t" * 20, 1_000)
    raw = encode_canonical(signed(transaction, HeldEvmKey(SECRET).sign(b"d" * 32)))
    (result,) = stage.perform(sending(raw)).results
    assert (result.outcome, result.final, result.broke) == (Outcome.REFUSED, False, True)
    assert result.needed == 1_000 + 21_000 * 30


def test_bytes_that_went_out_before_are_answered_as_such() -> None:
    stage = Stage()
    stage.chain.answers = [SendKind.MALFORMED]
    (result,) = stage.perform(sending(b"raw", again=True)).results
    assert not result.first


@pytest.mark.parametrize(
    ("waits", "asked"),
    [
        ([("a", "b"), ("a", "b")], ("a", "b")),
        ([("b",)], ("b",)),
        ([("b",), ("a",)], ("a", "b")),
        ([("gone",)], ()),
        ([("a", "gone")], ()),
    ],
)
def test_bytes_go_to_those_that_have_not_answered_or_to_all_where_nodes_were_exchanged(
    waits: list[tuple[str, ...]], asked: tuple[str, ...]
) -> None:
    stage = Stage()
    stage.chain.nodes = ("a", "b")
    stage.perform(*(SendAttempt(1, 1, b"raw", nodes) for nodes in waits))
    assert stage.chain.asked_nodes == [asked]


# Parts.

MANY = 3 * SENDS_PER_PART + 5


def numbered(count: int = MANY, nodes: tuple[str, ...] = ("node",)) -> list[SendAttempt]:
    return [SendAttempt(one, 1, one.to_bytes(2, "big"), nodes) for one in range(1, count + 1)]


def slots(parts: Sequence[Sequence[bytes]]) -> list[list[int]]:
    return [[int.from_bytes(raw, "big") for raw in part] for part in parts]


@pytest.mark.parametrize("streams", [1, 2])
def test_a_long_stretch_goes_part_after_part_over_all_streams(streams: int) -> None:
    """A later stretch begins on no stream before the last part of this one has."""
    stage = Stage()
    stage.chain.takes_s = 1.0
    account = EvmAccount(CHAIN_ID, stage.view, LocalSigner("one", SECRET), streams=streams)
    performer = EoaPerformer({account.lane: account}, stage.time)
    later = [SendAttempt(MANY + 1, 1, (MANY + 1).to_bytes(2, "big"), ("node",))]

    async def story() -> list[Any]:
        send = performer.perform_all
        both = (send(account.lane, orders, lambda: None) for orders in (numbered(), later))
        return list(await asyncio.gather(*both))

    ((returned,), _) = stage.run(story())
    assert stage.chain.sending_max == streams
    sent_slots = slots(stage.chain.sent)
    assert [len(part) for part in sent_slots] == [SENDS_PER_PART] * 3 + [5, 1]
    assert [slot for part in sent_slots for slot in part] == list(range(1, MANY + 2))
    assert [one.slot for one in returned.results] == list(range(1, MANY + 1))


def test_behind_a_doubt_nothing_more_is_offered_to_that_node() -> None:
    """The first part ends in silence from one of two nodes: the other goes on alone, and of the
    rest it is said that they never left for the silent one."""
    stage = Stage()
    stage.chain.nodes = ("good", "bad")
    asked: list[tuple[int, tuple[str, ...]]] = []

    async def send(raws: Sequence[bytes], only: Sequence[str] = ()) -> list[list[SendAnswer]]:
        asked.append((len(raws), tuple(only)))
        kinds = {"good": SendKind.TAKEN, "bad": SendKind.SILENT}
        return [[sent(node, kinds[node], "") for node in only] for _ in raws]

    stage.chain.send = send  # type: ignore[method-assign]
    returned = stage.perform(*numbered(nodes=("good", "bad")))
    assert asked == [
        (SENDS_PER_PART, ("good", "bad")),
        *[(SENDS_PER_PART, ("good",))] * 2,
        (5, ("good",)),
    ]
    told = {(one.slot, one.node): (one.outcome, one.final) for one in returned.results}
    assert len(told) == len(returned.results) == 2 * MANY
    for slot in range(1, MANY + 1):
        assert told[slot, "good"] == (Outcome.ACCEPTED, False)
        is_first = slot <= SENDS_PER_PART
        assert told[slot, "bad"] == (Outcome.UNKNOWN if is_first else Outcome.REFUSED, False)


@pytest.mark.parametrize(
    "kind", [SendKind.UNREACHABLE, SendKind.SILENT, SendKind.RATE_LIMITED, SendKind.TAKEN]
)
def test_where_no_node_is_left_the_rest_stays_here(kind: SendKind) -> None:
    stage = Stage()
    stage.chain.answers = [kind] * SENDS_PER_PART
    returned = stage.perform(*numbered())
    assert len(stage.chain.sent) == (4 if kind is SendKind.TAKEN else 1)
    rest = returned.results[SENDS_PER_PART:]
    assert len(rest) == MANY - SENDS_PER_PART
    if kind is not SendKind.TAKEN:
        assert {(one.outcome, one.final, one.reason) for one in rest} == {
            (Outcome.REFUSED, False, AFTER_A_DOUBT)
        }


def test_a_bug_in_one_part_leaves_no_other_behind() -> None:
    """Whoever closes the engine could not end what it no longer knows of."""
    stage = Stage()
    stage.chain.takes_s = 1.0
    honest = stage.chain.send

    async def send(
        raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[SendAnswer]]:
        if slots([raws])[0][0] == 1:
            raise ValueError("a bug")
        return await honest(raws, only)

    stage.chain.send = send  # type: ignore[method-assign]
    account = EvmAccount(CHAIN_ID, stage.view, LocalSigner("one", SECRET), streams=2)

    async def story() -> None:
        with pytest.raises(ExceptionGroup):
            await send_all(account, numbered(), lambda: None, stage.time)
        await asyncio.sleep(10)

    stage.run(story())
    assert stage.chain.sent == []
