"""Laws of the way in: what can be in no block is refused before it is accepted, and each once."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.kinds.rollup.stage import LANE, laneway_on, made, nothing, run
from tests.rollup_stage import Purse

from laneway.chains.contract_callable import CallableHost
from laneway.core.errors import BadRequest, IntentConflict, LaneNotFound, RollupBehind
from laneway.devnets.jam.devnet import JamDevnet
from laneway.engine.bundle import rollup_lane
from laneway.kinds.handle import lane_of
from laneway.kinds.rollup import transfers
from laneway.kinds.rollup.arrivals import intent_of
from laneway.rollups.domain import Domain
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.transfer import TRANSFER, signed, transfer_hash
from laneway.wiring.embedded import Laneway

pytestmark = pytest.mark.slow


def one(devnet: JamDevnet, nonce: int = 0, amount: int = 5, service: int = 1) -> bytes:
    domain = Domain(devnet.model.genesis, service)
    payer, payee = DEV_ACCOUNTS[:2]
    made = signed(payer.key, domain, recipient=payee.id, amount=amount, nonce=nonce)
    return TRANSFER.encode(made)


def hash_of(raw: bytes) -> bytes:
    return transfer_hash(TRANSFER.decode(raw, "transfer"))


def test_the_same_bytes_are_one_intent() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet) as lw:
            raw = one(devnet)
            first = await lw.transfer(LANE, raw, key="a")
            assert (first.id, first.replayed) == (intent_of(rollup_lane(1), hash_of(raw)), False)
            again = [
                await lw.transfer("rollup:main", raw),
                await lw.transfer(LANE, raw.hex(), key="a"),
                await lw.transfer(LANE, f"0x{raw.hex()}", key="b"),
                *await lw.transfer_many(LANE, [raw, raw], keys=[None, "c"]),
            ]
            assert {(handle.id, handle.replayed) for handle in again} == {(first.id, True)}
            shown = await lw.show(first.id)
            assert (shown.lane, shown.idempotency_key, shown.status) == (LANE, "a", "queued")
            with pytest.raises(IntentConflict):
                await lw.transfer(LANE, one(devnet, 1), key="a")
            (refused,) = await lw.transfer_many(LANE, [one(devnet, 1)], keys=["a"])
            assert isinstance(refused.refusal, IntentConflict)

    run(story)


def test_what_can_be_in_no_block_is_refused_before_it_is_accepted() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet) as lw:
            good = TRANSFER.decode(one(devnet), "transfer")
            forged = TRANSFER.encode(replace(good, amount=6))
            for raw in (b"", b"short", one(devnet) + b"\0", forged, one(devnet, service=2)):
                with pytest.raises(BadRequest):
                    await lw.transfer(LANE, raw)
                with pytest.raises(BadRequest):
                    await lw.transfer_many(LANE, [one(devnet), raw])
            with pytest.raises(BadRequest, match="hexadecimal"):
                await lw.transfer(LANE, "no digits")
            assert await lw.store.lane(rollup_lane(1)) is None

    run(story)


def test_a_lane_that_is_not_configured_is_told() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet) as lw:
            for text in ("rollup:2", "rollup:other", "main", "cosmos:main"):
                with pytest.raises(LaneNotFound):
                    await lw.transfer(text, one(devnet))
        async with made(":memory:") as empty:
            with pytest.raises(LaneNotFound):
                await empty.transfer(LANE, b"")
        async with Laneway.open(":memory:", CallableHost(nothing)) as none:
            with pytest.raises(LaneNotFound):
                await none.transfer(LANE, b"")

    run(story)


def test_what_came_to_nothing_may_be_tried_again_under_another_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transfers, "TRANSFER_TRIES_MAX", 4)

    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet) as lw:
            raw = one(devnet)
            await lw.pause(LANE)
            first = await lw.transfer(LANE, raw)
            await first.cancel()
            assert (await first.result(30)).status == "cancelled"
            # Somebody wanted it so: without a key, and with its own, the bytes are that intent.
            assert (await lw.transfer(LANE, raw)).id == first.id
            assert (await lw.transfer_many(LANE, [raw]))[0].id == first.id
            second = await lw.transfer(LANE, raw, key="b")
            assert (second.id == first.id, second.replayed) == (False, False)
            assert (await lw.transfer(LANE, raw, key="c")).id == second.id
            await second.cancel()
            assert (await second.result(30)).status == "cancelled"
            assert (await lw.transfer(LANE, raw, key="b")).id == second.id
            third = await lw.transfer(LANE, raw, key="d")
            assert third.id not in (first.id, second.id)
            await third.cancel()
            await third.result(30)
            # The key of an older try opens no other, and is told of the newest.
            assert (await lw.transfer(LANE, raw, key="b")).id == third.id
            (fourth,) = await lw.transfer_many(LANE, [raw], keys=["e"])
            await fourth.cancel()
            await fourth.result(30)
            with pytest.raises(BadRequest, match="came to nothing 4 times"):
                await lw.transfer(LANE, raw, key="f")
            with pytest.raises(BadRequest, match="came to nothing 4 times"):
                await lw.transfer_many(LANE, [raw], keys=["f"])

    run(story)


def test_what_was_refused_is_tried_again_without_a_key_and_in_a_batch() -> None:
    """Its bytes are the only ones that its signer can make, and the refusal says: again."""

    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet, laneway_on(devnet) as lw:
            first, second, third = (one(devnet, nonce) for nonce in range(3))
            early = await lw.transfer(LANE, second)
            assert (await early.result(60)).status == "refused"
            (also_early,) = await lw.transfer_many(LANE, [third], keys=["c"])
            assert (await also_early.result(60)).status == "refused"
            # The key under which it was refused is answered by that for now.
            assert (await lw.transfer(LANE, third, key="c")).id == also_early.id
            assert (await (await lw.transfer(LANE, first)).result(60)).is_confirmed()
            # Two callers at once, and two places of a batch: one more try.
            alone, twin = await asyncio.gather(
                lw.transfer(LANE, second), lw.transfer(LANE, second, key="b")
            )
            batch = await lw.transfer_many(LANE, [second, third, third], keys=["x", None, "y"])
            assert {alone.id, twin.id, batch[0].id} == {alone.id}
            assert alone.id == intent_of(rollup_lane(1), hash_of(second), 1)
            assert batch[1].id == batch[2].id == intent_of(rollup_lane(1), hash_of(third), 1)
            assert (await batch[0].result(60)).is_confirmed()
            assert (await batch[1].result(60)).is_confirmed()
            # From now on everybody is told so, with the key that was refused, another or none.
            for key in (None, "c", "d"):
                told = await lw.transfer(LANE, third, key=key)
                (also,) = await lw.transfer_many(LANE, [third], keys=[key])
                assert (told.id, also.id) == (batch[1].id, batch[1].id)
                assert (await told.result(60)).is_confirmed()
                assert (await also.result(60)).is_confirmed()

    run(story)


def test_what_no_block_can_hold_any_more_is_not_tried_again(tmp_path: Path) -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            raw, other = one(devnet, 1), one(devnet, 1, amount=6)
            async with laneway_on(devnet, tmp_path / "l.db") as lw:
                early = await lw.transfer(LANE, raw)
                assert (await early.result(60)).status == "refused"
                for handle in await lw.transfer_many(LANE, [one(devnet, 0), other]):
                    assert (await handle.result(60)).is_confirmed()
            async with laneway_on(devnet, tmp_path / "l.db") as lw:
                for key in (None, "b"):
                    again = await lw.transfer(LANE, raw, key=key)
                    (also,) = await lw.transfer_many(LANE, [raw], keys=[key])
                    assert (again.id, also.id) == (early.id, early.id)
                    assert (await again.result(60)).status == "refused"

    run(story)


def test_a_batch_keeps_its_order_when_some_of_it_was_refused_before() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet, laneway_on(devnet) as lw:
            raws = [one(devnet, nonce) for nonce in range(4)]
            (early,) = await lw.transfer_many(LANE, raws[1:2])
            assert (await early.result(60)).status == "refused"
            handles = await lw.transfer_many(LANE, raws)
            done = [await handle.result(60) for handle in handles]
            assert [one.status for one in done] == ["confirmed"] * 4
            views = [await lw.store.intent(handle.id) for handle in handles]
            places = [view.intent.seq for view in views if view is not None]
            assert places == sorted(places)
            assert len(places) == 4

    run(story)


def test_a_batch_knows_what_retention_removed() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet) as lw:
            raw = one(devnet)
            await lw.pause(LANE)
            first = await lw.transfer(LANE, raw)
            await first.cancel()
            assert (await first.result(30)).status == "cancelled"
            assert await lw.store.prune(1 << 50, 1 << 50, 100) > 0
            (same,) = await lw.transfer_many(LANE, [raw])
            assert (same.id, same.replayed) == (first.id, True)
            (other, twin) = await lw.transfer_many(LANE, [raw, raw], keys=["a", "b"])
            assert other.id == twin.id == intent_of(rollup_lane(1), hash_of(raw), 1)
            assert (other.replayed, twin.replayed) == (False, True)

    run(story)


def test_retention_forgets_no_transaction() -> None:
    """Only its answer is left of it; it is the same intent nevertheless."""

    async def story() -> None:
        async with JamDevnet(slot_ms=0) as devnet, laneway_on(devnet) as lw:
            raw = one(devnet)
            await lw.pause(LANE)
            first = await lw.transfer(LANE, raw, key="a")
            await first.cancel()
            assert (await first.result(30)).status == "cancelled"
            assert await lw.store.prune(1 << 50, 1 << 50, 100) > 0
            assert await lw.store.intent(first.id) is None
            assert await lane_of(lw.store, first.id) == LANE
            known = lw.rollups.transfers.arrivals.is_known
            assert await known(rollup_lane(1), hash_of(raw))
            assert not await known(rollup_lane(1), bytes(32))
            for key in (None, "a"):
                again = await lw.transfer(LANE, raw, key=key)
                assert (again.id, again.replayed) == (first.id, True)
                assert (await again.result(30)).status == "cancelled"
            assert (await lw.transfer(LANE, raw, key="b")).id != first.id

    run(story)


def test_what_is_final_is_told_again_although_it_can_be_in_no_block_any_more(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            raws = Purse(devnet.model.genesis, senders=1).transfers(2)
            async with laneway_on(devnet, tmp_path / "l.db") as lw:
                done = await (await lw.transfer(LANE, raws[0], key="a")).result(60)
                assert done.is_confirmed()
                assert await (await lw.transfer(LANE, raws[0], key="b")).result(60) == done
                with pytest.raises(BadRequest):  # A nonce that was used, in another transfer.
                    await lw.transfer(LANE, one(devnet, 0, amount=999_999))
            async with laneway_on(devnet, tmp_path / "l.db") as lw:
                again = await lw.transfer(LANE, raws[0])
                assert (again.replayed, await again.result(60)) == (True, done)
                assert (await (await lw.transfer(LANE, raws[1])).result(60)).is_confirmed()

    run(story)


def test_what_a_block_executed_that_this_store_does_not_know_is_answered_with_its_receipt(
    tmp_path: Path,
) -> None:
    """The store was put back from a copy. Called spent, its caller would pay again."""

    async def story() -> None:
        async with JamDevnet(slot_ms=100) as devnet:
            (raw,) = Purse(devnet.model.genesis, senders=1).transfers(1)
            async with laneway_on(devnet, tmp_path / "one.db") as lw:
                done = await (await lw.transfer(LANE, raw)).result(60)
            # On a slow machine the chain's first block is forgotten by now, so its hash is named.
            genesis = devnet.model.genesis.hex()
            async with laneway_on(devnet, tmp_path / "other.db", genesis=genesis) as lw:
                while True:
                    try:
                        handle = await lw.transfer(LANE, raw)
                        break
                    except RollupBehind:  # Its builder has yet to read that block.
                        await asyncio.sleep(0.1)
                    except BadRequest as refused:
                        pytest.fail(f"refused: {refused}")
                again = await handle.result(60)
            assert not handle.replayed
            assert (again.status, again.block, again.hash) == (done.status, done.block, done.hash)

    run(story)
