"""A builder that nobody orders anything of: it has what is final when it opens, follows what
becomes final, and says so when it cannot."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.builder.stage import (
    FIRST,
    LEDGER,
    SERVICE,
    Hands,
    LedgerBuilder,
    Site,
    hands,
    story,
    tell,
)
from tests.builder.test_sync import Bent

from laneway.builder import following
from laneway.builder.following import Follower
from laneway.builder.opener import open_builder
from laneway.builder.sync import FinalUnknown
from laneway.core.errors import BuildFailed, ChainUnreachable, ChainUnreadable
from laneway.core.jam import JamHead
from laneway.jam.service.commitment import HEAD_KEY
from laneway.rollups.ledger.rules import LedgerRules
from laneway.rollups.receipts import At

SLOT_MS = 20


async def until(is_so: Callable[[], bool]) -> None:
    """The story has a bound of its own."""
    while not is_so():
        await asyncio.sleep(0.005)


async def bent_builder(site: Site, bent: Bent, **options: Any) -> LedgerBuilder:
    builder = await open_builder(
        LEDGER,
        bent,  # type: ignore[arg-type]
        SERVICE,
        None,
        genesis=site.genesis,
        **options,
    )
    site._closing.append(builder.aclose)
    return builder


async def landed(site: Site, count: int) -> Hands:
    """So many final blocks of one transfer each, by a builder that was told of none of them."""
    hand = await hands(site)
    for nonce in range(count):
        await hand.land(site.transfer(nonce))
    hand.settle()
    return hand


def nonce(builder: LedgerBuilder) -> int:
    return builder.state(At.FINALIZED).account(FIRST.id).nonce


# When it opens.


@pytest.mark.slow
def test_a_builder_that_opens_has_all_that_is_final() -> None:
    async def tale(site: Site) -> None:
        await landed(site, 2)
        other = await site.builder()
        assert (nonce(other), other.heads.final.sealed.number, other.lag) == (2, 2, "")
        receipt = await other.receipt(other.rollup.checked(site.transfer(1)))
        assert receipt is not None
        assert (receipt.number, receipt.is_final) == (2, True)

    story(tale)


@pytest.mark.slow
def test_a_builder_whose_file_is_gone_knows_its_accounts_before_any_order(tmp_path: Path) -> None:
    async def tale(site: Site) -> None:
        path = str(tmp_path / "builder.db")
        hand = await hands(site, path)
        await hand.land(site.transfer(0))
        await hand.builder.notified(hand.settle())
        await hand.builder.aclose()
        Path(path).unlink()
        again = await site.builder(path)
        assert nonce(again) == again.state().account(FIRST.id).nonce == 1

    story(tale)


@pytest.mark.slow
def test_a_builder_that_cannot_read_what_is_final_opens_and_says_that_it_lags(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def tale(site: Site) -> None:
        await landed(site, 1)
        bent = Bent(await site.chain())
        bent.segments = ChainUnreadable("node", "segment unavailable")
        builder = await bent_builder(site, bent, slot_ms=SLOT_MS)
        assert "no node has the segments of its package" in builder.lag
        assert builder.heads.final.sealed.number == 0
        bent.segments = ChainUnreachable("node", "it is gone")
        await until(lambda: "it is gone" in builder.lag)
        bent.segments = None
        await until(lambda: not builder.lag)
        assert nonce(builder) == 1
        # The follower says so when all of catching up is done, not when the lag is gone.
        await until(lambda: len(caplog.records) > 1)

    with caplog.at_level(logging.INFO, "laneway.builder"):
        story(tale)
    said = [(line.levelname, line.getMessage().split(":")[0]) for line in caplog.records]
    assert said == [
        ("WARNING", "The builder cannot follow the chain, and tries again"),
        ("INFO", "The builder follows the chain again"),
    ]


@pytest.mark.slow
def test_a_file_that_is_ahead_of_the_chain_lags_until_the_chain_has_its_block(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "builder.db")

    async def first(site: Site) -> None:
        hand = await hands(site, path)
        await hand.land(site.transfer(0))
        await hand.builder.notified(hand.settle())

    async def second(site: Site) -> None:
        builder = await site.builder(path, slot_ms=SLOT_MS)
        assert "the builder has block 1, and final on the chain is 0" in builder.lag
        await landed(site, 1)
        await until(lambda: not builder.lag)

    story(first)
    story(second)


# While it is open.


@pytest.mark.slow
def test_a_builder_without_orders_follows_what_becomes_final() -> None:
    async def tale(site: Site) -> None:
        idle = await site.builder(slot_ms=SLOT_MS)
        hand = await landed(site, 2)
        await until(lambda: idle.heads.final.sealed.number == 2)
        assert nonce(idle) == 2
        hand.final_count = 2
        await hand.land(site.transfer(2))
        hand.settle()
        await until(lambda: idle.heads.final.sealed.number == 3 and not idle.lag)

    story(tale)


@pytest.mark.slow
def test_blocks_of_its_own_become_final_without_being_read() -> None:
    async def tale(site: Site) -> None:
        bent = Bent(await site.chain())
        bent.segments = ChainUnreadable("node", "nobody asks for them")
        builder = await bent_builder(site, bent, slot_ms=SLOT_MS)
        hand = Hands(site, builder, await site.chain())
        await hand.land(site.transfer(0))
        tells = hand.settle()
        await until(lambda: builder.heads.final.sealed.number == 1)
        await builder.notified(tells)
        done = await hand.build(site.transfer(1))
        assert [one.verdict for one in done.judged] == ["included"]

    story(tale)


@pytest.mark.slow
def test_a_node_that_falls_behind_changes_nothing_of_what_is_known() -> None:
    async def tale(site: Site) -> None:
        bent = Bent(await site.chain())
        early = (await bent.head()).best.header_hash
        await landed(site, 1)
        builder = await bent_builder(site, bent)
        bent.values = {HEAD_KEY: await bent.service_value(early, SERVICE, HEAD_KEY)}
        await builder.catch_up()
        assert (nonce(builder), builder.lag) == (1, "")
        bent.is_final_known = False
        with pytest.raises(FinalUnknown, match="knows no final block"):
            await builder.catch_up()
        assert builder.lag == ""

    story(tale)


@pytest.mark.slow
def test_orders_go_before_what_is_read_of_the_chain() -> None:
    async def tale(site: Site) -> None:
        one = await landed(site, 1)
        bent = Slow(await site.chain())
        bent.may_go_on.set()
        two = await bent_builder(site, bent)
        bent.hold()
        order = one.order(site.transfer(1, amount=77))
        await one.land(site.transfer(1))
        await one.land(site.transfer(2))
        tells = one.settle()
        reading = asyncio.create_task(two.catch_up())
        await bent.asked.wait()
        # The page is under way, and the builder does what it is told meanwhile.
        await two.execute(order)
        assert two.heads.newest.sealed.number == 2
        bent.may_go_on.set()
        await reading
        assert (two.heads.newest.sealed.number, two.heads.final.sealed.number) == (3, 3)
        await two.notified(tells)

    story(tale)


@pytest.mark.slow
def test_what_was_given_up_or_brought_by_an_order_is_not_applied_twice() -> None:
    async def tale(site: Site) -> None:
        bent = Slow(await site.chain())
        two = await bent_builder(site, bent)
        hand = await hands(site)
        await hand.land(site.transfer(0))
        await hand.land(site.transfer(1))
        tells = hand.settle()
        reading = asyncio.create_task(two.catch_up())
        await bent.asked.wait()
        bent.may_go_on.set()
        while not two._turn.locked():
            await asyncio.sleep(0)
        # In the middle of a block, which its thread still finishes.
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        assert "it reads blocks 1 to 2 from" in two.lag
        await asyncio.gather(two.catch_up(), two.notified(tells), two.catch_up())
        assert (two.heads.final.sealed.number, two.lag) == (2, "")

    story(tale)


@pytest.mark.slow
def test_what_was_known_and_is_gone_again_is_read() -> None:
    async def tale(site: Site) -> None:
        one = await hands(site)
        bent = Slow(await site.chain())
        two = await bent_builder(site, bent)
        first = await two.execute(one.order(site.transfer(0)))
        await one.land(site.transfer(0))
        await one.land(site.transfer(1))
        one.settle()
        reading = asyncio.create_task(two.catch_up())
        await bent.asked.wait()
        await two.notified([tell("failed", first)])
        bent.may_go_on.set()
        await reading
        assert (two.heads.final.sealed.number, two.lag) == (2, "")

    story(tale)


class Slow(Bent):
    """Its segments come when a story lets them."""

    def __init__(self, chain: Any) -> None:
        super().__init__(chain)
        self.asked = asyncio.Event()
        self.may_go_on = asyncio.Event()

    def hold(self) -> None:
        self.asked.clear()
        self.may_go_on.clear()

    async def package_segments(self, package_hash: bytes, indices: Any) -> tuple[bytes, ...]:
        self.asked.set()
        await self.may_go_on.wait()
        return await super().package_segments(package_hash, indices)


@pytest.mark.slow
def test_another_history_than_the_chains_is_told_as_that(tmp_path: Path) -> None:
    path = str(tmp_path / "builder.db")

    async def first(site: Site) -> None:
        hand = await hands(site, path)
        await hand.land(site.transfer(0))
        await hand.builder.notified(hand.settle())

    async def second(site: Site) -> None:
        builder = await site.builder(path)
        other = await hands(site)
        await other.land(site.transfer(0, amount=77))
        other.settle()
        with pytest.raises(BuildFailed, match="the chain has another block 1"):
            await builder.catch_up()
        assert "the chain has another block 1" in builder.lag

    story(first)
    story(second)


@pytest.mark.slow
def test_a_builder_that_is_closed_follows_nothing_more() -> None:
    async def tale(site: Site) -> None:
        bent = Counting(await site.chain())
        builder = await bent_builder(site, bent, slot_ms=SLOT_MS)
        await until(lambda: bent.heads_asked > 3)
        await builder.aclose()
        asked = bent.heads_asked
        await asyncio.sleep(5 * SLOT_MS / 1_000)
        assert bent.heads_asked == asked
        await landed(site, 1)
        with pytest.raises(BuildFailed, match="closed"):
            await builder.catch_up()

    story(tale)


class Counting(Bent):
    heads_asked = 0

    async def head(self) -> JamHead:
        self.heads_asked += 1
        return await super().head()


# How it goes about it.


def test_trouble_is_told_once_and_asked_for_ever_less_often(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "PAUSE_SLOTS_MAX", 4)
    pauses: list[float] = []
    monkeypatch.setattr(following, "now_s", lambda: sum(pauses))

    async def paused(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 9:
            raise asyncio.CancelledError

    answers = iter([ChainUnreachable("node", str(n)) for n in range(4)])

    async def catch_up() -> None:
        failed = next(answers, None)
        if failed is not None:
            raise failed

    async def whole() -> None:
        follower = Follower(catch_up, 1_000)
        monkeypatch.setattr(following, "sleep", paused)
        with pytest.raises(asyncio.CancelledError):
            await follower._follow()

    with caplog.at_level(logging.INFO, "laneway.builder"):
        asyncio.run(whole())
    assert pauses == [1, 2, 4, 4, 4, 1, 1, 1, 1]
    assert [line.levelname for line in caplog.records] == ["WARNING", "INFO"]


def test_nothing_is_asked_while_there_are_orders() -> None:
    asked: list[None] = []

    async def catch_up() -> None:
        asked.append(None)

    async def whole() -> None:
        follower = Follower(catch_up, SLOT_MS)
        follower.start()
        for _ in range(10):
            follower.ordered()
            await asyncio.sleep(SLOT_MS / 4_000)
        assert asked == []
        await until(lambda: len(asked) > 1)
        await follower.stop()
        await follower.stop()

    asyncio.run(whole())


def test_who_asks_right_behind_a_failure_is_not_kept_waiting() -> None:
    asked: list[None] = []

    async def catch_up() -> None:
        asked.append(None)
        raise ChainUnreachable("node", "it is gone")

    async def whole() -> None:
        follower = Follower(catch_up, 60_000)
        found = await asyncio.gather(*(follower.attempt() for _ in range(3)))
        assert found == [False, False, False]
        assert len(asked) == 1

    asyncio.run(whole())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["replay", "from_segments", "changes"])
def test_rules_that_choke_on_a_final_block_are_said_and_asked_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """It says so once, shows why its states are old, and goes on when they work."""

    def raising(*_: Any) -> Any:
        raise ValueError("rules that choke")

    async def tale(site: Site) -> None:
        hand = await hands(site)
        other = await site.builder(slot_ms=SLOT_MS)
        await hand.land(site.transfer(0))
        with monkeypatch.context() as patch:
            patch.setattr(LedgerRules, name, raising)
            hand.settle()
            await until(lambda: "the rollup's rules raised ValueError" in other.lag)
            assert not await other.caught_up()
        await until(lambda: other.heads.final.sealed.number == 1)
        await until(lambda: other.lag == "")
        await other.aclose()

    with caplog.at_level(logging.INFO, "laneway.builder"):
        story(tale)
    assert caplog.text.count("cannot follow the chain") == 1
    assert "follows the chain again" in caplog.text


def test_an_error_that_nobody_expects_ends_no_follower() -> None:
    failures: list[Exception] = [ValueError("one"), KeyError("two")]
    asked: list[None] = []

    async def catch_up() -> None:
        asked.append(None)
        if failures:
            raise failures.pop()

    async def whole() -> None:
        follower = Follower(catch_up, SLOT_MS)
        follower.start()
        await until(lambda: len(asked) > 3)
        await follower.stop()

    asyncio.run(whole())


def test_stopping_ends_what_is_asked() -> None:
    ended: list[None] = []
    begun = asyncio.Event()

    async def catch_up() -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append(None)

    async def whole() -> None:
        follower = Follower(catch_up, SLOT_MS)
        follower.start()
        await begun.wait()
        await follower.stop()
        assert ended == [None], "all of it, before anything is closed"

    asyncio.run(whole())


@pytest.mark.slow
def test_a_builder_without_orders_keeps_states_beside_its_file_too(tmp_path: Path) -> None:
    """Without them its file could not be lost once nodes have forgotten the first blocks."""

    async def tale(site: Site) -> None:
        await site.builder(str(tmp_path / "idle.db"), slot_ms=SLOT_MS)
        await landed(site, 1)
        await until((tmp_path / "idle.db-state-1").exists)

    story(tale)
