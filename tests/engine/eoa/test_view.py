"""A chain as its accounts see it together: blocks read once, reorgs told to each of them."""

import asyncio
from collections.abc import Sequence

import pytest
from tests.engine.eoa.stage import Stage, fees_of, ref

from laneway.core.facts import BlockRef, BlockSeen, BlocksSeen
from laneway.engine.eoa import view as view_module
from laneway.engine.eoa.view import Since
from laneway.engine.limits import BLOCKS_ASKED, BLOCKS_KEPT_MAX, BLOCKS_ROUNDS_MAX, FEES_KEPT_MS

FAR = BLOCKS_ASKED * BLOCKS_ROUNDS_MAX


def numbers(since: Since | None) -> list[int] | None:
    assert since is not None
    return None if since.blocks is None else [seen.block.number for seen in since.blocks]


def test_fees_are_asked_once_while_they_are_fresh() -> None:
    stage = Stage()

    async def story() -> None:
        await stage.view.fees_now()
        await stage.view.fees_now()
        assert stage.chain.asked == ["fees"]
        stage.chain.fees_said = fees_of(base_wei=7)
        await asyncio.sleep(FEES_KEPT_MS / 1000)
        assert (await stage.view.fees_now()).base_fee_wei == 7

    stage.run(story())


def test_who_knows_no_block_begins_at_the_newest() -> None:
    stage = Stage()
    stage.chain.mine(count=3)
    assert stage.run(stage.view.since(None, ref(3))) == Since(())


def test_blocks_are_read_once_for_all_accounts() -> None:
    stage = Stage()
    view, chain = stage.view, stage.chain

    async def story() -> None:
        first = chain.newest()
        await view.since(None, first)
        newest = chain.mine(count=3)
        asked = len(chain.asked)
        assert numbers(await view.since(first, newest)) == [1, 2, 3]
        assert len(chain.asked) == asked + 1
        assert chain.asked_blocks[-1] == 3, "no more of them than there are"
        assert numbers(await view.since(ref(1), newest)) == [2, 3]
        assert numbers(await view.since(newest, newest)) == []
        assert len(chain.asked) == asked + 1, "the second account's blocks are known"

    stage.run(story())


def test_a_reorg_is_told_to_every_account_that_knew_the_lost_block() -> None:
    stage = Stage()
    view, chain = stage.view, stage.chain

    async def story() -> None:
        await view.since(None, chain.newest())
        lost = chain.mine(count=4)
        await view.since(ref(0), lost)
        chain.set_back(2)
        newest = chain.mine(count=3, branch="b")
        for known in (lost, ref(3)):
            since = await view.since(known, newest)
            assert (numbers(since), since.fork if since else 0) == ([3, 4, 5], 2)
        kept = await view.since(ref(1), newest)
        assert (numbers(kept), kept.fork if kept else 0) == ([2, 3, 4, 5], None)

    stage.run(story())


def test_an_orphan_of_an_orphan_leads_to_the_lowest_fork() -> None:
    """A second reorg goes deeper than the first: who slept through both hears of the deeper one."""
    stage = Stage()
    view, chain = stage.view, stage.chain

    async def story() -> None:
        await view.since(None, chain.newest())
        first = chain.mine(count=4)
        await view.since(ref(0), first)
        chain.set_back(3)
        second = chain.mine(count=2, branch="b")
        await view.since(ref(0), second)
        chain.set_back(1)
        third = chain.mine(count=5, branch="c")
        for known in (first, second):
            since = await view.since(known, third)
            assert since is not None
            assert (numbers(since), since.fork) == ([2, 3, 4, 5, 6], 1)

    stage.run(story())


def test_who_is_far_behind_is_told_that_there_are_too_many() -> None:
    stage = Stage()
    chain = stage.chain
    newest = chain.mine(count=FAR + 40)
    assert stage.run(stage.view.since(ref(1), newest)) == Since(None)


def test_a_lane_that_was_just_loaded_reads_what_is_behind_its_block() -> None:
    stage = Stage()
    newest = stage.chain.mine(count=20)
    assert numbers(stage.run(stage.view.since(ref(5), newest))) == list(range(6, 21))


def test_a_known_block_from_before_all_that_is_kept_and_gone_takes_back_everything() -> None:
    stage = Stage()
    newest = stage.chain.mine(count=20)
    since = stage.run(stage.view.since(BlockRef(5, b"gone"), newest))
    assert since == Since(None, fork=0)


def test_a_view_that_slept_forgets_and_begins_anew() -> None:
    stage = Stage()
    view, chain = stage.view, stage.chain

    async def story() -> None:
        await view.since(None, chain.newest())
        newest = chain.mine(count=3 * FAR)
        assert await view.since(ref(0), newest) == Since(None)
        assert numbers(await view.since(newest, newest)) == []

    stage.run(story())


def test_only_so_many_blocks_are_kept() -> None:
    stage = Stage()
    view, chain = stage.view, stage.chain

    async def story() -> None:
        await view.since(None, chain.newest())
        for _ in range(BLOCKS_KEPT_MAX // 32 + 2):
            known = chain.newest()
            chain.mine(count=32)
            assert len(numbers(await view.since(known, chain.newest())) or []) == 32
        assert len(view._blocks) == BLOCKS_KEPT_MAX

    stage.run(story())


def test_a_node_that_lags_is_not_believed_and_is_no_reorg() -> None:
    stage = Stage()
    view, chain = stage.view, stage.chain

    async def story() -> None:
        await view.since(None, chain.newest())
        newest = chain.mine(count=3)
        await view.since(ref(0), newest)
        assert await view.since(newest, ref(2)) is None, "its account is older than what we know"
        # The account was read at a block that the node behind the next question has not seen.
        assert await view.since(newest, ref(9)) is None
        chain.set_back(2)
        assert await view.since(newest, ref(2)) is None
        chain.mine()
        assert numbers(await view.since(newest, ref(3))) == []

    stage.run(story())


def test_a_loaded_block_above_a_lagging_nodes_head_waits() -> None:
    stage = Stage()
    newest = stage.chain.mine(count=3)
    assert stage.run(stage.view.since(ref(9), newest)) is None


@pytest.mark.parametrize("behind", [0, 2, FAR])
def test_a_node_that_still_has_the_lost_branch_does_not_vouch_for_the_new_one(behind: int) -> None:
    """One node showed the newest block of the new branch; another still has the block that we knew,
    of the old one, and others up to the same height. What was mined in between must not pass for
    what stands."""
    stage = Stage()
    known, newest = BlockRef(9, b"old"), stage.chain.mine(count=9 + behind)
    honest = stage.chain.blocks

    async def blocks(asked: Sequence[BlockRef], limit: int, _node: str) -> BlocksSeen:
        if asked != [known]:
            return await honest(asked, limit)
        old = [BlockRef(known.number + place, b"old") for place in range(1, behind + 1)]
        seen = tuple(BlockSeen(block, b"old", ()) for block in old)
        return BlocksSeen(known, seen, BlockRef(99, b"old"), "the other")

    stage.chain.blocks = blocks  # type: ignore[assignment]
    assert stage.run(stage.view.since(known, newest)) is None


def test_two_that_look_at_once_read_the_blocks_once() -> None:
    stage = Stage()
    view, chain = stage.view, stage.chain

    async def story() -> None:
        await view.since(None, chain.newest())
        newest = chain.mine(count=2)
        chain.asked.clear()
        both = await asyncio.gather(view.since(ref(0), newest), view.since(ref(1), newest))
        assert [numbers(one) for one in both] == [[1, 2], [2]]
        assert chain.asked == ["blocks"]

    stage.run(story())


def test_a_lost_block_that_is_forgotten_takes_back_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Too much is asked for again, and nothing too little."""
    monkeypatch.setattr(view_module, "ORPHANS_KEPT_MAX", 1)
    stage = Stage()
    view, chain = stage.view, stage.chain

    async def story() -> None:
        await view.since(None, chain.newest())
        lost = chain.mine(count=3)
        await view.since(ref(0), lost)
        chain.set_back(0)
        newest = chain.mine(count=4, branch="b")
        assert await view.since(lost, newest) == Since(None, fork=0)
        assert (await view.since(ref(1), newest)) is not None

    stage.run(story())


def test_a_chain_that_runs_away_is_looked_at_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_module, "BLOCKS_ASKED", 1)
    monkeypatch.setattr(view_module, "BLOCKS_ROUNDS_MAX", 3)
    stage = Stage()
    view, chain = stage.view, stage.chain

    async def story() -> None:
        await view.since(None, chain.newest())
        chain.mine(count=2)
        upto = BlockRef(3, b"not mined yet")
        chain.mine()
        assert await view.since(ref(0), upto) is None
        assert numbers(await view.since(ref(0), ref(3))) == [1, 2, 3]

    stage.run(story())
