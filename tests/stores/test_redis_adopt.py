"""An account that engine-core ran is taken over: nothing of it is lost, and nothing paid twice."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest
from tests.redis_servers import Server, empty, shared
from tests.stores.engine_core_stage import (
    ADDRESS,
    CHAIN,
    KEY,
    LANE,
    LAYOUTS,
    PAYEE,
    SETTINGS,
    Life,
    Teller,
    key,
    run,
    shown,
)

from laneway.core.errors import BadRequest, StoreRefused
from laneway.core.ids import LaneId, Owner
from laneway.core.outcome import Outcome
from laneway.evm import envelope
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import DynamicFeeTransaction, LegacyTransaction, signed
from laneway.lanes.eoa.lane import EoaLane, restore
from laneway.lanes.eoa.machine import resume
from laneway.lanes.eoa.values import LookAtChain, MakeAttempt, SendAttempt
from laneway.ports import EvmRequest
from laneway.stores.redis import RedisStore
from laneway.stores.redis.engine_core import adopt as adopting
from laneway.stores.redis.engine_core.adopt import Adoption, adopt
from laneway.stores.redis.engine_core.found import Use

ADOPTER = Owner("adopter")
WORKER = Owner("worker")
AT_MS = 1_800_000_000_000


@pytest.fixture
def redis() -> Server:
    (one,) = shared(1)
    empty([one])
    return one


# What engine-core writes.


def request(name: str) -> str:
    asked = {
        "transactionId": name,
        "chainId": CHAIN,
        "from": ADDRESS,
        "to": "0x" + PAYEE.hex(),
        "value": "0xde0b6b3a7640000",
        "data": "0x",
        "gasLimit": 21000,
        "webhookOptions": [],
        "signingCredential": {"vault": "secret"},
        "rpcCredentials": {},
        "maxFeePerGas": None,
        "maxPriorityFeePerGas": None,
    }
    return json.dumps(asked)


def keep(redis: Server, name: str, queued_ms: int, status: str = "pending") -> None:
    fields = ("user_request", request(name), "status", status, "created_at", queued_ms)
    redis.say("HSET", f"eoa_executor:tx_data:{name}", *fields)
    redis.say("HSET", "tx_registry", name, "eoa_executor")


def waits(redis: Server, name: str, queued_ms: int) -> None:
    keep(redis, name, queued_ms)
    redis.say("ZADD", key("pending_txs"), queued_ms, name)


def is_out(redis: Server, member: str, nonce: int) -> None:
    name = member.split(":")[1]
    if name != "noop":
        keep(redis, name, 5, "submitted")
    redis.say("ZADD", key("submitted_txs"), nonce, member)


def payment(nonce: int, by: HeldEvmKey = KEY) -> DynamicFeeTransaction:
    plain = DynamicFeeTransaction(CHAIN, nonce, 1, 300, 21_000, PAYEE, 10**18)
    return signed(plain, by.sign(envelope.signing_digest(plain)))


def as_alloy(one: DynamicFeeTransaction) -> dict[str, Any]:
    """A signed payment as its library writes it."""
    assert one.signature is not None
    assert one.to is not None
    return {
        "type": "0x2",
        "chainId": hex(one.chain_id),
        "nonce": hex(one.nonce),
        "gas": hex(one.gas_limit),
        "maxFeePerGas": hex(one.fee_wei_max),
        "maxPriorityFeePerGas": hex(one.tip_wei_max),
        "to": "0x" + one.to.hex(),
        "value": hex(one.value_wei),
        "accessList": [],
        "input": "0x",
        "r": hex(one.signature.r),
        "s": hex(one.signature.s),
        "yParity": hex(one.signature.y_parity),
        "v": hex(one.signature.y_parity),
        "hash": "0x" + envelope.hash_of(one).hex(),
    }


def borrow(redis: Server, name: str, one: DynamicFeeTransaction, bytes_: Any) -> None:
    keep(redis, name, 6)
    told = {
        "transaction_id": name,
        "signed_transaction": bytes_,
        "queued_at": 6,
        "hash": "0x" + envelope.hash_of(one).hex(),
        "borrowed_at": 60,
    }
    redis.say("HSET", key("borrowed_txs"), name, json.dumps(told))


STRANGER = HeldEvmKey(bytes([8]) * 32)
FOREIGN: str = "0x" + envelope.encode_canonical(payment(9, STRANGER)).hex()
HASHES = [f"0x{number:064x}" for number in range(10)]


def laid_out(redis: Server) -> None:
    """An account in the middle of everything."""
    redis.say("SET", key("lock"), "eoa-worker-7")
    waits(redis, "late", 900)
    waits(redis, "early", 100)
    redis.say("ZADD", key("pending_txs"), 50, "vanished")
    is_out(redis, f"{HASHES[1]}:first:5:50", 4)
    is_out(redis, f"{HASHES[2]}:first:5:55", 4)
    is_out(redis, f"{HASHES[3]}:older:5", 5)
    is_out(redis, f"{HASHES[4]}:noop:0:0", 6)
    borrow(redis, "hexed", payment(7), "0x" + envelope.encode_canonical(payment(7)).hex())
    borrow(redis, "json", payment(8), as_alloy(payment(8)))
    redis.say("ZADD", key("recycled_nonces"), 1, 1)
    redis.say("SET", key("optimistic_nonce"), 9)
    redis.say("SET", key("last_tx_nonce"), 4)


NOTHING = Use(b"n" * 32, bytes.fromhex(ADDRESS[2:]), 0, b"")
"""A transfer of nothing to the account itself."""
SAME = Use(b"s" * 32, PAYEE, 10**18, b"")
"""What every payment here asks for."""


async def adopted(
    store: RedisStore, owner: Owner = ADOPTER, use: Use | None = NOTHING, **settings: Any
) -> Adoption:
    async def uses(nonces: Sequence[int]) -> dict[int, Use | None]:
        return dict.fromkeys(nonces, use)

    settings.setdefault("uses", uses)
    return await adopt(store, LANE, owner, nodes=("node",), at_ms=AT_MS, **settings)


async def taken(store: RedisStore) -> tuple[Teller, EoaLane]:
    """The lane as the engine stands it up."""
    await store.beat(WORKER, 60_000)
    lease = await store.claim(LANE, WORKER)
    assert lease is not None
    rows = await store.load(lease)
    teller = Teller(store, lease)
    teller.version = rows.head.version
    return teller, restore(rows, SETTINGS)


def test_a_dry_run_says_what_it_would_take_and_takes_nothing(redis: Server) -> None:
    async def story() -> None:
        laid_out(redis)
        before = sorted((name, redis.say("DUMP", name)) for name in redis.say("KEYS", "*eoa*"))
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        report = await adopted(store)
        assert report.lock == "eoa-worker-7"
        assert report.pending == ("early", "late")
        assert [(nonce, name, known) for nonce, name, _, known in report.out] == [
            *((4, "first", False), (4, "first", False), (5, "older", False), (6, "noop", False)),
            *((7, "hexed", True), (8, "json", True)),
        ]
        assert report.recycled == (), "one is used up already"
        assert (report.optimistic, report.counted) == (9, 4)
        assert report.problems == ()
        assert report.passed_over == ("vanished is pending, and nothing is kept of its request",)
        assert any("nonce 7: hexed" in line for line in report.lines())
        after = sorted((name, redis.say("DUMP", name)) for name in redis.say("KEYS", "*eoa*"))
        assert after == before
        assert await store.lane(LANE) is None
        await store.close()

    run(story)


def test_what_is_out_keeps_its_number_and_what_waits_its_order(redis: Server) -> None:
    async def story() -> None:
        laid_out(redis)
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        await adopted(store, dry_run=False)
        redis.say("ZREM", key("pending_txs"), "vanished")
        teller, lane = await taken(store)
        assert shown(redis) == await teller.drawn()
        slots = {slot.nonce: slot for slot in lane.slots.values()}
        names = {nonce: slot.intent for nonce, slot in slots.items()}
        assert names == {4: "first", 5: "older", 6: None, 7: "hexed", 8: "json"}
        assert (lane.head.nonce_next, lane.head.latest) == (9, 4)
        assert lane.free.rows() == {}
        assert {type(effect) for effect in resume(lane)} == {LookAtChain, SendAttempt}
        offered = [effect for effect in resume(lane) if isinstance(effect, SendAttempt)]
        assert [effect.raw for effect in offered] == [
            envelope.encode_canonical(payment(7)),
            envelope.encode_canonical(payment(8)),
        ]
        waiting = await store.backlog(teller.lease, lane.head.cursors, 10)
        assert [intent.id for intent in waiting.intents] == ["early", "late"]
        asked = msgspec.msgpack.decode(waiting.intents[0].payload, type=EvmRequest)
        assert asked.to == PAYEE
        assert b"secret" not in b"".join(redis.say("HVALS", "eoa_executor:tx_data:early"))
        await store.close()

    run(story)


def test_an_adopted_account_goes_on_where_it_was(redis: Server) -> None:
    """The chain is read before anything is signed; then everything ends, each at its number."""

    async def story() -> None:
        laid_out(redis)
        redis.say("ZREM", key("pending_txs"), "vanished")
        redis.say("DEL", key("recycled_nonces"))
        redis.say("SET", key("optimistic_nonce"), 9)
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        await adopted(store, dry_run=False)
        teller, lane = await taken(store)
        life = Life(teller)
        life.lane, life.now_ms, life.out = lane, AT_MS, list(resume(lane))
        await life.offer()
        assert not [one for one in life.out if isinstance(one, MakeAttempt)], "not before a look"
        await life.send(Outcome.ACCEPTED, Outcome.ACCEPTED)
        await life.look(4)
        await life.offer()
        made = [one for one in life.out if isinstance(one, MakeAttempt)]
        assert [one.nonce for one in made] == [9, 10]
        await life.make()
        await life.send(Outcome.ACCEPTED, Outcome.ACCEPTED)
        assert shown(redis) == await teller.drawn()
        mined = [life.hashes(nonce)[-1] for nonce in range(4, 11)]
        await life.look(11, *mined)
        await life.look(11, blocks=5)
        assert life.lane.slots == {}
        views = await store.history(LANE, None, 100)
        ended = {view.intent.id: view.result for view in views}
        landed = {name: one.number for name, one in ended.items() if one is not None}
        assert landed == {"first": 4, "older": 5, "hexed": 7, "json": 8, "early": 9, "late": 10}
        assert shown(redis) == await teller.drawn()
        assert redis.say("EXISTS", key("submitted_txs"), key("borrowed_txs")) == 0
        await store.close()

    run(story)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ({"use": None}, "no majority of nodes shows a final transaction there"),
        ({"uses": None}, "no majority of nodes shows a final transaction there"),
        ({"use": SAME}, f"0x{SAME.hash.hex()} there does what is pending as ['x']"),
    ],
    ids=["unused", "no node", "paid"],
)
def test_what_is_pending_is_not_taken_while_a_recycled_nonce_may_hold_it(
    redis: Server, words: dict[str, Any], named: str
) -> None:
    """Engine-core recycles after a lost answer too: with x at 5 in a pool, x would be mined at 5
    and at 9."""

    async def story() -> None:
        waits(redis, "x", 100)
        redis.say("ZADD", key("recycled_nonces"), 5, 5)
        redis.say("SET", key("optimistic_nonce"), 9)
        redis.say("SET", key("last_tx_nonce"), 5)
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        for dry_run in (True, False):
            report = await adopted(store, dry_run=dry_run, **words)
            (problem,) = report.problems
            assert problem.startswith("nonce 5 was recycled")
            assert named in problem
            assert any(problem in line for line in report.lines())
            assert await store.lane(LANE) is None
        await store.close()

    run(story)


def test_a_recycled_nonce_that_something_else_used_keeps_nothing_back(redis: Server) -> None:
    async def story() -> None:
        waits(redis, "x", 100)
        redis.say("ZADD", key("recycled_nonces"), 5, 5)
        redis.say("SET", key("optimistic_nonce"), 9)
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        report = await adopted(store, dry_run=False)
        assert (report.problems, report.recycled, report.pending) == ((), (), ("x",))
        _, lane = await taken(store)
        assert (lane.head.nonce_next, lane.free.count) == (9, 0)
        await store.close()

    run(story)


def test_without_anything_pending_a_recycled_nonce_is_taken_as_free(redis: Server) -> None:
    """Whoever holds bytes for it, they pay nothing that would be paid again."""

    async def story() -> None:
        redis.say("ZADD", key("recycled_nonces"), 5, 5)
        is_out(redis, f"{HASHES[1]}:first:5:50", 6)
        redis.say("SET", key("optimistic_nonce"), 7)
        redis.say("SET", key("last_tx_nonce"), 5)
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        report = await adopted(store, dry_run=False, uses=None)
        assert (report.problems, report.recycled) == ((), (5,))
        _, lane = await taken(store)
        assert lane.free.rows() == {5: 6}
        await store.close()

    run(story)


def test_an_adoption_that_breaks_off_leaves_a_lane_that_sends_nothing(
    redis: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        laid_out(redis)
        redis.say("ZREM", key("pending_txs"), "vanished")
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        with monkeypatch.context() as patched:

            def crash(*_: Any) -> None:
                raise RuntimeError("the power is gone")

            patched.setattr(adopting, "bound_rows", crash)
            with pytest.raises(RuntimeError):
                await adopted(store, dry_run=False)
        await store.leave(ADOPTER)
        teller, lane = await taken(store)
        assert lane.head.mode == "paused"
        life = Life(teller)
        life.lane = lane
        await life.offer()
        assert life.out == []
        await store.release(teller.lease)
        await adopted(store, Owner("another"), dry_run=False)
        teller, lane = await taken(store)
        assert sorted(lane.nonces) == [4, 5, 6, 7, 8]
        assert shown(redis) == await teller.drawn()
        assert len(await store.history(LANE, None, 100)) == 6
        await store.close()

    run(story)


def test_adopting_twice_takes_nothing_twice(redis: Server) -> None:
    async def story() -> None:
        laid_out(redis)
        redis.say("ZREM", key("pending_txs"), "vanished")
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        await adopted(store, dry_run=False)
        before = await store.lane(LANE)
        again = await adopted(store)
        assert (again.pending, again.out, again.problems) == ((), (), ())
        await adopted(store, dry_run=False)
        after = await store.lane(LANE)
        assert before is not None
        assert after is not None
        assert after.head.version == before.head.version
        await store.close()

    run(story)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda r: is_out(r, f"{HASHES[5]}:first:5:50", 3), "several nonces: [3, 4]"),
        (lambda r: is_out(r, f"{HASHES[5]}:other:5:50", 5), "several payments"),
        (lambda r: r.say("ZADD", key("submitted_txs"), 3, "what"), "no submitted payment"),
        (lambda r: r.say("ZADD", key("submitted_txs"), 3, "0x12:first:5"), "has no hash"),
        (lambda r: r.say("DEL", "eoa_executor:tx_data:older"), "nothing is kept"),
        (lambda r: r.say("HSET", "eoa_executor:tx_data:older", "user_request", "{"), "be read"),
        (lambda r: waits(r, "two words", 7), "no id"),
        (lambda r: r.say("HSET", key("borrowed_txs"), "hexed", "{}"), "transaction_id"),
        (
            lambda r: borrow(r, "alien", payment(9, STRANGER), FOREIGN),
            "another account's",
        ),
        (lambda r: borrow(r, "mixed", payment(9), FOREIGN), "not those of its hash"),
        (
            lambda r: borrow(r, "blob", payment(9), as_alloy(payment(9)) | {"type": "0x3"}),
            "type 3",
        ),
    ],
)
def test_what_is_not_understood_keeps_an_account_from_being_taken(
    redis: Server, spoil: Callable[[Server], Any], words: str
) -> None:
    async def story() -> None:
        laid_out(redis)
        spoil(redis)
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        report = await adopted(store, dry_run=False)
        assert any(words in problem for problem in report.problems), report.problems
        assert await store.lane(LANE) is None
        assert redis.say("GET", key("lock")) == b"eoa-worker-7"
        await store.close()

    run(story)


def test_a_lane_that_has_intents_of_its_own_takes_nothing_that_is_out(redis: Server) -> None:
    async def story() -> None:
        laid_out(redis)
        redis.say("DEL", key("lock"))
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        life = Life((await taken(store))[0])
        await life.accept(1)
        assert "would come after it" in (await adopted(store)).problems[0]
        await life.look(0)
        assert "numbers of its own" in (await adopted(store)).problems[0]
        with pytest.raises(BadRequest):
            await adopt(store, LaneId("contract:a"), ADOPTER, nodes=(), at_ms=1)
        await store.close()

    run(story)


def test_pending_payments_are_taken_behind_a_lanes_own(redis: Server) -> None:
    async def story() -> None:
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        life = Life((await taken(store))[0])
        await life.look(0)
        await life.accept(1)
        waits(redis, "late", 900)
        waits(redis, "early", 100)
        with pytest.raises(StoreRefused):
            await adopted(store, dry_run=False)
        await store.release(life.teller.lease)
        await adopted(store, dry_run=False)
        views = await store.history(LANE, None, 10)
        assert [view.intent.id for view in views] == [life.accepted[0].id, "early", "late"]
        teller, _ = await taken(store)
        assert shown(redis) == await teller.drawn()
        await store.close()

    run(story)


def test_bytes_of_the_older_kind_are_read_too() -> None:
    from laneway.stores.redis.engine_core.found import transaction_parsed

    plain = LegacyTransaction(3, 7, 21_000, PAYEE, 5, b"", CHAIN)
    one = signed(plain, KEY.sign(envelope.signing_digest(plain)))
    assert one.signature is not None
    told = {
        "chainId": hex(CHAIN),
        "nonce": "0x3",
        "gasPrice": "0x7",
        "gas": "0x5208",
        "to": "0x" + PAYEE.hex(),
        "value": "0x5",
        "input": "0x",
        "r": hex(one.signature.r),
        "s": hex(one.signature.s),
        "v": hex(35 + 2 * CHAIN + one.signature.y_parity),
    }
    assert transaction_parsed(told) == one
