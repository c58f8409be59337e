"""The library's client of a Cosmos account, on the devnet: real signatures over real sockets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from laneway.core.errors import AccountNotFound, BadRequest, IntentConflict, LaneNotFound, NoRoom
from laneway.cosmos.blobs import namespace_of
from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.protobuf import encode
from laneway.devnets.cosmos.devnet import CosmosDevnet
from laneway.engine.system import SystemClock
from laneway.kinds.config import ConfigError
from laneway.kinds.cosmos.capacity import held_bytes
from laneway.kinds.cosmos.client import BroadcastTxError, ExecutionError, TxHandle
from laneway.kinds.cosmos.lanes import CosmosLanes
from laneway.kinds.cosmos.section import CosmosAccountSection, CosmosSection, SequenceSection
from laneway.kinds.cosmos.served import CosmosServed
from laneway.ports import CosmosBlob, CosmosRequest
from laneway.wiring.blocking import LanewaySync
from laneway.wiring.embedded import EngineStopped, Laneway
from laneway.wiring.store import open_store

QUICK = SequenceSection(poll_ms=20, retry_ms=20, rest_ms=100, account_ms=50)
BLOB = CosmosBlob(namespace_of(b"mine"), b"data" * 50)
WAIT_S = 20.0


def section_of(net: CosmosDevnet, *accounts: CosmosAccountSection) -> CosmosSection:
    return CosmosSection(
        name="dev", chain_id=net.chain_id, nodes=(net.url,), accounts=tuple(accounts)
    )


def account(folder: Path, net: CosmosDevnet, place: int = 0, **words: Any) -> CosmosAccountSection:
    key = folder / f"{place}.key"
    key.write_text(net.accounts[place].secret.hex())
    key.chmod(0o600)
    return CosmosAccountSection(name=f"a{place}", signer=f"file:{key}", **words)


@asynccontextmanager
async def opened(
    folder: Path, net: CosmosDevnet, *accounts: CosmosAccountSection, **words: Any
) -> AsyncIterator[Laneway]:
    clock = SystemClock()
    lanes = CosmosLanes((section_of(net, *accounts),), words.get("sequence", QUICK), clock)
    store = open_store(str(folder / "laneway.db"), clock)
    async with Laneway(store, [CosmosServed(lanes, clock)], clock) as laneway:
        yield laneway


def tell(folder: Path, story: Callable[[CosmosDevnet, Laneway], Awaitable[None]]) -> None:
    async def main() -> None:
        async with CosmosDevnet(block_ms=40) as net:
            one, two = account(folder, net), account(folder, net, 1)
            async with opened(folder, net, one, two) as laneway:
                await asyncio.wait_for(story(net, laneway), WAIT_S)

    asyncio.run(main())


def send(net: CosmosDevnet, amount: int = 5) -> tuple[str, bytes]:
    own, other = (net.accounts[place].address("celestia") for place in (0, 2))
    return MsgSend.url, encode(MsgSend(own, other, (Coin("utia", str(amount)),)))


def test_a_handle_is_signed_submitted_and_confirmed(tmp_path: Path) -> None:
    async def story(net: CosmosDevnet, laneway: Laneway) -> None:
        client = laneway.cosmos_client("cosmos:dev:a0")
        handle = await client.submit_pay_for_blob_to_queue([BLOB], context="mine")
        assert handle.data.blobs == (BLOB,)
        assert handle.context == "mine"
        signed, submitted = await handle.signed(), await handle.submitted()
        done = await handle.confirmed()
        assert signed == submitted == done.hash
        assert (done.status, done.code, done.sequence) == ("confirmed", 0, 0)
        assert done.height > 1
        assert 0 < done.gas_used <= done.gas_wanted
        assert done.signers == (net.accounts[0].address("celestia"),)
        assert await handle.signed() == done.hash
        assert laneway.room is not None
        assert laneway.room.held == 0

    tell(tmp_path, story)


def test_a_final_answer_has_the_height_and_not_the_sequence_as_its_block(tmp_path: Path) -> None:
    async def story(net: CosmosDevnet, laneway: Laneway) -> None:
        net.produce(20)
        handle = await laneway.submit("cosmos:dev:a0", CosmosRequest(messages=(send(net),)))
        assert isinstance(handle, TxHandle)
        done, shown = await handle.confirmed(), await handle.result()
        assert done.height > 20
        assert (shown.status, shown.block, shown.nonce) == ("confirmed", done.height, 0)
        assert shown.hash == done.hash
        refused = await laneway.submit(
            "cosmos:dev:a0", CosmosRequest(messages=(("/unknown.Msg", b""),))
        )
        nothing = await refused.result()
        assert (nothing.status, nothing.block) == ("refused", None)

    tell(tmp_path, story)


def test_the_words_of_the_v1_client(tmp_path: Path) -> None:
    async def story(net: CosmosDevnet, laneway: Laneway) -> None:
        client = laneway.cosmos_client("cosmos:dev:a0")
        assert (await client.submit_pay_for_blob([BLOB])).is_confirmed()
        assert (await client.submit_tx([send(net)])).is_confirmed()
        assert len(await client.broadcast_tx([send(net)])) == 64
        assert len(await client.broadcast_pay_for_blob([BLOB])) == 64
        handle = await client.submit(CosmosRequest(messages=(send(net),)))
        assert await client.confirm_tx(handle.id) == await handle.confirmed()
        with pytest.raises(ExecutionError, match="code 5"):
            await client.submit_tx([send(net, 10**18)], gas=90_000)
        with pytest.raises(BroadcastTxError, match="refused"):
            await client.submit_tx([("/unknown.Msg", b"")])

    tell(tmp_path, story)


def test_one_key_is_one_transaction_and_another_body_a_conflict(tmp_path: Path) -> None:
    async def story(net: CosmosDevnet, laneway: Laneway) -> None:
        client = laneway.cosmos_client("cosmos:dev:a0")
        first = await client.submit(CosmosRequest(messages=(send(net),)), key="k")
        again = await client.submit(CosmosRequest(messages=(send(net),), trace="00-x"), key="k")
        assert again.id == first.id
        assert await again.confirmed() == await first.confirmed()
        with pytest.raises(IntentConflict):
            await client.submit(CosmosRequest(messages=(send(net, 6),)), key="k")

    tell(tmp_path, story)


def test_a_batch_keeps_its_order_and_one_refusal_takes_no_other_with_it(tmp_path: Path) -> None:
    async def story(net: CosmosDevnet, laneway: Laneway) -> None:
        client = laneway.cosmos_client("cosmos:dev:a0")
        requests = [CosmosRequest(messages=(send(net, amount),)) for amount in range(1, 8)]
        first = await client.submit_many(requests, keys=["k", *[None] * 6])
        done = [await handle.confirmed() for handle in first]
        assert [one.sequence for one in done] == list(range(7))
        assert all(one.is_confirmed() for one in done)
        again = await client.submit_many(
            [requests[0], requests[1], requests[2]], keys=["k", "other", "k"]
        )
        assert again[0].id == first[0].id
        assert await again[0].confirmed() == done[0]
        assert (await again[1].confirmed()).sequence == 7
        assert isinstance(again[2].refusal, IntentConflict)
        with pytest.raises(IntentConflict):
            await again[2].confirmed()
        with pytest.raises(IntentConflict):
            await again[2].submitted()
        with pytest.raises(BadRequest, match="1 keys for 2 requests"):
            await client.submit_many(requests[:2], keys=["k"])

    tell(tmp_path, story)


def test_code_without_asyncio_hears_the_same(tmp_path: Path) -> None:
    async def story(net: CosmosDevnet) -> None:
        def made() -> Laneway:
            lanes = CosmosLanes((section_of(net, account(tmp_path, net)),), QUICK, SystemClock())
            store = open_store(str(tmp_path / "laneway.db"), SystemClock())
            clock = SystemClock()
            return Laneway(store, [CosmosServed(lanes, clock)], clock)

        def blocking() -> None:
            with LanewaySync(made) as laneway:
                client = laneway.cosmos_client("cosmos:dev:a0")
                first = client.submit_pay_for_blob_to_queue([BLOB], key="k")
                assert first.signed() == first.submitted() == first.confirmed().hash
                requests = [CosmosRequest(messages=(send(net),))] * 3
                later = client.submit_many(requests, keys=[None, None, "k"])
                assert [handle.confirmed().sequence for handle in later[:2]] == [1, 2]
                assert isinstance(later[2].refusal, IntentConflict)
                (again,) = laneway.submit_txs(client.lane, requests[:1], keys=["another"])
                assert again.confirmed().sequence == 3
                assert client.confirm_tx(first.id) == first.confirmed()
                assert client.submit_and_wait(requests[0]).sequence == 4
                assert client.submit_tx([send(net)]).is_confirmed()
                assert client.submit_pay_for_blob([BLOB]).is_confirmed()
                assert len(client.broadcast_tx([send(net)])) == 64
                assert len(client.broadcast_pay_for_blob([BLOB])) == 64
                client.submit(requests[0])
                assert laneway.cosmos_workers("cosmos:dev:a0").submit(requests[0]).submitted()

        await asyncio.to_thread(blocking)

    async def main() -> None:
        async with CosmosDevnet(block_ms=40) as net:
            await asyncio.wait_for(story(net), WAIT_S)

    asyncio.run(main())


def test_who_waits_for_room_is_whole_when_its_turn_comes(tmp_path: Path) -> None:
    async def main() -> None:
        async with CosmosDevnet(block_ms=40) as net:
            narrow = structs.replace(QUICK, process_bytes_max=10_000)
            async with opened(tmp_path, net, account(tmp_path, net), sequence=narrow) as laneway:
                client = laneway.cosmos_client("cosmos:dev:a0")
                blobs = [CosmosBlob(BLOB.namespace, bytes([n]) * 2_000) for n in range(6)]
                asked = (client.submit_pay_for_blob_to_queue([blob], key="k") for blob in blobs[:1])
                await asyncio.gather(*asked)
                asked = (client.submit_pay_for_blob_to_queue([blob]) for blob in blobs[1:])
                handles = await asyncio.gather(*asked)
                done = [await handle.confirmed() for handle in handles]
                assert [one.sequence for one in done] == [1, 2, 3, 4, 5]
                again = await client.submit_pay_for_blob_to_queue([blobs[0]], key="k")
                assert (await again.confirmed()).sequence == 0
                assert laneway.room is not None
                assert laneway.room.held == 0

    asyncio.run(asyncio.wait_for(main(), WAIT_S))


def test_a_batch_that_finds_no_room_says_so_on_its_handles(tmp_path: Path) -> None:
    async def main() -> None:
        async with CosmosDevnet(block_ms=60_000) as net:
            # Two of the large ones fit, and beside them there is room for the little one.
            small = structs.replace(QUICK, account_bytes_max=held_bytes(5_000))
            async with opened(tmp_path, net, account(tmp_path, net), sequence=small) as laneway:
                client = laneway.cosmos_client("cosmos:dev:a0")
                large, little = (CosmosBlob(BLOB.namespace, bytes(size)) for size in (2_000, 10))
                asked = [CosmosRequest(blobs=(one,)) for one in (large, large, large, little)]
                handles = await client.submit_many(asked, timeout_s=0.05)
                refused = [type(handle.refusal) for handle in handles]
                assert refused == [type(None), type(None), NoRoom, NoRoom]
                view = await laneway.store.lane(client.lane)
                assert view is not None
                assert view.tail.accepted_count == 2, "the little one was taken behind a large one"
                (fits,) = await client.submit_many([asked[3]], timeout_s=0.05)
                assert fits.refusal is None

    asyncio.run(asyncio.wait_for(main(), WAIT_S))


def test_what_never_comes_so_far_ends_the_waiting(tmp_path: Path) -> None:
    async def story(_net: CosmosDevnet, laneway: Laneway) -> None:
        client = laneway.cosmos_client("cosmos:dev:a0")
        late = await client.submit(CosmosRequest(blobs=(BLOB,), timeout_height=1))
        with pytest.raises(BroadcastTxError, match="expired"):
            await late.submitted()
        assert (await late.confirmed()).status == "expired"

    tell(tmp_path, story)


def test_waiting_may_end_before_the_answer_comes(tmp_path: Path) -> None:
    async def story(net: CosmosDevnet, laneway: Laneway) -> None:
        net.chain.is_held = True
        handle = await laneway.cosmos_client("cosmos:dev:a0").submit(CosmosRequest(blobs=(BLOB,)))
        await handle.submitted()
        with pytest.raises(TimeoutError):
            await handle.confirmed(0.05)
        net.chain.is_held = False
        assert (await handle.confirmed()).is_confirmed()

    tell(tmp_path, story)


def test_an_engine_that_stops_tells_those_who_wait_and_goes_on_later(tmp_path: Path) -> None:
    async def main() -> None:
        async with CosmosDevnet(block_ms=40) as net:
            one = account(tmp_path, net)
            net.chain.is_held = True
            async with opened(tmp_path, net, one) as laneway:
                client = laneway.cosmos_client("cosmos:dev")
                handle = await client.submit(CosmosRequest(blobs=(BLOB,)), key="k")
                await handle.submitted()
                waiting = asyncio.create_task(handle.confirmed())
                await asyncio.sleep(0.01)
            with pytest.raises(EngineStopped):
                await waiting
            net.chain.is_held = False
            async with opened(tmp_path, net, one) as laneway:
                client = laneway.cosmos_client("cosmos:dev")
                again = await client.submit(CosmosRequest(blobs=(BLOB,)), key="k")
                assert again.id == handle.id
                assert (await again.confirmed(WAIT_S)).is_confirmed()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        (CosmosRequest(), "neither messages nor blobs"),
        (CosmosRequest(blobs=(CosmosBlob(b"short", b"d"),)), r"blobs\[0\]"),
        (CosmosRequest(messages=(("/x", b""),), gas=-1), "payload.gas"),
        (CosmosRequest(messages=(("/x", bytes(9 << 20)),)), "more than one transaction"),
    ],
)
def test_what_can_be_no_transaction_is_never_accepted(
    request_: CosmosRequest, problem: str, tmp_path: Path
) -> None:
    async def story(_net: CosmosDevnet, laneway: Laneway) -> None:
        with pytest.raises(BadRequest, match=problem):
            await laneway.cosmos_client("cosmos:dev:a0").submit(request_)

    tell(tmp_path, story)


def test_lanes_are_found_by_every_name(tmp_path: Path) -> None:
    async def story(net: CosmosDevnet, laneway: Laneway) -> None:
        address = net.accounts[0].address("celestia")
        lane = laneway.cosmos_client("cosmos:dev:a0").lane
        assert lane == f"cosmos:{net.chain_id}:{address}"
        assert laneway.cosmos_client(lane).lane == lane
        assert laneway.cosmos_client(f"cosmos:dev:{address}").lane == lane
        for wrong in ("cosmos:dev", "cosmos:dev:nobody", "evm:dev:a0"):
            with pytest.raises(LaneNotFound):
                laneway.cosmos_client(wrong)

    tell(tmp_path, story)


def test_an_engine_without_cosmos_accounts_knows_none(tmp_path: Path) -> None:
    clock = SystemClock()

    async def main() -> None:
        store = open_store(str(tmp_path / "laneway.db"), clock)
        async with Laneway(store, [CosmosServed(None, clock)], clock) as laneway:
            with pytest.raises(AccountNotFound):
                laneway.cosmos_client("cosmos:dev")

    asyncio.run(main())


def test_one_account_under_two_names_is_a_mistake(tmp_path: Path) -> None:
    async def main() -> None:
        async with CosmosDevnet(block_ms=None) as net:
            one = account(tmp_path, net)
            twin = CosmosAccountSection(name="twin", signer=one.signer)
            with pytest.raises(ConfigError, match="are one account"):
                async with opened(tmp_path, net, one, twin):
                    pass

    asyncio.run(main())


# Workers.


def test_workers_are_set_up_once_and_submit_with_the_main_accounts_coins(tmp_path: Path) -> None:
    async def main() -> None:
        async with CosmosDevnet(block_ms=40) as net:
            one = account(tmp_path, net, workers=2)
            for _ in range(2):
                async with opened(tmp_path, net, one) as laneway:
                    pool = laneway.cosmos_workers("cosmos:dev")
                    handles = [await pool.submit_pay_for_blob_to_queue([BLOB]) for _ in range(6)]
                    ends = [await handle.confirmed(WAIT_S) for handle in handles]
                    assert {end.status for end in ends} == {"confirmed"}
                    signers = {end.signers for end in ends}
                    assert len(signers) == 3
                    assert laneway.cosmos.lanes is not None
                    main_lane = laneway.cosmos.lanes.lane("cosmos:dev")
                    workers = laneway.cosmos.lanes.workers(main_lane)
                    assert len(workers) == 2
                    assert laneway.cosmos.lanes.lane("cosmos:dev:a0-1") == workers[0]
            paid = [
                net.chain.account(net.chain.app.raw_of(str(lane).rpartition(":")[2]))
                for lane in workers
            ]
            assert [one.balance for one in paid if one is not None] == [1, 1]

    asyncio.run(main())
