"""What people ask of a builder: never of an old state, and as values."""

from pathlib import Path
from typing import Any

import pytest
from tests.builder.stage import FIRST, Hands, Site, hands, story, tell

from laneway.builder.reads import BuilderReads
from laneway.core.errors import BadRequest
from laneway.lanes.bundle.rows import Tip
from laneway.ports import ExecutedBlock, RollupReads
from laneway.rollups.ledger.limits import BALANCE_DEV
from laneway.rollups.receipts import AccountView

pytestmark = pytest.mark.slow


def tip(number: int, done: ExecutedBlock) -> Tip:
    return Tip(number, done.block, done.post_root)


def seen(view: AccountView) -> tuple[Any, ...]:
    spent = BALANCE_DEV - view.asked.balance
    return (spent, view.asked.nonce, view.nonce, view.number, view.at, view.is_newest)


async def three(site: Site, **options: Any) -> tuple[Hands, BuilderReads[Any, Any], list[Tip]]:
    """One block final, one accumulated on it, one built on that."""
    hand = await hands(site, **options)
    first = await hand.land(site.transfer(0))
    await hand.builder.notified(hand.settle())
    second = await hand.build(site.transfer(1))
    third = await hand.build(site.transfer(2))
    await hand.builder.notified([tell("accumulated", second, 2)])
    tips = [tip(1, first), tip(2, second), tip(3, third)]
    return hand, BuilderReads(hand.builder), tips


def test_an_account_is_shown_as_the_newest_block_leaves_it_or_the_newest_final() -> None:
    async def tale(site: Site) -> None:
        _, reads, tips = await three(site)
        asked = await reads.account(FIRST.id, tips[2])
        assert seen(asked) == (15, 3, 3, 3, "pending", True)
        assert (BALANCE_DEV - asked.final.balance, asked.final.nonce) == (5, 1)
        assert (await reads.latest(FIRST.id)).nonce == 3
        assert seen(await reads.account(FIRST.id, None)) == (5, 1, 1, 1, "finalized", False)
        missing = Tip(4, b"x" * 32, b"")
        assert seen(await reads.account(FIRST.id, missing)) == (5, 1, 1, 1, "finalized", False)
        assert seen(await reads.account(FIRST.id, tips[0])) == (5, 1, 1, 1, "pending", True)

    story(tale)


def test_latest_may_mean_what_is_accumulated_and_the_nonce_is_still_the_newest() -> None:
    async def tale(site: Site) -> None:
        _, reads, tips = await three(site, latest_is_safe=True)
        assert seen(await reads.account(FIRST.id, tips[2])) == (10, 2, 3, 2, "safe", True)
        assert (await reads.latest(FIRST.id)).nonce == 2
        assert seen(await reads.account(FIRST.id, None)) == (5, 1, 1, 1, "finalized", False)

    story(tale)


def test_it_says_why_its_answers_would_be_old() -> None:
    async def tale(site: Site) -> None:
        hand, found, tips = await three(site)
        reads: RollupReads = found
        assert await reads.problem(Tip(0, b"", b""), held=False) == ""
        assert await reads.problem(tips[0], held=False) == ""
        assert await reads.problem(tips[1], held=True) == "", "its state is here"
        behind = "it has block 1, and block 2 is final"
        assert await reads.problem(tips[1], held=False) == behind
        hand.builder.lag = "it reads blocks"
        assert await reads.problem(tips[0], held=True) == "it reads blocks"
        await reads.catch_up()
        assert await reads.problem(tips[0], held=False) == ""

    story(tale)


def test_transactions_are_let_in_named_and_found_again() -> None:
    async def tale(site: Site) -> None:
        hand, reads, _ = await three(site)
        fresh, used = site.transfer(3), site.transfer(0, amount=6)
        assert await reads.check(fresh) == await reads.hash_of(fresh)
        assert hand.builder.pool.view().waiting == 1
        with pytest.raises(BadRequest, match="its nonce 0 was used"):
            await reads.check(used)
        assert await reads.spent(used) == (FIRST.id, 0)
        receipt = await reads.receipt(await reads.hash_of(site.transfer(1)))
        assert receipt is not None
        assert (receipt.number, receipt.is_canonical, receipt.is_final) == (2, True, False)
        block = await reads.block(1)
        assert block is not None
        assert block.is_final
        assert await reads.block(9) is None

    story(tale)


def test_open_blocks_that_a_restored_lane_knows_nothing_of_use_up_no_nonce(tmp_path: Path) -> None:
    async def tale(site: Site) -> None:
        path = str(tmp_path / "builder.db")
        hand = await hands(site, path)
        first = await hand.land(site.transfer(0))
        await hand.builder.notified(hand.settle())
        for nonce in (1, 2, 3):
            await hand.build(site.transfer(nonce))
        await hand.builder.aclose()

        hand.builder, hand.made = await site.builder(path), []
        reads: BuilderReads[Any, Any] = BuilderReads(hand.builder)
        assert seen(await reads.account(FIRST.id, tip(1, first)))[:3] == (5, 1, 1)
        with pytest.raises(BadRequest, match=r"nonce 0 was used; the account's next is 1"):
            await reads.check(site.transfer(0, amount=9))
        other = site.transfer(1, amount=9)
        await reads.check(other)
        early = await hand.build(site.transfer(4))
        assert [one.verdict for one in early.judged] == ["deferred"]
        assert (await reads.latest(FIRST.id)).nonce == 1
        await hand.build(other)
        assert (await reads.latest(FIRST.id)).nonce == 2
        await reads.check(site.transfer(2, amount=9))
        with pytest.raises(BadRequest, match=r"nonce 1 was used; the account's next is 2"):
            await reads.check(site.transfer(1, amount=8))

    story(tale)


def test_blocks_that_a_lane_brings_use_up_their_nonces() -> None:
    async def tale(site: Site) -> None:
        hand, _, _ = await three(site)
        builder = await site.builder(None)
        reads: BuilderReads[Any, Any] = BuilderReads(builder)
        _, last = hand.made
        await builder.execute(hand.order(site.transfer(3), number=4))
        assert (await reads.latest(FIRST.id)).nonce == 4
        with pytest.raises(BadRequest, match="the account's next is 4"):
            await reads.check(site.transfer(2, amount=9))
        assert last.block == builder.heads.newest.sealed.parent

    story(tale)
