"""Final blocks from the chain alone, and from nodes that lie or have forgotten."""

import logging
from typing import Any

import pytest
from tests.builder.stage import (
    LEDGER,
    SERVICE,
    Site,
    hands,
    story,
)
from tests.jip2_relay import Jip2Relay

from laneway.builder import sync
from laneway.builder.opener import open_builder
from laneway.builder.sync import FinalUnknown, Source
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.jam.node import JamPlace
from laneway.core.errors import BuildFailed, ChainUnreachable, ChainUnreadable
from laneway.core.jam import JamHead
from laneway.jam.service.commitment import HEAD_KEY, block_key
from laneway.jam.service.values import BLOCK_RECORD, AppliedBlock
from laneway.jam.spec import SEGMENT_BYTES
from laneway.rollups.ledger.block import BODY, segments_of
from laneway.rollups.receipts import At
from laneway.wire.jip2 import blob

pytestmark = pytest.mark.slow


class Bent:
    """A chain whose answers are bent where a story says so."""

    def __init__(self, chain: Jip2Chain) -> None:
        self._chain = chain
        self.values: dict[bytes, bytes | None] = {}
        self.segments: tuple[bytes, ...] | Exception | None = None
        self.is_final_known = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chain, name)

    async def head(self) -> JamHead:
        head = await self._chain.head()
        return head if self.is_final_known else JamHead(head.best, None, head.node)

    async def service_value(
        self, at: bytes, service: int, key: bytes, fits: Any = None
    ) -> bytes | None:
        if key in self.values:
            return self.values[key]
        return await self._chain.service_value(at, service, key, fits)

    async def package_segments(self, package_hash: bytes, indices: Any) -> tuple[bytes, ...]:
        if isinstance(self.segments, Exception):
            raise self.segments
        if self.segments is not None:
            return tuple(self.segments[index] for index in indices)
        return await self._chain.package_segments(package_hash, indices)

    async def exports(self, package_hash: bytes, root: bytes, count_of: Any) -> tuple[bytes, ...]:
        (first,) = await self.package_segments(package_hash, (0,))
        others = range(1, count_of(first))
        return (first, *(await self.package_segments(package_hash, others) if others else ()))


async def landed(site: Site, *counts: int) -> list[bytes]:
    """Final blocks of so many transfers each; their payloads."""
    hand = await hands(site)
    nonce = 0
    for count in counts:
        await hand.land(*(site.transfer(nonce + one) for one in range(count)))
        nonce += count
    payloads = [done.payload for done in hand.made]
    hand.settle()
    return payloads


async def problem(bent: Bent, site: Site) -> BuildFailed:
    """Why a builder without a file does not come up to the chain."""
    try:
        builder = await open_builder(LEDGER, bent, SERVICE, None, genesis=site.genesis)  # type: ignore[arg-type]
    except BuildFailed as failed:
        return failed
    try:
        with pytest.raises(BuildFailed) as caught:
            await builder._sync(await builder._source.final())
    finally:
        await builder.aclose()
    assert not caught.value.final
    return caught.value


def test_blocks_of_several_segments_come_back_with_their_receipts(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync, "SYNC_PAGE_BLOCKS", 2)
    monkeypatch.setattr(sync, "SYNC_BLOCKS_LOGGED_MIN", 3)

    async def tale(site: Site) -> None:
        payloads = await landed(site, 1, 40, 1)
        builder = await site.builder()
        await builder._sync(await builder._source.final())
        assert builder.heads.final.sealed.number == 3
        assert builder.state(At.FINALIZED).root == site.head().state_root
        for number, payload in enumerate(payloads, 1):
            found = builder._shelf.by_number(number)
            assert found is not None
            assert found.payload == payload
            record = site.record(number)
            assert record is not None
            assert found.package_hash == record.package_hash

    with caplog.at_level(logging.INFO, "laneway.builder"):
        story(tale)
    lines = [line.getMessage() for line in caplog.records]
    assert lines == [
        "Reading blocks 1 to 2 of 3 of service 1 from the chain",
        "Reading blocks 3 to 3 of 3 of service 1 from the chain",
    ]


def test_a_short_way_is_not_told(caplog: pytest.LogCaptureFixture) -> None:
    async def tale(site: Site) -> None:
        await landed(site, 1)
        builder = await site.builder()
        await builder._sync(await builder._source.final())
        assert builder.heads.final.sealed.number == 1

    with caplog.at_level(logging.INFO, "laneway.builder"):
        story(tale)
    assert caplog.records == []


def test_blocks_that_are_here_are_not_read_again() -> None:
    async def tale(site: Site) -> None:
        hand = await hands(site)
        await hand.land(site.transfer(0))
        hand.settle()
        bent = Bent(await site.chain())
        bent.segments = ChainUnreadable("node", "nobody asks for them")
        hand.builder._source = Source(bent, SERVICE)  # type: ignore[arg-type]
        await hand.builder._sync(await hand.builder._source.final())
        assert hand.builder.heads.final.sealed.number == 1

    story(tale)


def test_segments_that_no_node_has_are_told_with_what_to_do() -> None:
    async def tale(site: Site) -> None:
        await landed(site, 1)
        record = site.record(1)
        assert record is not None
        bent = Bent(await site.chain())
        bent.segments = ChainUnreadable("node", "segment unavailable")
        said = str(await problem(bent, site))
        assert "block 1 is final, and no node has the segments of its package" in said
        assert record.package_hash.hex() in said
        assert "put back the builder's file or a state of it" in said
        assert "or name a node that kept them" in said

    story(tale)


def test_a_chain_that_cannot_be_reached_is_told_as_that() -> None:
    async def tale(site: Site) -> None:
        await landed(site, 1)
        bent = Bent(await site.chain())
        bent.segments = ChainUnreachable("node", "it is gone")
        builder = await open_builder(LEDGER, bent, SERVICE, None, genesis=site.genesis)  # type: ignore[arg-type]
        with pytest.raises(ChainUnreachable):
            await builder._sync(await builder._source.final())
        await builder.aclose()

    story(tale)


def test_what_a_node_says_is_not_believed() -> None:
    async def tale(site: Site) -> None:
        first, second = await landed(site, 1, 1)
        bent = Bent(await site.chain())
        bent.segments = segments_of(BODY.decode(second))
        assert "segments of block 1 are not those that its package" in str(
            await problem(bent, site)
        )
        bent.segments = (b"\xff" * SEGMENT_BYTES,)
        assert "bytes, which none has" in str(await problem(bent, site))
        bent.segments = None
        record = site.record(1)
        other = site.record(2)
        assert record is not None
        assert other is not None
        crossed = AppliedBlock(
            package_hash=other.package_hash,
            exports_root=other.exports_root,
            block=record.block,
            slot=record.slot,
        )
        bent.values = {block_key(1): BLOCK_RECORD.encode(crossed)}
        assert "exported block 2, and the service has it as another" in str(
            await problem(bent, site)
        )
        bent.values = {block_key(1): None}
        assert "has no record of block 1" in str(await problem(bent, site))
        bent.values = {block_key(1): b"x"}
        assert "keeps other records than a rollup" in str(await problem(bent, site))
        assert first != second

    story(tale)


@pytest.mark.parametrize("answer", ["null", "segments", "records", "swallowed"])
def test_one_bad_node_of_three_stops_no_builder(answer: str) -> None:
    """It makes up segments or records, has none, or does not answer: the others have them."""

    async def tale(site: Site) -> None:
        await landed(site, 1, 40)
        async with Jip2Relay(site.devnet.url) as bad:
            garbage = blob(b"\xff" * SEGMENT_BYTES)
            if answer == "swallowed":
                bad.swallowed |= {"serviceValue", "fetchWorkPackageSegments"}
            if answer in ("null", "records"):
                record = None if answer == "null" else garbage
                bad.added["serviceValue"] = lambda *_: record
            if answer in ("null", "segments"):
                segment = None if answer == "null" else garbage
                bad.added["fetchWorkPackageSegments"] = lambda _, indices: [segment] * len(indices)
            urls = {"bad": bad.url, "good": site.devnet.url, "other": site.devnet.url}
            places = [JamPlace(url, name=name) for name, url in urls.items()]
            chain = Jip2Chain(places, slot_ms=100)
            builder = await open_builder(LEDGER, chain, SERVICE, None, genesis=site.genesis)
            await builder.catch_up()
            assert builder.heads.final.sealed.number == 2
            assert builder.lag == ""
            await builder.aclose()
            await chain.aclose()

    story(tale)


def test_a_service_that_is_no_rollup_is_told_with_its_number() -> None:
    async def tale(site: Site) -> None:
        bent = Bent(await site.chain())
        bent.values = {HEAD_KEY: None}
        assert "service 1 has no head" in str(await problem(bent, site))
        bent.values = {b"g": None}
        assert "service 1 has no genesis of a ledger" in str(await problem(bent, site))
        bent.values = {HEAD_KEY: b"x"}
        assert "keeps other records than a rollup" in str(await problem(bent, site))

    story(tale)


def test_without_a_final_block_nothing_is_believed_and_the_next_try_may_find_one() -> None:
    async def tale(site: Site) -> None:
        bent = Bent(await site.chain())
        bent.is_final_known = False
        with pytest.raises(FinalUnknown, match="node knows no final block") as caught:
            await open_builder(LEDGER, bent, SERVICE, None, genesis=site.genesis)  # type: ignore[arg-type]
        assert (caught.value.retry, caught.value.changed) == ("later", False)

    story(tale)
