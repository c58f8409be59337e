"""An account's keys in Redis are those of seed 002 §2.1, and never part from its rows."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import permutations

import pytest
from tests.redis_servers import Server, empty, server, shared, three_servers
from tests.stores.engine_core_stage import (
    ADDRESS,
    CHAIN,
    LANE,
    LAYOUTS,
    ME,
    Life,
    account,
    cli,
    key,
    owned,
    recorded,
    run,
    shown,
)

from laneway.core.errors import LeaseLost, StoreBusy, StoreUnknown
from laneway.core.ids import ENTROPY_BYTES, Owner, intent_id
from laneway.core.outcome import Outcome
from laneway.core.rows import START, Head, HeadWrite, Rows, Write
from laneway.lanes.common.heads import encode
from laneway.lanes.eoa.fees import EvmFee
from laneway.lanes.eoa.lane import attempt_row, slot_row
from laneway.lanes.eoa.rows import Attempt, EoaHead, Purpose, Slot
from laneway.ports import Commit
from laneway.stores.redis import RedisStore
from laneway.stores.redis.engine_core.keys import capitals
from laneway.stores.redis.engine_core.view import EngineCoreView

YOU = Owner("you")


@pytest.fixture
def redis() -> Server:
    (one,) = shared(1)
    empty([one])
    return one


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_after_every_commit_the_keys_show_what_the_rows_say(redis: Server, seed: int) -> None:
    """Also when another process goes on with the lane, knowing nothing but its rows."""

    async def story() -> None:
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        teller = await owned(store)
        for number, step in enumerate(recorded(seed)):
            if number % 40 == 39:
                await store.close()
                store = teller.store = await RedisStore(redis.url, layouts=LAYOUTS).open()
            await teller.tell(step)
            assert shown(redis) == await teller.drawn()
        assert teller.version > 60
        await store.close()

    run(story)


@pytest.mark.slow
def test_a_process_that_was_not_the_last_to_write_reads_the_rows_again(redis: Server) -> None:
    async def story() -> None:
        stores = [await RedisStore(redis.url, layouts=LAYOUTS).open() for _ in range(2)]
        teller = await owned(stores[0])
        for number, step in enumerate(recorded(1, steps=200)):
            teller.store = stores[number // 3 % 2]
            await teller.tell(step)
            assert shown(redis) == await teller.drawn()
        for store in stores:
            await store.close()

    run(story)


def test_an_address_is_spelled_as_engine_core_spells_it() -> None:
    spelled = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
    assert capitals(spelled.lower()) == spelled


# A whole life, as redis-cli tells it.


@asynccontextmanager
async def living(redis: Server, count: int) -> AsyncIterator[Life]:
    """An account whose count was read, with so many payments that have numbers."""
    store = await RedisStore(redis.url, layouts=LAYOUTS).open()
    life = Life(await owned(store))
    await life.begin(count)
    try:
        yield life
        assert shown(redis) == await life.teller.drawn()
    finally:
        await store.close()


def test_of_two_attempts_that_no_node_answered_the_last_is_borrowed() -> None:
    """Also where both were written in one commit, whatever the order of their rows."""
    intent = intent_id(5, bytes(ENTROPY_BYTES))
    slot = Slot(1, intent, 1, 0, 0, 7, 5, making=False, attempt_next=3)
    first, last = (
        Attempt(1, number, hash_, Purpose.INTENT, EvmFee(9, 1), 21_000, 5, ("node",), raw=b"x")
        for number, hash_ in ((1, b"1" * 32), (2, b"2" * 32))
    )
    head = HeadWrite(START, 0, 0, None, encode(EoaHead(nonce_next=8, slot_next=2)))
    for rows in permutations((slot_row(slot, first), attempt_row(last))):
        view = EngineCoreView(account(), Rows(Head(LANE), (), (), ()))
        view.queued[intent] = 5
        said = {
            tuple(keys): (command, own) for command, keys, _, own in view.advance(Write(head, rows))
        }
        command, pairs = said[account().borrowed,]
        assert (command, pairs[0::2]) == ("HSET", [intent, intent])
        assert [json.loads(one)["hash"] for one in pairs[1::2]] == [
            f"0x{one.hash.hex()}" for one in (first, last)
        ]


def test_a_payment_that_was_accepted_is_pending(redis: Server) -> None:
    """Boxes A2 to A4."""

    async def story() -> None:
        async with living(redis, 1) as life:
            (one,) = life.accepted
            told = cli(redis, "HGETALL", f"eoa_executor:tx_data:{one.id}")
            assert set(told) == {"user_request", "status", "created_at"}
            assert (told["status"], told["created_at"]) == ("pending", str(one.accepted_ms))
            asked = json.loads(told["user_request"])
            assert asked == {
                "transactionId": one.id,
                "chainId": CHAIN,
                "from": ADDRESS,
                "to": "0x" + "09" * 20,
                "value": hex(10**18),
                "data": "0x6869",
                "gasLimit": 21_000,
                "webhookOptions": [],
                "maxPriorityFeePerGas": 5,
            }
            pending = cli(redis, "ZRANGE", key("pending_txs"), "0", "-1", "WITHSCORES")
            assert pending == [[one.id, one.accepted_ms]]
            assert cli(redis, "HGETALL", "tx_registry") == {one.id: "eoa_executor"}
            jobs = cli(redis, "HGETALL", "eoa_executor:laneway:jobs")
            assert jobs == {f"eoa_{ADDRESS}_{CHAIN}": LANE}
            assert cli(redis, "GET", key("lock")) == ME
            assert cli(redis, "GET", key("optimistic_nonce")) == "1"
            assert cli(redis, "GET", key("last_tx_nonce")) == "0"

    run(story)


def test_a_payment_is_borrowed_then_submitted_then_confirmed(redis: Server) -> None:
    """Boxes NN7, C9, GB9, F19 and F25."""

    async def story() -> None:
        async with living(redis, 1) as life:
            (one,) = life.accepted
            await life.make()
            (first,) = life.hashes(0)
            borrowed = cli(redis, "HGETALL", key("borrowed_txs"))
            attempt = next(iter(life.lane.tries(1).values()))
            assert json.loads(borrowed[one.id]) == {
                "transaction_id": one.id,
                "signed_transaction": f"0x{attempt.raw.hex()}",
                "queued_at": one.accepted_ms,
                "hash": f"0x{first.hex()}",
                "borrowed_at": life.now_ms,
                "nonce": 0,
            }
            assert cli(redis, "EXISTS", key("pending_txs"), key("submitted_txs")) == 0
            assert cli(redis, "GET", f"eoa_executor:tx_hash_to_id:0x{first.hex()}") == one.id
            await life.send(Outcome.ACCEPTED)
            assert cli(redis, "EXISTS", key("borrowed_txs")) == 0
            member = f"0x{first.hex()}:{one.id}:{one.accepted_ms}:{life.now_ms}"
            submitted = ("ZRANGE", key("submitted_txs"), "0", "-1", "WITHSCORES")
            assert cli(redis, *submitted) == [[member, 0]]
            tx_data = f"eoa_executor:tx_data:{one.id}"
            assert cli(redis, "HGET", tx_data, "status") == "submitted"
            await life.look(0)
            await life.wait(61_000)
            await life.make()
            second = life.hashes(0)[1]
            dearer = f"0x{second.hex()}:{one.id}:{one.accepted_ms}:{life.now_ms}"
            assert sorted(cli(redis, *submitted)) == sorted([[member, 0], [dearer, 0]])
            attempts = cli(redis, "LRANGE", f"eoa_executor:tx_attempts:{one.id}", "0", "-1")
            assert [json.loads(told)["attempt_number"] for told in attempts] == [2, 1]
            assert json.loads(attempts[0])["details"]["hash"] == f"0x{second.hex()}"
            await life.look(1, second)
            assert cli(redis, "GET", key("last_tx_nonce")) == "1"
            await life.look(1, blocks=5)
            assert cli(redis, "EXISTS", key("submitted_txs"), key("pending_txs")) == 0
            assert cli(redis, "KEYS", "eoa_executor:tx_hash_to_id:*") == []
            told = cli(redis, "HGETALL", tx_data)
            assert (told["status"], told["completed_at"]) == ("confirmed", str(life.now_ms))
            receipt = json.loads(told["receipt"])
            assert receipt["transactionHash"] == f"0x{second.hex()}"
            assert (receipt["status"], receipt["gasUsed"]) == ("0x1", hex(21_000))
            assert cli(redis, "TTL", tx_data) == -1, "it stays as long as its intent does"
            health = json.loads(cli(redis, "GET", key("health")))
            assert set(health) == {
                *("balance", "balance_threshold", "balance_fetched_at", "last_confirmation_at"),
                *("last_nonce_movement_at", "nonce_resets"),
            }
            assert health["last_confirmation_at"] == life.now_ms

    run(story)


def test_payments_that_were_taken_together_are_submitted_though_no_row_says_so(
    redis: Server,
) -> None:
    """The head alone tells; also to a process that knows nothing but head and rows."""

    async def story() -> None:
        async with living(redis, 4) as life:
            await life.make()
            await life.send(*[Outcome.ACCEPTED] * 2)
            assert life.lane.head.taken_next == 3
            submitted = cli(redis, "ZRANGE", key("submitted_txs"), "0", "-1", "WITHSCORES")
            assert [score for _, score in submitted] == [0, 1]
            borrowed = cli(redis, "HKEYS", key("borrowed_txs"))
            assert sorted(borrowed) == [one.id for one in life.accepted[2:]]
            for one, word in zip(life.accepted, ("submitted",) * 2 + ("pending",) * 2, strict=True):
                assert cli(redis, "HGET", f"eoa_executor:tx_data:{one.id}", "status") == word
            assert shown(redis) == await life.teller.drawn()
            mine, other = life.teller.store, await RedisStore(redis.url, layouts=LAYOUTS).open()
            life.teller.store = other
            await life.look(1, *life.hashes(0))
            await life.look(1, blocks=5)
            assert shown(redis) == await life.teller.drawn()
            life.teller.store = mine
            await other.close()

    run(story)


def test_a_payment_that_no_node_took_is_pending_again_and_its_number_recycled(
    redis: Server,
) -> None:
    """Boxes C10, SR8, and the no-op that fills what nobody may take."""

    async def story() -> None:
        async with living(redis, 3) as life:
            second = life.accepted[1]
            await life.make()
            await life.send(Outcome.ACCEPTED, Outcome.REFUSED, Outcome.ACCEPTED, reason="cheap")
            assert cli(redis, "ZRANGE", key("pending_txs"), "0", "-1") == [second.id]
            recycled = ("ZRANGE", key("recycled_nonces"), "0", "-1", "WITHSCORES")
            assert cli(redis, *recycled) == [["1", 1]]
            assert cli(redis, "HGET", f"eoa_executor:tx_data:{second.id}", "status") == "pending"
            await life.wait(1_000)
            await life.make()
            assert cli(redis, "EXISTS", key("recycled_nonces"), key("pending_txs")) == 0
            assert cli(redis, "HKEYS", key("borrowed_txs")) == [second.id]
            assert cli(redis, "GET", key("optimistic_nonce")) == "3"

    run(story)


def test_a_payment_that_fails_leaves_its_number_to_a_no_op(redis: Server) -> None:
    """Boxes C11 and F21."""

    async def story() -> None:
        async with living(redis, 2) as life:
            first = life.accepted[0]
            await life.make()
            await life.send(Outcome.REFUSED, Outcome.ACCEPTED, reason="oversized", hopeless=True)
            told = cli(redis, "HGETALL", f"eoa_executor:tx_data:{first.id}")
            assert (told["status"], told["failure_reason"]) == ("failed", "oversized")
            assert told["laneway_status"] == "refused"
            assert cli(redis, "ZRANGE", key("recycled_nonces"), "0", "-1") == ["0"]
            await life.wait(1_000)
            await life.make()
            (filled,) = life.hashes(0)
            submitted = cli(redis, "ZRANGEBYSCORE", key("submitted_txs"), "0", "0")
            assert submitted == [f"0x{filled.hex()}:noop:0:0"]
            await life.look(2, filled, *life.hashes(1))
            await life.look(2, blocks=5)
            assert cli(redis, "EXISTS", key("submitted_txs")) == 0

    run(story)


def test_a_reset_is_marked_until_it_is_done(redis: Server) -> None:
    """Box F2."""

    async def story() -> None:
        async with living(redis, 3) as life:
            await life.make()
            await life.send(Outcome.ACCEPTED, Outcome.REFUSED, Outcome.ACCEPTED, reason="cheap")
            await life.command("reset-nonce")
            assert cli(redis, "GET", key("pending_manual_reset")) == str(life.now_ms)
            await life.obey("reset-nonce")
            assert cli(redis, "EXISTS", key("pending_manual_reset")) == 0
            health = json.loads(cli(redis, "GET", key("health")))
            assert health["nonce_resets"] == [life.now_ms]

    run(story)


# The lock.


def test_a_lock_that_is_not_ours_is_never_taken(redis: Server) -> None:
    async def story() -> None:
        redis.say("SET", key("lock"), "worker-1")
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        await store.beat(ME, 60_000)
        assert await store.claim(LANE, ME) is None
        assert redis.say("GET", key("lock")) == b"worker-1"
        (caution,) = store.cautions()
        assert "worker-1" in caution
        redis.say("DEL", key("lock"))
        assert await store.claim(LANE, ME) is not None
        assert store.cautions() == []
        await store.close()

    run(story)


def test_whoever_takes_our_lock_stops_our_writes(redis: Server) -> None:
    """Engine-core's workers take a lock by force; two senders would pay twice."""

    async def story() -> None:
        async with living(redis, 1) as life:
            redis.say("SET", key("lock"), "worker-1")
            teller, before = life.teller, shown(redis)
            write = Write(life.kind.head(life.lane, None), (), (), life.now_ms)
            commit = Commit(teller.lease, teller.version + 1, write)
            (answer,) = await teller.store.commit([commit])
            assert isinstance(answer, LeaseLost)
            assert shown(redis) == before
            assert await teller.store.claim(LANE, ME) is None
            redis.say("SET", key("lock"), ME)

    run(story)


def test_a_lane_that_is_given_back_has_no_lock(redis: Server) -> None:
    async def story() -> None:
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        teller = await owned(store)
        await store.release(teller.lease)
        assert redis.say("EXISTS", key("lock")) == 0
        await store.beat(YOU, 60_000)
        assert await store.claim(LANE, YOU) is not None
        assert redis.say("GET", key("lock")) == b"you"
        await store.close()

    run(story)


# Crashes, retention, a Cluster.


@pytest.mark.slow
def test_a_server_that_is_killed_has_kept_rows_and_keys_alike() -> None:
    async def story(redis: Server) -> None:
        steps = recorded(3)
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        teller = await owned(store)
        for number, step in enumerate(steps):
            if number % 60 == 30:
                await store.close()
                redis.kill()
                redis.start()
                store = teller.store = await RedisStore(redis.url, layouts=LAYOUTS).open()
                assert shown(redis) == await teller.drawn()
            await teller.tell(step)
        assert shown(redis) == await teller.drawn()
        await store.close()

    with server() as redis:
        asyncio.run(story(redis))


@pytest.mark.slow
def test_a_commit_whose_answer_was_lost_is_shown_once() -> None:
    """The server dies in the middle; the owner asks again what it asked."""

    async def story(redis: Server) -> None:
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        teller = await owned(store)
        lost = 0
        for number, step in enumerate(recorded(5, steps=150)):
            if number % 20 == 10:
                asked = asyncio.ensure_future(teller.tell(step))
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                redis.kill()
                (answer,) = await asyncio.gather(asked, return_exceptions=True)
                redis.start()
                lost += isinstance(answer, Exception)
                if not isinstance(answer, Exception):
                    continue
            for _ in range(3_000):
                try:
                    await teller.tell(step)
                    break
                except (StoreBusy, StoreUnknown):
                    await asyncio.sleep(0.02)
            assert shown(redis) == await teller.drawn()
        assert lost > 2
        await store.close()

    with server() as redis:
        asyncio.run(story(redis))


def test_a_pruned_payment_takes_its_keys_with_it(redis: Server) -> None:
    async def story() -> None:
        async with living(redis, 2) as life:
            await life.make()
            await life.send(Outcome.REFUSED, Outcome.ACCEPTED, reason="oversized", hopeless=True)
            first, second = life.accepted
            assert await life.teller.store.prune(life.now_ms + 1, 0, 10) == 1
            gone = (f"eoa_executor:tx_data:{first.id}", f"eoa_executor:tx_attempts:{first.id}")
            assert redis.say("EXISTS", *gone) == 0
            assert redis.say("HKEYS", "tx_registry") == [second.id.encode()]

    run(story)


@pytest.mark.slow
def test_in_a_cluster_an_account_keeps_the_clusters_own_form() -> None:
    async def story(servers: list[Server]) -> None:
        store = await RedisStore(servers[0].url, cluster_form=True, layouts=LAYOUTS).open()
        life = Life(await owned(store))
        await life.begin(2)
        await life.make()
        await life.send(Outcome.ACCEPTED, Outcome.ACCEPTED)
        for node in servers:
            assert all(b"{" in key for key in node.say("KEYS", "*"))
        await store.close()

    with three_servers() as servers:
        asyncio.run(story(servers))
