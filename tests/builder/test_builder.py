"""A ledger's builder on a real devnet: blocks that land, every way to the state below them, and
what it makes of all that a lane tells it."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace
from tests.builder.stage import (
    BALANCES,
    FIRST,
    SECOND,
    STORY_S_MAX,
    THIRD,
    Hands,
    LedgerBuilder,
    Site,
    build_order,
    hands,
    story,
    tell,
    version_order,
)

from laneway.builder.pool import PoolView
from laneway.core.errors import BadRequest, BuildFailed
from laneway.jam.package import WORK_PACKAGE
from laneway.lanes.bundle.limits import REASON_KEPT_BYTES_MAX
from laneway.lanes.bundle.rows import LineReceipt
from laneway.ports import ExecutedBlock, RollupBuilder
from laneway.rollups.ledger.block import BODY
from laneway.rollups.ledger.limits import BALANCE_DEV
from laneway.rollups.ledger.rules import LedgerRules
from laneway.rollups.ledger.transfer import TRANSFER
from laneway.rollups.receipts import At, TransactionReceipt

pytestmark = pytest.mark.slow


def paid(builder: LedgerBuilder, at: At) -> int:
    """How much went from the first account to the second, in the state that is asked for."""
    return BALANCE_DEV - builder.state(at).account(FIRST.id).balance


async def failure(coroutine: object) -> BuildFailed:
    with pytest.raises(BuildFailed) as failed:
        await coroutine  # type: ignore[misc]
    return failed.value


# Blocks and packages.


def test_blocks_that_stand_on_each_other_land_with_their_records_and_roots() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        builder: RollupBuilder = hand.builder
        assert builder is hand.builder
        first = await hand.build(site.transfer(0), site.transfer(1))
        second = await hand.build(site.transfer(2))
        one = await hand.package(first)
        two = await hand.package(second, prerequisites=(one.package_hash,))
        await hand.submit(one, 0)
        await hand.submit(two, 1)
        site.devnet.step(2)
        for number, done, made in ((1, first, one), (2, second, two)):
            record = site.record(number)
            assert record is not None
            assert (record.block, record.package_hash) == (done.block, made.package_hash)
            assert site.brought(made.package_hash) == number.to_bytes(8, "little")
        assert (site.head().number, site.head().state_root) == (2, second.post_root)
        await hand.builder.notified(hand.settle())
        assert paid(hand.builder, At.FINALIZED) == 15
        assert hand.builder.state(At.FINALIZED).account(SECOND.id).balance == BALANCE_DEV + 15

    story(tale)


def test_the_same_order_has_the_same_answer_here_and_at_another_builder() -> None:
    async def tale(site: Site) -> None:
        one, two = await hands(site), await hands(site)
        order = one.order(site.transfer(1), site.transfer(0), site.transfer(0), b"nothing")
        answer = await one.builder.execute(order)
        assert answer == await one.builder.execute(order) == await two.builder.execute(order)
        assert [judged.verdict for judged in answer.judged] == [
            "included",
            "included",
            "refused",
            "refused",
        ]
        assert [judged.intent for judged in answer.judged] == ["i0", "i1", "i2", "i3"]
        block = BODY.decode(answer.payload)
        assert (block.header.timestamp, block.header.number) == (77, 1)
        later = await one.builder.execute(replace(order, made_ms=order.made_ms + 6_000))
        assert later.block != answer.block
        assert later.post_root == answer.post_root

    story(tale)


def test_each_transaction_has_its_place_in_the_block_whatever_the_order_it_was_asked_in() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        raws = [site.transfer(2), b"nothing", site.transfer(0), site.transfer(9), site.transfer(1)]
        done = await hand.build(*raws)
        assert [one.place for one in done.judged] == [2, None, 0, None, 1]
        for one in done.judged:
            receipt = await hand.builder.receipt(one.hash) if one.hash else None
            assert (None if receipt is None else receipt.index) == one.place

    story(tale)


def test_a_block_of_nothing_has_no_payload_and_leaves_the_state() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        done = await hand.builder.execute(hand.order(b"nothing", site.transfer(9)))
        assert (done.payload, done.block, done.digest) == (b"", b"", b"")
        assert done.pre_root == done.post_root == site.head().state_root
        assert [one.verdict for one in done.judged] == ["refused", "deferred"]

    story(tale)


def test_another_version_has_the_same_block_in_a_fresh_context() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        done = await hand.build(site.transfer(0))
        first = await hand.package(done)
        site.devnet.step(9)
        second = await hand.package(done, version=2)
        assert first.block == second.block == done.block
        assert first.package_hash != second.package_hash
        one, two = (WORK_PACKAGE.decode(made.package.encoded) for made in (first, second))
        assert one.items == two.items
        assert one.context != two.context
        await hand.submit(second)
        site.devnet.step(2)
        assert site.head().block == done.block

    story(tale)


def test_the_file_has_a_block_before_anybody_hears_of_it(tmp_path: Path) -> None:
    async def tale(site: Site) -> None:
        path = str(tmp_path / "builder.db")
        hand = await hands(site, path)
        done = await hand.builder.execute(hand.order(site.transfer(0)))
        await hand.builder.aclose()
        await hand.builder.aclose()
        again = await site.builder(path)
        view = await again.block_by_hash(done.block)
        assert view is not None
        assert view.post_root == done.post_root
        assert paid(again, At.PENDING) == 5

    story(tale)


def test_an_order_that_is_given_up_disturbs_nothing() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        order = hand.order(*(site.transfer(nonce) for nonce in range(60)))
        asked = [asyncio.create_task(hand.builder.execute(order)) for _ in range(3)]
        await asyncio.sleep(0.01)
        asked[0].cancel()
        asked[1].cancel()
        answers = await asyncio.gather(*asked, return_exceptions=True)
        assert isinstance(answers[2], ExecutedBlock)
        assert answers[2] == await hand.builder.execute(order)

    story(tale)


# The state below a block.


def test_a_builder_without_a_file_takes_over_in_the_middle() -> None:
    """Final blocks come from the chain, open ones with the order."""

    async def tale(site: Site) -> None:
        one = await hands(site)
        await one.land(site.transfer(0), site.transfer(1))
        await one.land(site.transfer(2))
        await one.builder.notified(one.settle())
        third = await one.land(site.transfer(3))
        fourth = await one.build(site.transfer(4))
        two = Hands(site, await site.builder(), one.chain)
        two.made, two.tip, two.final_count = list(one.made), one.tip, one.final_count
        order = two.order(site.transfer(5))
        answer = await two.builder.execute(order)
        assert answer == await one.builder.execute(order)
        assert paid(two.builder, At.FINALIZED) == 15
        assert paid(two.builder, At.PENDING) == 30
        await two.submit(await two.package(fourth))
        site.devnet.step(2)
        assert site.head().block == fourth.block
        assert site.head().number == 4
        for number, made in ((1, None), (3, third)):
            view = await two.builder.block(number)
            assert view is not None
            assert made is None or view.hash == made.block
        record = site.record(1)
        assert record is not None
        receipt = await two.builder.receipt(two.builder.rollup.checked(site.transfer(1)))
        assert receipt == TransactionReceipt(
            hash=two.builder.rollup.checked(site.transfer(1)),
            number=1,
            block=record.block,
            index=1,
            status="ok",
            package_hash=record.package_hash,
            is_canonical=True,
            is_final=True,
        )

    story(tale)


def test_an_order_on_what_the_service_has_waits_until_that_is_final() -> None:
    async def tale(site: Site) -> None:
        one = await hands(site)
        site.devnet.model.faults.is_finality_stalled = True
        await one.land(site.transfer(0))
        two = await hands(site)
        failed = await failure(two.builder.execute(two.order(site.transfer(1))))
        assert "block 1, which is not from here, and final is 0" in str(failed)
        assert not failed.final
        site.devnet.model.faults.is_finality_stalled = False
        site.devnet.step(6)
        failed = await failure(two.builder.execute(two.order(site.transfer(1))))
        assert "block 1 is ordered, and below it is 1; the lane sees that" in str(failed)
        assert not failed.final
        done = await two.builder.execute(two.order(site.transfer(1), number=2))
        assert BODY.decode(done.payload).header.number == 2

    story(tale)


def test_a_block_below_that_nobody_has_is_told_and_looked_for_again() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        failed = await failure(hand.builder.execute(hand.order(parent=b"x" * 32)))
        assert f"block {(b'x' * 32).hex()} below is neither open nor final" in str(failed)
        assert not failed.final
        first = await hand.build(site.transfer(0))
        second = await hand.build(site.transfer(1))
        other = await site.builder()
        gap = replace(hand.order(site.transfer(2)), below=(second.payload,))
        assert "neither open nor final" in str(await failure(other.execute(gap)))
        whole = replace(gap, below=(first.payload, second.payload))
        assert (await other.execute(whole)).block

    story(tale)


def test_only_what_is_missing_below_a_block_is_made_again() -> None:
    async def tale(site: Site) -> None:
        one, two = await hands(site), await hands(site)
        await one.land(site.transfer(0))
        await one.land(site.transfer(1))
        await one.build(site.transfer(2))
        await one.build(site.transfer(3))
        order = one.order(site.transfer(4))
        for done in one.made[:3]:
            below = replace(order, parent=done.block, parent_root=done.post_root)
            place = one.made.index(done) + 1
            below = replace(below, below=order.below[:place], number=place + 1)
            assert (await two.builder.execute(below)).pre_root == done.post_root
        tells = one.settle()
        await two.builder.notified(tells)
        assert two.builder.heads.final.sealed.number == 2
        answer = await two.builder.execute(order)
        assert answer == await one.builder.execute(order)

    story(tale)


def test_a_file_that_cannot_be_written_is_told_and_nothing_is_half_done(tmp_path: Path) -> None:
    async def tale(site: Site) -> None:
        path = str(tmp_path / "builder.db")
        hand = await hands(site, path)
        builder = hand.builder
        done = await hand.build(site.transfer(0))
        tells = [tell("accumulated", done), tell("finalised", done)]
        builder._shelf._connection.pragma("query_only", 1)
        order = hand.order(site.transfer(1))
        failed = await failure(builder.execute(order))
        assert ("may this user do that there" in str(failed), failed.final) == (True, False)
        await failure(builder.notified(tells))
        assert paid(builder, At.FINALIZED) == 0
        builder._shelf._connection.pragma("query_only", 0)
        await builder.notified(tells[:1])
        builder._shelf._connection.pragma("query_only", 1)
        await failure(builder.notified(tells[1:]))
        assert paid(builder, At.FINALIZED) == 0
        builder._shelf._connection.pragma("query_only", 0)
        await builder.notified(tells)
        assert paid(builder, At.FINALIZED) == 5
        await builder.execute(order)
        await builder.aclose()
        again = await site.builder(path)
        assert paid(again, At.FINALIZED) == 5
        assert paid(again, At.PENDING) == 10

    story(tale)


def test_an_order_on_another_state_than_its_parent_left_is_not_carried_out() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        await hand.build(site.transfer(0))
        order = hand.order(site.transfer(1), parent_root=bytes(32))
        assert "left another state" in str(await failure(hand.builder.execute(order)))

    story(tale)


def test_what_is_final_already_needs_no_package_and_no_block_below_others() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        first = await hand.land(site.transfer(0))
        second = await hand.land(site.transfer(1))
        late = hand.version(second)
        await hand.builder.notified(hand.settle())
        context = await hand.chain.context()
        failed = await failure(hand.builder.package(late, context))
        assert (str(failed), failed.final) == (
            "block 2 is final, and needs no package any more",
            False,
        )
        below = build_order([site.transfer(1)], parent=first.block, parent_root=first.post_root)
        failed = await failure(hand.builder.execute(below))
        assert "the block below is final, and so are others on it" in str(failed)
        assert str(failed).endswith(f"; {BuildFailed.REMEDY}")

    story(tale)


def test_blocks_on_another_one_than_the_final_one_can_never_land() -> None:
    async def tale(site: Site) -> None:
        one, two = await hands(site), await hands(site)
        lost = await one.build(site.transfer(0, amount=1))
        on_lost = await one.build(site.transfer(1, amount=1))
        await two.land(site.transfer(0))
        await two.builder.notified(two.settle())
        order = one.version(on_lost)
        assert order.below == (lost.payload,)
        failed = await failure(two.builder.package(order, await two.chain.context()))
        assert "block 1 is final, and another one than that below" in str(failed)
        assert not failed.final, "others were quicker: what is in it is at no fault"
        await two.land(site.transfer(1))
        await two.builder.notified(two.settle())
        failed = await failure(two.builder.execute(one.order(site.transfer(2))))
        assert "block 1 is final, and another one" in str(failed)
        assert not failed.final, "what is ordered on it is at no fault"

    story(tale)


def test_a_payload_of_another_block_or_of_none_is_at_fault() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        first = await hand.build(site.transfer(0))
        context = await hand.chain.context()
        other = version_order(first, block=b"x" * 32)
        failed = await failure(hand.builder.package(other, context))
        assert ("that of another block" in str(failed), failed.final) == (True, True)
        failed = await failure(hand.builder.package(version_order(first, payload=b"x"), context))
        assert ("is no block" in str(failed), failed.final) == (True, True)
        block = BODY.decode(first.payload)
        lying = replace(block, receipts=(replace(block.receipts[0], transfer_hash=bytes(32)),))
        order = version_order(first, payload=BODY.encode(lying))
        for builder in (hand.builder, await site.builder()):
            failed = await failure(builder.package(order, context))
            assert failed.final, failed

    story(tale)


# What is told.


def test_states_follow_what_is_told() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        builder = hand.builder
        first = await hand.build(site.transfer(0))
        second = await hand.build(site.transfer(1))
        words = (At.PENDING, At.LATEST, At.SAFE, At.FINALIZED)
        assert [paid(builder, at) for at in words] == [10, 10, 0, 0]
        for _ in range(2):
            await builder.notified([tell("accumulated", first)])
            assert [paid(builder, at) for at in words] == [10, 10, 5, 0]
        await builder.notified([tell("accumulated", second, 2), tell("finalised", first)])
        assert [paid(builder, at) for at in words] == [10, 10, 10, 5]
        await builder.notified([tell("restored", second, 2)])
        assert [paid(builder, at) for at in words] == [10, 10, 5, 5]
        late = [tell(word, first) for word in ("failed", "restored", "accumulated", "finalised")]
        await builder.notified(late)
        assert [paid(builder, at) for at in words] == [10, 10, 5, 5], "what is final stays"
        assert builder.heads.newest.sealed.number == 2
        others = ("submitted", "guaranteed", "forgotten")
        await builder.notified([tell(word, second, 2) for word in others])
        assert builder.heads.newest.sealed.number == 2, "what it does not know changes nothing"

    story(tale)


def test_latest_may_mean_what_is_accumulated() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site, latest_is_safe=True)
        await hand.build(site.transfer(0))
        assert paid(hand.builder, At.LATEST) == 0
        assert paid(hand.builder, At.PENDING) == 5

    story(tale)


def test_a_failed_block_takes_its_descendants_and_their_transactions_come_back() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        builder = hand.builder
        raws = [site.transfer(nonce) for nonce in range(3)]
        hashes = [builder.pool.check(raw) for raw in raws]
        first, second, third = [await hand.build(raw) for raw in raws]
        assert builder.pool.view() == PoolView(waiting=0, built=3, removed=0)
        for _ in range(2):
            await builder.notified([tell("failed", second, 2)])
            assert paid(builder, At.PENDING) == 5
            assert builder.pool.view() == PoolView(waiting=2, built=1, removed=0)
        assert [await builder.receipt(one) is None for one in hashes] == [False, True, True]
        assert await builder.block_by_hash(third.block) is None
        hand.made = [first]
        again = await hand.build(raws[2], raws[1])
        assert [one.verdict for one in again.judged] == ["included"] * 2
        assert BODY.decode(again.payload).header.number == 2

    story(tale)


def test_transactions_leave_the_pool_on_accumulation_and_come_back_until_that_is_final(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        builder = hand.builder
        hashed = builder.pool.check(site.transfer(0))
        done = await hand.build(site.transfer(0))
        await builder.notified([tell("accumulated", done)])
        assert builder.pool.view() == PoolView(waiting=0, built=0, removed=1)
        receipt = await builder.receipt(hashed)
        assert receipt is not None
        assert (receipt.is_canonical, receipt.is_final) == (True, False)
        assert receipt.package_hash == b"p" * 32
        await builder.notified([tell("restored", done)])
        assert builder.pool.view() == PoolView(waiting=0, built=1, removed=0)
        receipt = await builder.receipt(hashed)
        assert receipt is not None
        assert (receipt.is_canonical, receipt.package_hash) == (False, b"")
        await builder.notified([tell("accumulated", done), tell("finalised", done)])
        assert builder.pool.view() == PoolView(waiting=0, built=0, removed=0)
        receipt = await builder.receipt(hashed)
        assert receipt is not None
        assert (receipt.is_canonical, receipt.is_final) == (True, True)

    with caplog.at_level(logging.DEBUG, "laneway.builder"):
        story(tale)
    assert "Removing accumulated transactions from txpool block=1 count=1" in caplog.text


def test_a_final_block_that_is_not_known_here_comes_from_the_chain() -> None:
    async def tale(site: Site) -> None:
        one = await hands(site)
        await one.land(site.transfer(0))
        await one.land(site.transfer(1))
        tells = one.settle()
        two = await site.builder()
        for _ in range(2):
            await two.notified(tells)
            assert paid(two, At.FINALIZED) == 10
        beyond = replace(tells[-1], block=b"x" * 32, number=3)
        failed = await failure(two.notified([beyond]))
        assert "block 3 is final, and no node that was asked has it so" in str(failed)

    story(tale)


def test_an_accumulation_that_was_told_before_the_state_was_here_counts() -> None:
    async def tale(site: Site) -> None:
        one, two = await hands(site), await site.builder()
        first = await one.build(site.transfer(0))
        await two.notified([tell("accumulated", first)])
        assert paid(two, At.SAFE) == 0
        await two.execute(one.order(site.transfer(1)))
        assert (paid(two, At.SAFE), paid(two, At.PENDING)) == (5, 10)
        view = await two.block(1)
        assert view is not None
        assert view.is_canonical
        assert two.pool.view() == PoolView(waiting=0, built=1, removed=1)

    story(tale)


async def package_of(builder: LedgerBuilder, done: ExecutedBlock) -> bytes:
    """The package that brought a block, as its receipt says."""
    receipt = await builder.receipt(done.judged[0].hash)
    view = await builder.block_by_hash(done.block)
    assert receipt is not None
    assert view is not None
    assert receipt.package_hash == view.package_hash
    return view.package_hash


def test_the_package_of_a_block_that_was_notified_before_it_was_here_is_known() -> None:
    async def tale(site: Site) -> None:
        one, two = await hands(site), await site.builder()
        first = await one.build(site.transfer(0))
        await two.notified([tell("accumulated", first, package=b"a" * 32)])
        await two.notified([tell("accumulated", first, package=b"")])
        await two.execute(one.order(site.transfer(1)))
        assert await package_of(two, first) == b"a" * 32

    story(tale)


def test_the_package_of_a_block_is_never_lost_again(tmp_path: Path) -> None:
    async def tale(site: Site) -> None:
        path = str(tmp_path / "builder.db")
        hand = await hands(site, path)
        builder = hand.builder
        first = await hand.build(site.transfer(0))
        await builder.notified([tell("accumulated", first)])
        await builder.notified([tell("accumulated", first, package=b"")])
        assert await package_of(builder, first) == b"p" * 32
        await builder.aclose()
        builder = await site.builder(path)
        # Its snapshot is gone and is made again.
        builder._snapshots._above.clear()
        await builder.execute(hand.order(site.transfer(1)))
        assert await package_of(builder, first) == b"p" * 32
        await builder.notified([tell("finalised", first, package=b"")])
        assert await package_of(builder, first) == b"p" * 32

    story(tale)


@pytest.mark.parametrize("word", ["accumulated", "finalised"])
def test_a_package_that_is_notified_after_its_block_is_final_is_filled_in(word: str) -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        first = await hand.build(site.transfer(0))
        second = await hand.build(site.transfer(1))
        await hand.builder.notified([tell("finalised", second, 2)])
        assert await package_of(hand.builder, first) == b""
        for package in (b"", b"a" * 32, b"b" * 32, b""):
            await hand.builder.notified([tell(word, first, package=package)])
        assert await package_of(hand.builder, first) == b"a" * 32
        assert await package_of(hand.builder, second) == b"p" * 32

    story(tale)


def test_nothing_of_a_final_block_stays_in_memory() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        builder = hand.builder
        for number in range(4):
            builder.pool.check(site.transfer(number))
            await hand.land(site.transfer(number))
            tells = hand.settle()
            await builder.notified(tells)
            await builder.notified(tells)
            assert builder.heads.newest is builder.heads.accumulated is builder.heads.final
            assert builder.pool.view() == PoolView(waiting=0, built=0, removed=0)
            kept = (len(builder._snapshots), builder._snapshots._canonical, builder.pool._places)
            assert kept == (0, {}, {})
            assert (len(builder._orders._begun), len(builder._orders._running)) == (0, 0)

    story(tale)


# Rules that are wrong or slow.

TOO_LATE = "it takes longer than 0.05 s to execute"


def test_what_the_rules_raise_is_final_and_the_builder_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        real = hand.builder.rollup.execute

        def broken(*_: Any) -> Any:
            raise ZeroDivisionError

        monkeypatch.setattr(hand.builder.rollup, "execute", broken)
        failed = await failure(hand.builder.execute(hand.order(site.transfer(0))))
        assert ("ZeroDivisionError" in str(failed), failed.final) == (True, True)
        monkeypatch.setattr(hand.builder.rollup, "execute", real)
        assert (await hand.build(site.transfer(0))).block

    story(tale)


def test_a_block_that_takes_longer_than_its_time_is_final_and_the_next_is_not_blamed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        builder = hand.builder
        real, may_end = builder.rollup.execute, Event()

        def slow(*given: Any) -> Any:
            may_end.wait(STORY_S_MAX)
            return real(*given)

        monkeypatch.setattr(builder.rollup, "execute", slow)
        builder._thread._s_max, builder._thread._left_max = 0.05, 0
        failed = await failure(builder.execute(hand.order(site.transfer(0), site.transfer(1))))
        assert (str(failed), failed.final) == ("it takes longer than 0.05 s to execute", True)
        smaller = hand.order(site.transfer(0))
        failed = await failure(builder.execute(smaller))
        assert ("it is still executing" in str(failed), failed.final) == (True, False)
        builder._thread._s_max = STORY_S_MAX
        may_end.set()
        while builder._thread.is_busy():
            await asyncio.sleep(0.001)
        unwanted = builder.rollup.checked(site.transfer(1))
        assert await builder.receipt(unwanted) is None, "nobody waited for it"
        assert builder.state() is builder.state(At.FINALIZED)
        done: ExecutedBlock | None = None
        while done is None:
            try:
                done = await builder.execute(smaller)
            except BuildFailed:
                await asyncio.sleep(0.001)
        assert done.block

    story(tale)


def test_rules_that_never_return_for_one_transaction_hold_up_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether they execute its block or make a package of it, no restart is needed."""

    async def tale(site: Site) -> None:
        hand = await hands(site)
        builder, may_end, poison = hand.builder, Event(), site.transfer(0, amount=6)
        hashed = builder.rollup.checked(poison)
        execute, work = builder.rollup.execute, builder.rollup.work

        def wait_for(raws: Sequence[bytes]) -> None:
            if poison in raws:
                may_end.wait(STORY_S_MAX)

        def executed(state: Any, parent: Any, raws: Sequence[bytes], made_ms: int) -> Any:
            wait_for(raws)
            return execute(state, parent, raws, made_ms)

        def worked(state: Any, block: Any) -> Any:
            wait_for([TRANSFER.encode(one) for one in block.transfers])
            return work(state, block)

        try:
            with monkeypatch.context() as patch:
                patch.setattr(builder.rollup, "execute", executed)
                builder._thread._s_max = 0.05
                late = hand.order(poison, site.transfer(0, payer=THIRD))
                failed = await failure(builder.execute(late))
                assert (str(failed), failed.final) == (TOO_LATE, True)
                builder._thread._s_max = STORY_S_MAX
                assert (await hand.build(site.transfer(0, payer=THIRD))).block
            other = await hands(site)
            copied = await other.build(poison)
            with monkeypatch.context() as patch:
                patch.setattr(builder.rollup, "work", worked)
                builder._thread._s_max = 0.05
                context = await hand.chain.context(offset=1)
                failed = await failure(builder.package(version_order(copied), context))
                assert (str(failed), failed.final) == (TOO_LATE, True)
                builder._thread._s_max = STORY_S_MAX
            assert await builder.receipt(hashed) is None, "it left no trace"
            assert (await hand.package(hand.made[0])).block == hand.made[0].block
        finally:
            may_end.set()

    story(tale)


def test_an_order_for_what_a_final_block_executed_has_its_receipt() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        first = await hand.land(site.transfer(0))
        await hand.builder.notified(hand.settle())
        record = site.record(1)
        assert record is not None
        done = await hand.builder.execute(hand.order(site.transfer(0), site.transfer(1)))
        assert [one.verdict for one in done.judged] == ["applied", "included"]
        assert done.judged[0].receipt == LineReceipt(
            number=1, block=first.block, index=0, package_hash=record.package_hash, is_ok=True
        )
        late = hand.order(site.transfer(0), site.transfer(1), order=8)
        late = replace(late, expired=late.intents)
        looked = await hand.builder.execute(late)
        assert [one.verdict for one in looked.judged] == ["applied", "expired"]
        assert (looked.block, looked.judged[0].receipt) == (b"", done.judged[0].receipt)
        only = await hand.builder.execute(hand.order(site.transfer(0), order=9))
        assert (only.block, only.post_root) == (b"", only.pre_root)

    story(tale)


def test_a_builder_beside_another_says_what_keeps_it_from_building_and_builds_in_a_gap() -> None:
    async def tale(site: Site) -> None:
        other, hand = await hands(site), await hands(site)
        await other.land(site.transfer(0))
        order = build_order([site.transfer(0, payer=THIRD)], number=2)
        failed = await failure(hand.builder.execute(order))
        assert "block 1, which is not from here, and final is 0" in str(failed)
        assert str(failed).endswith("; stop the other deployment that builds on it, or wait")
        assert len(str(failed).encode()) <= REASON_KEPT_BYTES_MAX
        assert not failed.final
        other.settle()
        done = await hand.builder.execute(order)
        assert [one.verdict for one in done.judged] == ["included"]

    story(tale)


def test_what_is_accumulated_already_is_not_called_expired() -> None:
    """The store is put back from a copy that is older than the block."""

    async def tale(site: Site) -> None:
        hand = await hands(site)
        await hand.land(site.transfer(0))
        await hand.builder.notified(hand.settle())
        copied = hand.order(site.transfer(1), slot=9, order=9)
        done = await hand.land(site.transfer(1))
        package = hand.packages[done.block].package_hash
        await hand.builder.notified([tell("accumulated", done, 2, package)])
        late = replace(copied, expired=copied.intents)
        failed = await failure(hand.builder.execute(late))
        assert "the service has block 2, which others brought and is not final" in str(failed)
        assert (failed.final, failed.needs_help) == (False, False)
        hand.settle()
        assert hand.tip is not None
        known = {"number": 3, "parent": b"", "parent_root": b""}
        looked = await hand.builder.execute(replace(late, order=10, **known))
        assert [one.verdict for one in looked.judged] == ["applied"]

    story(tale)


def test_what_is_accumulated_already_is_not_called_impossible_to_build(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Others executed it, where the rules did not fail."""

    async def tale(site: Site) -> None:
        hand = await hands(site)
        await hand.land(site.transfer(0))
        await hand.builder.notified(hand.settle())
        copied = hand.order(site.transfer(1), slot=9, order=9)
        done = await hand.land(site.transfer(1))
        package = hand.packages[done.block].package_hash
        await hand.builder.notified([tell("accumulated", done, 2, package)])
        real = hand.builder.rollup.execute

        def broken(state: Any, block: Any, raws: Any, made_ms: int) -> Any:
            if raws:
                raise ZeroDivisionError
            return real(state, block, raws, made_ms)

        monkeypatch.setattr(hand.builder.rollup, "execute", broken)
        failed = await failure(hand.builder.execute(copied))
        assert "the service has block 2, which others brought and is not final" in str(failed)
        assert (failed.final, failed.needs_help) == (False, False)
        hand.settle()
        known = {"number": 3, "parent": b"", "parent_root": b"", "known": 1}
        looked = await hand.builder.execute(replace(copied, order=10, **known))
        assert [one.verdict for one in looked.judged] == ["applied"]

    story(tale)


def test_what_is_accumulated_already_is_not_called_impossible_to_pack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Others made a package of it, where the rules did not fail."""

    async def tale(site: Site) -> None:
        hand, other = await hands(site), await hands(site)
        copied = await hand.build(site.transfer(0))

        def broken(*_: Any) -> Any:
            raise ZeroDivisionError

        monkeypatch.setattr(hand.builder.rollup, "work", broken)
        order, context = version_order(copied), await hand.chain.context()
        failed = await failure(hand.builder.package(order, context))
        assert (failed.final, "ZeroDivisionError" in str(failed)) == (True, True)
        await other.land(site.transfer(0, amount=2))
        failed = await failure(hand.builder.package(order, await hand.chain.context()))
        assert "the service has block 1, which others brought and is not final" in str(failed)
        assert not failed.final

    story(tale)


def test_a_block_of_which_no_package_can_be_made_uses_up_no_nonce(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its transaction is called refused before the builder is notified that the block is dropped,
    and its caller sends another one with that nonce at once."""

    async def tale(site: Site) -> None:
        hand = await hands(site)
        builder = hand.builder
        below = await hand.build(site.transfer(0))
        done = await hand.build(site.transfer(1))
        above = await hand.build(site.transfer(2))
        with pytest.raises(BadRequest, match="nonce 1 was used"):
            builder.pool.check(site.transfer(1, amount=6))
        work = builder.rollup.work

        def broken(state: Any, block: Any) -> Any:
            if builder.rollup.sealed(block).hash == done.block:
                raise ZeroDivisionError
            return work(state, block)

        monkeypatch.setattr(builder.rollup, "work", broken)
        await hand.package(above)
        with pytest.raises(BadRequest, match="nonce 1 was used"):
            builder.pool.check(site.transfer(1, amount=6))
        failed = await failure(hand.package(done))
        assert failed.final
        assert builder.pool.check(site.transfer(1, amount=6))
        with pytest.raises(BadRequest, match="nonce 0 was used"):
            builder.pool.check(site.transfer(0, amount=6))
        assert builder._snapshots.get(below.block) is not None
        assert (await hand.build(site.transfer(3))).block, "its lane may still build on it"

    story(tale)


def test_what_is_accumulated_already_is_not_refused_beside_another_with_its_nonce() -> None:
    """Of two with one nonce others executed the one that would be the second here."""

    async def tale(site: Site) -> None:
        hand = await hands(site)
        await hand.land(site.transfer(0))
        await hand.builder.notified(hand.settle())
        copied = hand.order(site.transfer(1, amount=6), site.transfer(1), slot=9, order=9)
        await hand.land(site.transfer(1))
        failed = await failure(hand.builder.execute(copied))
        assert "the service has block 2, which others brought and is not final" in str(failed)
        assert (failed.final, failed.needs_help) == (False, False)
        hand.settle()
        known = {"number": 3, "parent": b"", "parent_root": b"", "known": 1}
        looked = await hand.builder.execute(replace(copied, order=10, **known))
        assert [one.verdict for one in looked.judged] == ["refused", "applied"]

    story(tale)


def test_what_is_in_no_block_of_the_service_is_called_expired_beside_open_blocks() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        await hand.land(site.transfer(0))
        await hand.build(site.transfer(1))
        late = hand.order(site.transfer(9))
        done = await hand.builder.execute(replace(late, expired=late.intents))
        assert [one.verdict for one in done.judged] == ["expired"]

    story(tale)


def test_an_order_after_the_builder_was_closed_is_refused_with_that() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        await hand.builder.aclose()
        failed = await failure(hand.builder.execute(hand.order(site.transfer(0))))
        assert str(failed) == "the builder is closed"

    story(tale)


# The door.


def test_the_door_refuses_what_can_be_in_no_block_any_more() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        pool = hand.builder.pool
        with pytest.raises(BadRequest, match="a transfer has 144"):
            pool.check(b"nothing")
        known = pool.check(site.transfer(0))
        await hand.build(site.transfer(0))
        with pytest.raises(BadRequest, match="its nonce 0 was used; the account's next is 1"):
            pool.check(site.transfer(0, amount=6))
        assert pool.check(site.transfer(0)) == known, "whether it is a second one, its key tells"
        pool.check(site.transfer(1))
        pool.check(site.transfer(0, payer=THIRD))

    story(tale)


def test_nothing_is_known_of_what_never_was() -> None:
    async def tale(site: Site) -> None:
        builder = await site.builder()
        assert await builder.receipt(b"x" * 32) is None
        assert await builder.block(1) is None
        assert await builder.block_by_hash(b"x" * 32) is None
        assert builder.state().account(b"x" * 32).balance == 0
        assert len(BALANCES) == 10

    story(tale)


@pytest.mark.parametrize("name", ["decode", "replay"])
def test_rules_that_choke_on_a_block_below_are_no_fault_of_what_is_ordered(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A builder that has to make that block again fails with their words, and can be asked again;
    of a package only the payload itself is at fault."""

    def raising(*_: Any) -> Any:
        raise ValueError("rules that choke")

    async def tale(site: Site) -> None:
        hand = await hands(site)
        await hand.build(site.transfer(0))
        done = await hand.build(site.transfer(1))
        other = await site.builder()
        context = await hand.chain.context(offset=1)
        with monkeypatch.context() as patch:
            patch.setattr(LedgerRules, name, raising)
            with pytest.raises(BuildFailed, match="rules raised ValueError") as failed:
                await other.execute(hand.order(site.transfer(2)))
            assert not failed.value.final
            with pytest.raises(BuildFailed, match="rules raised ValueError") as failed:
                await other.package(hand.version(done), context)
            assert failed.value.final == (name == "decode")
        await other.execute(hand.order(site.transfer(2)))
        await other.package(hand.version(done), context)

    story(tale)


def test_rules_that_choke_on_a_notification_are_said_and_it_comes_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def raising(*_: Any) -> Any:
        raise ValueError("rules that choke")

    async def tale(site: Site) -> None:
        hand = await hands(site)
        await hand.land(site.transfer(0))
        tells = hand.settle()
        with monkeypatch.context() as patch:
            patch.setattr(LedgerRules, "changes", raising)
            with pytest.raises(BuildFailed, match="rules raised ValueError"):
                await hand.builder.notified(tells)
        await hand.builder.notified(tells)
        assert hand.builder.heads.final.sealed.number == 1

    story(tale)


@pytest.mark.parametrize("is_overdue", [True, False])
def test_rules_that_never_return_keep_no_builder_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_overdue: bool
) -> None:
    """Its file is closed safely, and another builder goes on with it."""
    monkeypatch.setattr("laneway.builder.builder.CLOSE_S_MAX", 0.1)
    may_end, path = Event(), str(tmp_path / "builder.db")
    execute = LedgerRules.execute
    begun = Event()

    def slow(rules: LedgerRules, *given: Any) -> Any:
        begun.set()
        may_end.wait(60)
        return execute(rules, *given)

    async def tale(site: Site) -> None:
        hand = await hands(site, path)
        await hand.build(site.transfer(0))
        hand.builder._thread._s_max = 0.05 if is_overdue else 60
        with monkeypatch.context() as patch:
            patch.setattr(LedgerRules, "execute", slow)
            order = asyncio.create_task(hand.build(site.transfer(1)))
            while not begun.is_set():
                await asyncio.sleep(0.005)
            if is_overdue:
                with pytest.raises(BuildFailed, match="it takes longer"):
                    await order
            await hand.builder.aclose()
            await asyncio.gather(order, return_exceptions=True)
            again = await site.builder(path)
            assert again.heads.newest.sealed.number == 1
            may_end.set()
            await hand.builder.aclose()
            await again.aclose()

    story(tale)
