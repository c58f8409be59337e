"""Files that are lost, stale, damaged or another's, and what a builder does with each."""

import asyncio
import logging
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.builder.stage import DOMAIN, Hands, Site, hands, story, tell

from laneway.builder.builder import ChainedBuilder
from laneway.core.errors import BuildFailed, StoreRefused
from laneway.rollups.ledger.rules import LedgerRules
from laneway.rollups.ledger.state import LedgerState, genesis_state
from laneway.rollups.receipts import At

pytestmark = pytest.mark.slow


def changed(path: str, *statements: str) -> None:
    with apsw.Connection(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


async def left(site: Site, path: str) -> Hands:
    """A file with one final block, one that is accumulated, and one more on that."""
    hand = await hands(site, path)
    await hand.land(site.transfer(0))
    await hand.builder.notified(hand.settle())
    second = await hand.build(site.transfer(1))
    await hand.build(site.transfer(2))
    await hand.builder.notified([tell("accumulated", second, 2)])
    await hand.builder.aclose()
    return hand


def written(builder: ChainedBuilder[Any, Any]) -> Future[None]:
    """The state that is being written beside the file."""
    writing = builder._keeper._writing
    assert writing is not None
    return writing


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "builder.db")


def test_a_builder_goes_on_where_its_file_ends(path: str) -> None:
    async def tale(site: Site) -> None:
        hand = await left(site, path)
        again = await site.builder(path)
        numbers = (
            again.heads.newest.sealed.number,
            again.heads.accumulated.sealed.number,
            again.heads.final.sealed.number,
        )
        assert numbers == (3, 2, 1)
        assert again.state(At.PENDING).root == hand.made[-1].post_root
        assert again.pool.view().built == 1
        assert again.pool.view().removed == 1
        order = hand.order(site.transfer(3))
        await hand.builder.aclose()
        done = await again.execute(order)
        assert [one.verdict for one in done.judged] == ["included"]

    story(tale)


def test_a_lost_file_loses_nothing(path: str) -> None:
    async def tale(site: Site) -> None:
        hand = await left(site, path)
        Path(path).unlink()
        again = await site.builder(path)
        done = await again.execute(hand.order(site.transfer(3)))
        assert [one.verdict for one in done.judged] == ["included"]
        assert (again.heads.newest.sealed.number, again.heads.final.sealed.number) == (4, 1)

    story(tale)


def test_a_stale_file_catches_up_with_the_chain(path: str) -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site, path)
        await hand.land(site.transfer(0))
        await hand.builder.notified(hand.settle())
        await hand.builder.aclose()
        other = Hands(site, await site.builder(), hand.chain)
        other.tip, other.final_count = hand.tip, 1
        for nonce in (1, 2):
            await other.land(site.transfer(nonce))
        other.settle()
        again = await site.builder(path)
        assert again.heads.final.sealed.number == 3, "before anything is ordered"
        done = await again.execute(other.order(site.transfer(3)))
        assert [one.verdict for one in done.judged] == ["included"]

    story(tale)


def test_a_file_of_another_ledger_is_refused_with_what_to_do(path: str) -> None:
    async def tale(site: Site) -> None:
        await left(site, path)
        changed(path, "UPDATE about SET value = x'00' WHERE name = 'identity'")
        with pytest.raises(StoreRefused, match="of another rollup") as refused:
            await site.builder(path)
        assert "name another file, or delete it" in str(refused.value)

    story(tale)


def test_a_file_whose_state_is_not_its_blocks_and_without_states_is_damaged(path: str) -> None:
    async def tale(site: Site) -> None:
        await left(site, path)
        Path(f"{path}-state-1").unlink(missing_ok=True)
        changed(path, "UPDATE entries SET value = x'0000000000000000000000000000ff00'")
        with pytest.raises(StoreRefused, match="its state is not that after block 1"):
            await site.builder(path)
        changed(path, "UPDATE base SET payload = x'00'")
        with pytest.raises(StoreRefused, match="the payload is no block"):
            await site.builder(path)

    story(tale)


def test_a_file_whose_rules_named_wrong_changes_goes_on_from_a_state(
    path: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each start with it ended at once, also with rules that were mended."""

    async def tale(site: Site) -> None:
        hand = await hands(site, path)
        await hand.land(site.transfer(0))
        await hand.builder.notified(hand.settle())
        await asyncio.wrap_future(written(hand.builder))
        await hand.land(site.transfer(1))
        with monkeypatch.context() as patch:
            patch.setattr(LedgerRules, "changes", lambda *_: {bytes(31): b"junk"})
            await hand.builder.notified(hand.settle())
        await hand.land(site.transfer(2))
        await hand.builder.aclose()
        again = await site.builder(path)
        assert (again.heads.final.sealed.number, again.lag) == (2, "")
        receipt = await again.receipt(again.rollup.checked(site.transfer(0)))
        assert receipt is not None
        assert (receipt.number, receipt.is_final) == (1, True)
        done = await again.execute(hand.order(site.transfer(3)))
        assert [one.verdict for one in done.judged] == ["included"]
        await again.aclose()
        assert (await site.builder(path)).heads.final.sealed.number == 2

    with caplog.at_level(logging.WARNING, "laneway.builder"):
        story(tale)
    assert caplog.messages == [
        f"{path} is damaged (its state is not that after block 2), and goes on from a state "
        "beside it"
    ]


def test_a_file_of_a_chain_that_began_anew_is_refused(path: str) -> None:
    """The devnet begins with the same block each time, so only its history tells."""

    async def first(site: Site) -> None:
        await left(site, path)

    async def second(site: Site) -> None:
        hand = await hands(site)
        await hand.land(site.transfer(0, amount=77))
        hand.settle()
        with pytest.raises(StoreRefused, match="its block 1 is not the chain's") as refused:
            await site.builder(path)
        assert "delete it" in str(refused.value)

    story(first)
    story(second)


def test_a_file_that_is_ahead_of_the_chain_waits_and_says_why(path: str) -> None:
    async def first(site: Site) -> None:
        await left(site, path)

    async def second(site: Site) -> None:
        builder = await site.builder(path)
        hand = Hands(site, builder, await site.chain())
        with pytest.raises(BuildFailed, match="the builder has block 1, and final on") as failed:
            await builder.execute(hand.order(site.transfer(0)))
        assert "the node is behind, or the chain began anew" in str(failed.value)
        assert path in str(failed.value)
        other = await hands(site)
        await other.land(site.transfer(0, amount=77))
        other.settle()
        with pytest.raises(BuildFailed, match="the chain has another block 1"):
            await builder.execute(hand.order(site.transfer(0)))
        await other.land(site.transfer(1))
        other.settle()
        with pytest.raises(BuildFailed, match="the chain has another block 1"):
            await builder.execute(hand.order(site.transfer(0)))

    story(first)
    story(second)


def test_open_blocks_that_do_not_hold_are_left_out(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def tale(site: Site) -> None:
        hand = await left(site, path)
        changed(path, "UPDATE blocks SET payload = x'00' WHERE number = 2")
        again = await site.builder(path)
        assert again.heads.newest.sealed.number == 1, "what stands on it has nothing to stand on"
        await again.execute(hand.order(site.transfer(3)))
        assert again.heads.newest.sealed.number == 4

    with caplog.at_level(logging.WARNING, "laneway.builder"):
        story(tale)
    assert "Left out an open block" in caplog.text


def raising(*_: Any) -> Any:
    raise ValueError("rules that choke")


@pytest.mark.parametrize("name", ["replay", "outcomes", "decode"])
def test_an_open_block_that_the_rules_choke_on_is_left_out(
    path: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """It comes again with the lane's orders; a start that ends with it would end each time."""

    async def tale(site: Site) -> None:
        await left(site, path)
        real = getattr(LedgerRules, name)

        def choking(rules: LedgerRules, *given: Any) -> Any:
            about = given[-1] if name != "decode" else real(rules, *given)
            return raising() if rules.sealed(about).number > 1 else real(rules, *given)

        with monkeypatch.context() as patch:
            patch.setattr(LedgerRules, name, choking)
            again = await site.builder(path)
        assert (again.heads.newest.sealed.number, again.lag) == (1, "")

    with caplog.at_level(logging.WARNING, "laneway.builder"):
        story(tale)
    assert "Left out an open block" in caplog.text
    assert "the rollup's rules raised ValueError" in caplog.text


@pytest.mark.parametrize("name", ["restored", "decode", "root"])
def test_a_file_whose_final_block_the_rules_choke_on_is_damaged(
    path: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    async def tale(site: Site) -> None:
        await left(site, path)
        monkeypatch.setattr(LedgerRules, name, raising)
        with pytest.raises(StoreRefused, match=r"it is damaged \(the rollup's rules raised"):
            await site.builder(path)

    story(tale)


@pytest.mark.parametrize("name", ["encode", "entries"])
def test_what_rules_raise_at_a_start_is_said_to_be_theirs(
    path: str, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    async def tale(site: Site) -> None:
        await left(site, path)
        if name == "entries":
            Path(path).unlink()
        monkeypatch.setattr(LedgerRules, name, raising)
        with pytest.raises((BuildFailed, ValueError), match="the rollup's rules raised"):
            await site.builder(path)

    story(tale)


def test_a_genesis_that_the_rules_choke_on_is_none_of_theirs(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tale(site: Site) -> None:
        monkeypatch.setattr(LedgerRules, "genesis", raising)
        with pytest.raises(BuildFailed):
            await site.builder(path)

    story(tale)


def blank(*_: Any) -> LedgerState:
    return genesis_state(DOMAIN, {})


@pytest.mark.parametrize("answer", [blank, lambda *_: None])
def test_an_open_block_that_leaves_another_state_is_left_out(
    path: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    async def tale(site: Site) -> None:
        hand = await left(site, path)
        with monkeypatch.context() as patch:
            patch.setattr(LedgerRules, "replay", answer)
            again = await site.builder(path)
        assert again.heads.newest.sealed.number == 1
        done = await again.execute(hand.order(site.transfer(3)))
        assert [one.verdict for one in done.judged] == ["included"]

    with caplog.at_level(logging.WARNING, "laneway.builder"):
        story(tale)
    assert "the state after block 2 is not the one that the block names" in caplog.text


@pytest.mark.parametrize("answer", [blank, lambda *_: None])
def test_a_final_block_that_leaves_another_state_is_not_written_down(
    path: str, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    """Its file would be damaged, and the builder would refuse what has nothing to do with it. With
    rules that are mended it goes on with what it has."""

    async def tale(site: Site) -> None:
        hand = await hands(site)
        await hand.land(site.transfer(0))
        await hand.land(site.transfer(1))
        hand.settle()
        with monkeypatch.context() as patch:
            patch.setattr(LedgerRules, "replay", answer)
            other = await site.builder(path)
            assert "the state after block 1 is not the one that the block names" in other.lag
            assert other.lag.endswith("; fix the rollup's rules, and start this process again")
            assert other.heads.final.sealed.number == 0
            with pytest.raises(BuildFailed, match="fix the rollup's rules") as failed:
                await other.execute(hand.order(site.transfer(2)))
            assert (failed.value.final, failed.value.needs_help) == (False, True)
            await other.aclose()
        again = await site.builder(path)
        assert (again.heads.final.sealed.number, again.lag) == (2, "")

    story(tale)


def test_a_genesis_with_another_state_than_its_block_is_not_written_down(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def tale(site: Site) -> None:
        real = LedgerRules.genesis
        with monkeypatch.context() as patch:
            patch.setattr(LedgerRules, "genesis", lambda *of: (real(*of)[0], blank()))
            with pytest.raises(BuildFailed, match="the state of their genesis is not"):
                await site.builder(path)
        assert (await site.builder(path)).lag == ""

    story(tale)
