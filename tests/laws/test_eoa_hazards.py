"""The hazards of nonce management, H1 to H9, each with a law that a real anvil judges.

Each was read, or seen, in the executor that accounts' lanes are made after. The n-th payment pays n
wei: what the chain shows in the end is the proof, whatever was answered in between.
"""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.anvil import CHAIN_ID, GWEI, KEYS, Anvil, address, anvil
from tests.contracts.test_store import arrival
from tests.evm_worlds import Node
from tests.lanes.eoa.stage import is_replaced_by
from tests.laws.eoa_engine import Run, mining, once, opened, paid, run
from tests.redis_servers import Server, empty, shared

from laneway.core.errors import LeaseLost
from laneway.core.ids import LaneId, Owner
from laneway.core.rows import START, Command, HeadWrite, Lease, Write
from laneway.devnets.chaos.proxy import ChaosProxy
from laneway.devnets.chaos.rules import ProxyFault, Rule
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.model.rules import GETH
from laneway.engine.eoa.account import account_lane
from laneway.lanes.common.heads import encode
from laneway.lanes.eoa.lane import slot_row
from laneway.lanes.eoa.rows import EoaHead, Purpose, Slot
from laneway.lanes.eoa.values import (
    AccountSeen,
    AttemptAnswered,
    AttemptReoffered,
    AttemptSigned,
    HeadMoved,
    NoncesReset,
    SlotFreed,
    SlotIncluded,
)
from laneway.ports import Commit
from laneway.stores.redis import RedisStore
from laneway.stores.redis.engine_core import EngineCore

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("each_node")]

LAYOUTS = {"evm": EngineCore()}
SEND = "eth_sendRawTransaction"
RECEIPT = "eth_getTransactionReceipt"
BLOCKS = ("--block-time", "0.2")


def pool(node: Anvil) -> int:
    status = node.say("txpool_status")
    return int(status["pending"], 16) + int(status["queued"], 16)


# H1.


@pytest.mark.parametrize(
    "rule",
    [
        Rule(ProxyFault.LOSE_ANSWER, method=SEND, count=1),
        Rule(ProxyFault.LOSE_REQUEST, method=SEND, count=1),
        Rule(ProxyFault.STATUS, method=SEND, status=502, count=1),
        Rule(ProxyFault.ERROR, method=SEND, message="queer words", count=1, forward=True),
    ],
    ids=["lost answer", "lost request", "bad gateway", "unknown words"],
)
def test_h1_a_lost_answer_keeps_the_nonce_and_pays_once(rule: Rule, tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with ChaosProxy(node.url) as proxy, opened(tmp_path, [proxy.url]) as engine:
            first = await engine.pay(1)
            await engine.until_heard(AttemptAnswered)
            proxy.rule(rule)
            others = await engine.pay_all([2, 3])
            await engine.confirmed(first, *others)
            assert proxy.dice.struck == [1]
            assert engine.heard.of(SlotFreed) == [], "no number was given away"
            assert len(engine.heard.of(AttemptSigned)) == 3, "the same bytes were sent again"

    with anvil(*BLOCKS) as node:
        run(story(node))
        assert paid(node) == once([1, 2, 3])


# H2.


@pytest.mark.anvil_alone("the devnet forks no other node")
def test_h2_a_lagging_nodes_null_receipts_replace_nothing(tmp_path: Path) -> None:
    """Three nodes; one stays where the chain stood. It takes all bytes and knows of no block. Of
    two nodes it would be half: nothing is final without a majority."""

    async def story(node: Anvil, behind: Anvil) -> None:
        async with (
            ChaosProxy(node.url) as third,
            opened(tmp_path, [behind.url, node.url, third.url]) as engine,
        ):
            async with mining(node):
                await engine.confirmed(*await engine.pay_all([1, 2, 3]))
            assert engine.heard.of(SlotFreed) == []

    with anvil() as node:
        node.mine(2)
        fork = ("--fork-url", node.url, "--fork-block-number", "2")
        with anvil("--no-mining", *fork, "--fork-chain-id", str(CHAIN_ID)) as behind:
            run(story(node, behind))
            assert int(behind.say("eth_blockNumber"), 16) == 2
        assert paid(node) == once([1, 2, 3])


@pytest.mark.parametrize(
    "rule",
    [
        Rule(ProxyFault.LAG, method=RECEIPT, blocks=1_000),
        Rule(ProxyFault.ERROR, method=RECEIPT, message="header not found"),
    ],
    ids=["null", "error"],
)
def test_h2_neither_a_null_receipt_nor_an_error_is_a_proof(rule: Rule, tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with ChaosProxy(node.url, [rule]) as proxy, opened(tmp_path, [proxy.url]) as engine:
            handles = await engine.pay_all([1, 2, 3])
            await engine.until(lambda: proxy.dice.struck[0] >= 6)
            assert not engine.heard.of(SlotFreed)
            assert not engine.heard.results
            proxy.rule()
            await engine.confirmed(*handles)
            assert engine.heard.of(SlotFreed) == []

    with anvil(*BLOCKS) as node:
        run(story(node))
        assert paid(node) == once([1, 2, 3])


# H3, H4 and H6: one Redis, several who believe that the lane is theirs.


@pytest.fixture
def redis() -> Server:
    (one,) = shared(1)
    empty([one])
    return one


def test_h3_an_owner_that_was_overtaken_writes_nothing_and_pays_nothing(
    redis: Server, tmp_path: Path
) -> None:
    """A process stands still between its decision and its write for longer than its lease, and
    goes on as if nothing were: its clock does not stop it, so the fence in the script must."""

    async def story(node: Anvil) -> None:
        words: dict[str, Any] = {"nodes": [node.url], "store": redis.url}
        async with opened(tmp_path / "a", **words) as old, opened(tmp_path / "b", **words) as new:
            await old.confirmed(await old.pay(1))
            before = list(old.heard.records)
            late = stands_still(old)
            await old.pay(2)
            await new.until(lambda: len(new.heard.results) == 1)
            late.set()
            await new.confirmed(await new.pay(3))
            assert old.heard.records == before, "what it decided never became true"

    with anvil(*BLOCKS) as node:
        run(story(node))
        assert paid(node) == once([1, 2, 3])


def stands_still(run: Run) -> asyncio.Event:
    """Its heart beats no more, its writes arrive when the event is set, and it does not know."""
    store, moved = run.laneway.store, asyncio.Event()
    commit = store.commit

    async def never(*_: object) -> Any:
        await asyncio.Event().wait()

    async def later(commits: Any) -> Any:
        await moved.wait()
        return await commit(commits)

    store.beat = never  # type: ignore[method-assign, assignment]
    store.commit = lambda commits: asyncio.ensure_future(later(commits))  # type: ignore[method-assign]
    run.laneway.engine._heart.may_act = lambda: True  # type: ignore[method-assign]
    return moved


A, B = account_lane(CHAIN_ID, address()), account_lane(CHAIN_ID, address(KEYS[1]))
ME, YOU = Owner("me"), Owner("you")


def claimed(nonce: int) -> Write:
    """An account's slot, as its lane writes it."""
    slot = Slot(nonce + 1, None, 0, 0, 0, nonce, 5, purpose=Purpose.NOOP)
    row = slot_row(slot)
    head = encode(EoaHead(nonce_next=nonce + 1, slot_next=nonce + 2))
    return Write(HeadWrite(START, 0, 0, None, head), (row,), (), 5, b"feed")


def dump(redis: Server) -> dict[Any, Any]:
    """What stands in Redis. A large hash has no order of its own, so its fields are compared."""
    hashes = {key for key in redis.client.keys("*") if redis.client.type(key) == b"hash"}
    return {
        key: redis.client.hgetall(key) if key in hashes else redis.client.dump(key)
        for key in redis.client.keys("*")
    }


async def owned(store: RedisStore, lane: LaneId, owner: Owner) -> Lease:
    await store.beat(owner, 60_000)
    lease = await store.claim(lane, owner)
    assert lease is not None
    return lease


def test_h3_another_owners_writes_on_the_same_connection_do_not_lift_the_fence(
    redis: Server,
) -> None:
    async def story() -> None:
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        stale = await owned(store, A, ME)
        await store.commit([Commit(stale, 1, claimed(0))])
        await store.leave(ME)
        owner, other = await owned(store, A, YOU), await owned(store, B, YOU)
        for version in range(1, 40):
            refused, taken = await asyncio.gather(
                store.commit([Commit(stale, 2, claimed(7))]),
                store.commit([Commit(other, version, claimed(version))]),
            )
            assert isinstance(refused[0], LeaseLost)
            assert isinstance(taken[0], int)
        rows = await store.load(owner)
        assert [row.key for row in rows.open] == ["1"]
        await store.close()

    run(story())


def test_h4_a_refused_write_is_never_read_as_done(redis: Server) -> None:
    """A stale owner's write is answered with the loss of its lease; not a byte of Redis moves."""

    async def story() -> None:
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        stale = await owned(store, A, ME)
        await store.commit([Commit(stale, 1, claimed(0))])
        await store.leave(ME)
        await owned(store, A, YOU)
        before = dump(redis)
        for version in (1, 2, 3):
            (answer,) = await store.commit([Commit(stale, version, claimed(version))])
            assert isinstance(answer, LeaseLost)
        after = dump(redis)
        assert {key for key in {*before, *after} if before.get(key) != after.get(key)} == set()
        await store.close()

    run(story())


def test_h6_words_without_a_lease_change_nothing_that_a_lane_owns(redis: Server) -> None:
    """Arrivals and commands are left at the door; rows are written under the fence alone."""

    async def story() -> None:
        store = await RedisStore(redis.url, layouts=LAYOUTS).open()
        lease = await owned(store, A, ME)
        await store.commit([Commit(lease, 1, claimed(0))])
        before = await store.load(lease)
        for verb in ("reset-nonce", "pause", "cancel"):
            await store.tell(Command(0, A, verb, 5, "why", "ann"))
        await store.accept([arrival(1, A)])
        after = await store.load(lease)
        assert [command.verb for command in after.mailbox] == ["reset-nonce", "pause", "cancel"]
        assert (after.head.state, after.head.version) == (before.head.state, before.head.version)
        assert after.open == before.open
        await store.close()

    run(story())


def test_h6_a_reset_that_anyone_tells_is_decided_by_the_owner_alone(
    redis: Server, tmp_path: Path
) -> None:
    async def story(node: Anvil) -> None:
        words: dict[str, Any] = {"nodes": [node.url], "store": redis.url}
        async with (
            opened(tmp_path / "a", **words) as owner,
            opened(tmp_path / "b", **words) as other,
        ):
            handles = await owner.pay_all([1, 2])
            await owner.until(lambda: pool(node) == 2)
            await other.tell("reset-nonce")
            (reset,) = await owner.until_heard(NoncesReset)
            assert (reset.nonce_next, other.heard.records) == (2, [])
            node.mine(4)
            await owner.confirmed(*handles)

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1, 2])


# H5.


def empty_block(node: Node, base_wei: int) -> None:
    """A block that no transfer fits into, so that what waits goes on waiting."""
    node.say("evm_setBlockGasLimit", hex(20_000))
    node.say("anvil_setNextBlockBaseFeePerGas", hex(base_wei))
    node.mine()
    node.say("evm_setBlockGasLimit", hex(30_000_000))


async def bump_in_a_falling_market(node: Node, folder: Path) -> None:
    empty_block(node, 100 * GWEI)
    async with opened(folder, [node.url], bump_after_ms=1_500) as engine:
        handle = await engine.pay(1)
        await engine.until_heard(AttemptAnswered)
        empty_block(node, GWEI)
        await engine.until_heard(AttemptAnswered, 2)
        first, second = [record.attempt.fee for record in engine.heard.of(AttemptSigned)][:2]
        assert engine.heard.of(AttemptAnswered)[1].word == "taken"
        seen = engine.heard.of(AccountSeen)[-1]
        assert first.cap > 200 * GWEI > 10 * (2 * seen.base_fee + seen.tip), "the market fell"
        assert is_replaced_by(first, second), "by the rule of the strictest client"
        node.mine(4)
        await engine.confirmed(handle)


def test_h5_when_the_market_falls_a_bump_still_replaces(tmp_path: Path) -> None:
    """1.2 of the fresh estimate would be 3 gwei against 200; no node takes that for a bump."""
    with anvil() as node:
        run(bump_in_a_falling_market(node, tmp_path))
        assert paid(node) == once([1])


def test_h5_geths_ten_percent_on_both_fields_are_met_too(tmp_path: Path) -> None:
    async def story() -> None:
        async with EvmDevnet(block_ms=None, rules=GETH) as devnet:
            await bump_in_a_falling_market(devnet, tmp_path)
            assert paid(devnet) == once([1])

    run(story())


# H7.


def test_h7_a_reorg_after_inclusion_sends_the_same_bytes_again_and_pays_once(
    tmp_path: Path,
) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url], finality_depth_blocks=4) as engine:
            handles = await engine.pay_all([1, 2])
            await engine.until(lambda: pool(node) == 2)
            node.mine(2)
            await engine.until_heard(SlotIncluded, 2)
            node.say("anvil_reorg", 2, [])
            assert paid(node) == []
            await engine.until_heard(AttemptReoffered, 2)
            assert engine.heard.results == [], "it was included, and that is not final"
            assert any(record.fork is not None for record in engine.heard.of(HeadMoved))
            await engine.until(lambda: pool(node) == 2)
            node.mine()
            await engine.until_heard(SlotIncluded, 4)
            node.mine(5)
            await engine.confirmed(*handles)
            assert len(engine.heard.of(AttemptSigned)) == 2, "nothing was signed anew"

    with anvil() as node:
        node.mine(3)
        run(story(node))
        assert paid(node) == once([1, 2])


# H8.


def test_h8_a_reset_never_hands_out_a_bound_number(tmp_path: Path) -> None:
    """The chain's count is 0 and numbers 0 to 2 are out; the seed would give out 0 again."""

    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url]) as engine:
            handles = await engine.pay_all([1, 2, 3])
            await engine.until(lambda: pool(node) == 3)
            await engine.tell("reset-nonce")
            (reset,) = await engine.until_heard(NoncesReset)
            assert reset.nonce_next == 3
            handles += await engine.pay_all([4, 5])
            await engine.until(lambda: pool(node) == 5)
            node.mine(4)
            await engine.confirmed(*handles)

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1, 2, 3, 4, 5])


# H9.


def test_h9_a_transaction_costs_its_send_alone_and_a_request_carries_many(tmp_path: Path) -> None:
    """Fees, counts, blocks and their receipts are asked for all of them together, and nothing is
    estimated."""
    count = 300

    async def story(node: Anvil) -> None:
        quiet: dict[str, Any] = {"poll_ms": 400, "look_ms_min": 100}
        async with ChaosProxy(node.url) as proxy, opened(tmp_path, [proxy.url], **quiet) as engine:
            requests = requests_of(proxy)
            await engine.confirmed(*await engine.pay_all(range(1, count + 1)))
            calls = Counter(proxy.passed)
            assert calls.pop(SEND) == count
            assert calls.total() <= count, calls
            assert len(requests) <= count // 2

    with anvil(*BLOCKS, "--gas-limit", "1000000000") as node:
        run(story(node))
        assert paid(node) == once(range(1, count + 1))


def test_h9_a_node_that_is_away_costs_the_others_no_second_offer(tmp_path: Path) -> None:
    """Bytes are offered again to those that have not answered, and to nobody who has them."""

    async def story(node: Anvil) -> None:
        async with (
            ChaosProxy(node.url) as proxy,
            ChaosProxy(node.url, [Rule(ProxyFault.STATUS, method=SEND, status=502)]) as broken,
            opened(tmp_path, [broken.url, proxy.url], resend_ms=50) as engine,
        ):
            handles = await engine.pay_all([1, 2, 3])
            await engine.until(lambda: broken.dice.struck[0] >= 9)
            async with mining(node):
                await engine.confirmed(*handles)
            assert proxy.passed.count(SEND) == 3

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1, 2, 3])


def requests_of(proxy: ChaosProxy) -> list[int]:
    """How many calls each request carries, from now on."""
    requests: list[int] = []
    ask = proxy.ask

    async def counted(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        requests.append(len(calls))
        return await ask(calls)

    proxy.ask = counted  # type: ignore[method-assign]
    return requests
