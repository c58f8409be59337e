"""What final blocks executed is read back from the chain, as far as nodes still have them."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from tests.builder.stage import (
    LEDGER,
    SERVICE,
    Hands,
    LedgerBuilder,
    Site,
    build_order,
    hands,
    story,
)
from tests.builder.test_following import until
from tests.builder.test_recall import delete, wait_for_state
from tests.builder.test_sync import Bent

from laneway.builder import history
from laneway.builder.history import PastReader
from laneway.builder.limits import PAST_READ_HASHES_MAX
from laneway.builder.opener import open_builder
from laneway.builder.states import StateFiles
from laneway.core.errors import BuildFailed, ChainUnreachable, ChainUnreadable

pytestmark = pytest.mark.slow

BLOCKS = 6
SLOT_MS = 20


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "builder.db")


async def without_past(site: Site, path: str, blocks: int = BLOCKS) -> Hands:
    """Final blocks, and no file: a state after the newest of them that knows none before it."""
    hand = await hands(site, path, state_blocks=blocks - 1)
    for nonce in range(blocks):
        await hand.land(site.transfer(nonce))
        await hand.builder.notified(hand.settle())
        if nonce in (0, blocks - 1):
            wait_for_state(hand.builder, nonce + 1)
    await hand.builder.aclose()
    delete(path)
    files = StateFiles(path)
    saved, entries = files.load(blocks), list(files.entries(blocks))
    files.save(saved, entries, lambda: False)
    return hand


async def bent_builder(site: Site, path: str, bent: Bent, **options: Any) -> LedgerBuilder:
    chosen = {"genesis": site.genesis, **options}
    builder = await open_builder(LEDGER, bent, SERVICE, path, **chosen)  # type: ignore[arg-type]
    site._closing.append(builder.aclose)
    return builder


def resent(site: Site, hand: Hands, nonce: int = 1, known: int = 0) -> Any:
    """The order of a lane that was restored: it knows nothing after this block."""
    tip = hand.tip
    assert tip is not None
    return build_order(
        [site.transfer(nonce)],
        number=BLOCKS + 1,
        parent=tip.block,
        parent_root=tip.post_root,
        known=known,
    )


def test_receipts_before_a_state_are_read_back_while_nothing_is_ordered(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "SYNC_PAGE_BLOCKS", 2)

    async def tale(site: Site) -> None:
        await without_past(site, path)
        builder = await site.builder(path, slot_ms=SLOT_MS, blocks_kept=3)
        assert builder.heads.final.sealed.number == BLOCKS
        await until(lambda: builder._shelf.past_lowest() == 1)
        for number in range(1, BLOCKS + 1):
            receipt = await builder.receipt(builder.rollup.checked(site.transfer(number - 1)))
            record = site.record(number)
            assert receipt is not None
            assert record is not None
            assert (receipt.number, receipt.block) == (number, record.block)
            assert (receipt.is_final, receipt.package_hash) == (True, record.package_hash)
            assert (await builder.block(number) is not None) == (number > BLOCKS - 3)
        await builder.aclose()

    story(tale)


def test_an_order_that_needs_them_has_them_read_before_it_is_judged(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "SYNC_PAGE_BLOCKS", 2)

    async def tale(site: Site) -> None:
        hand = await without_past(site, path)
        builder = await site.builder(path)
        assert builder._shelf.past_lowest() == BLOCKS
        done = await builder.execute(resent(site, hand, known=1))
        assert [one.verdict for one in done.judged] == ["applied"]
        receipt = done.judged[0].receipt
        record = site.record(2)
        assert receipt is not None
        assert record is not None
        assert (receipt.number, receipt.block, receipt.index) == (2, record.block, 0)
        assert builder._shelf.past_lowest() == 2, "no more than it needs"
        await builder.aclose()

    story(tale)


def test_what_no_node_has_any_more_is_for_an_operator_and_no_refusal(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def tale(site: Site) -> None:
        hand = await without_past(site, path)
        bent = Bent(await site.chain())
        bent.segments = ChainUnreadable("node", "segment unavailable")
        builder = await bent_builder(site, path, bent, slot_ms=SLOT_MS)
        await until(lambda: "What blocks before 6 executed is not known here" in caplog.text)
        for _ in range(2):
            with pytest.raises(BuildFailed, match="whose receipts are gone") as failed:
                await builder.execute(resent(site, hand))
            assert (failed.value.needs_help, failed.value.final) == (True, False)
        done = await builder.execute(resent(site, hand, known=BLOCKS - 1))
        assert [one.verdict for one in done.judged] == ["refused"]
        bent.segments = None
        done = await builder.execute(resent(site, hand))
        assert [one.verdict for one in done.judged] == ["applied"], "a node that kept it came back"
        await builder.aclose()

    with caplog.at_level(logging.WARNING, "laneway.builder"):
        story(tale)
    assert caplog.text.count("What blocks before") == 1


def test_a_chain_that_cannot_be_reached_is_asked_again_and_needs_no_operator(path: str) -> None:
    async def tale(site: Site) -> None:
        hand = await without_past(site, path)
        bent = Bent(await site.chain())
        bent.segments = ChainUnreachable("node", "it is gone")
        builder = await bent_builder(site, path, bent)
        with pytest.raises(ChainUnreachable):
            await builder.execute(resent(site, hand))
        await builder.aclose()

    story(tale)


@pytest.mark.parametrize("bound", ["PAST_READ_HASHES_MAX", "PAST_READ_BLOCKS_MAX"])
def test_no_more_is_read_back_than_is_kept(
    path: str, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(history, "SYNC_PAGE_BLOCKS", 1)
    monkeypatch.setattr(history, bound, 3)

    async def tale(site: Site) -> None:
        hand = await without_past(site, path)
        builder = await site.builder(path)
        with pytest.raises(BuildFailed, match=r"in blocks 1 to [23], whose receipts are gone"):
            await builder.execute(resent(site, hand))
        await builder.aclose()

    story(tale)


def test_an_order_waits_for_some_pages_and_is_asked_again(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "SYNC_PAGE_BLOCKS", 1)
    monkeypatch.setattr(history, "PAST_PAGES_ORDERED_MAX", 3)

    async def tale(site: Site) -> None:
        hand = await without_past(site, path)
        builder = await site.builder(path)
        with pytest.raises(BuildFailed, match="it reads back what blocks 1 to 2 exec") as failed:
            await builder.execute(resent(site, hand))
        assert (failed.value.needs_help, failed.value.final) == (False, False)
        done = await builder.execute(resent(site, hand))
        assert [one.verdict for one in done.judged] == ["applied"]
        await builder.aclose()

    story(tale)


def test_a_file_that_is_put_back_keeps_what_it_knows_when_it_goes_on_from_a_state(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The blocks between are read from the chain, and those in the file are not asked for."""
    monkeypatch.setattr("laneway.builder.opening.STATE_BLOCKS_DEFAULT", 2)

    async def tale(site: Site) -> None:
        hand = await hands(site, path + "-old")
        for nonce in range(2):
            await hand.land(site.transfer(nonce))
            await hand.builder.notified(hand.settle())
        await hand.builder.aclose()
        later = Hands(site, await site.builder(path, state_blocks=BLOCKS - 1), hand.chain)
        wait_for_state(later.builder, 1)
        later.tip, later.final_count = hand.tip, 2
        for nonce in range(2, BLOCKS):
            await later.land(site.transfer(nonce))
            await later.builder.notified(later.settle())
        wait_for_state(later.builder, BLOCKS)
        await later.builder.aclose()
        delete(path)
        Path(path + "-old").rename(path)
        files = StateFiles(path)
        files.save(files.load(BLOCKS), list(files.entries(BLOCKS)), lambda: False)
        bent = Bent(await site.chain())
        bent.segments = ChainUnreadable("node", "segment unavailable")
        builder = await bent_builder(site, path, bent)
        assert builder.heads.final.sealed.number == BLOCKS
        done = await builder.execute(resent(site, later))
        assert [one.verdict for one in done.judged] == ["applied"], "the file knows block 2"
        bent.segments = None
        done = await builder.execute(resent(site, later, nonce=3))
        assert [one.verdict for one in done.judged] == ["applied"]
        assert builder._shelf.past_lowest() == 1
        await builder.aclose()

    story(tale)


class Full:
    """A file that knows as much as it may: with each new block it forgets an old one."""

    lowest = 5

    def past_lowest(self) -> int:
        self.lowest += 1
        return self.lowest

    def past_count(self) -> int:
        return PAST_READ_HASHES_MAX


class Unasked:
    """A chain that nobody asks anything."""

    async def final(self) -> None:
        pytest.fail("no block is read back, and the chain was asked")


async def done_here(job: Callable[[], Any], /) -> Any:
    return job()


def test_a_full_past_is_told_once_and_nothing_is_asked_for_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reader: PastReader[Any, Any] = PastReader(
        cast("Any", None), cast("Any", Full()), cast("Any", Unasked()), cast("Any", done_here)
    )

    async def slots() -> None:
        for _ in range(4):
            await reader.read_on()

    with caplog.at_level(logging.WARNING, "laneway.builder"):
        asyncio.run(slots())
    lines = [one.getMessage() for one in caplog.records]
    assert len(lines) == 1, lines
    assert "is not known here: no more are read back" in lines[0]
