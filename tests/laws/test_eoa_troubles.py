"""What befalls an account on a real chain, and what its lane makes of it; anvil is the judge.

Lost pools, evictions, other users of the key, reorgs, empty accounts, frozen and restarted nodes:
in the end each payment is mined once, in order, or its caller was told why not.
"""

import asyncio
from pathlib import Path

import pytest
from tests.anvil import GWEI, KEYS, Anvil, address, anvil, signed
from tests.laws.eoa_engine import PAYEE, mining, once, opened, paid, run

from laneway.devnets.chaos.proxy import ChaosProxy
from laneway.devnets.chaos.rules import ProxyFault, Rule
from laneway.lanes.eoa.values import (
    AccountSeen,
    AttemptReoffered,
    AttemptSigned,
    FundsJudged,
    SlotClaimed,
    SlotFreed,
    SlotIncluded,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("each_node")]

BLOCKS = ("--block-time", "0.2")
SENDER = "0x" + address().hex()
REVERTS = "0x" + "77" * 20


def pool(node: Anvil) -> int:
    status = node.say("txpool_status")
    return int(status["pending"], 16) + int(status["queued"], 16)


def by_someone_else(node: Anvil, wei: int, **fields: object) -> None:
    """The key is used past the engine."""
    words = {"from": SENDER, "to": PAYEE, "value": hex(wei), "gas": hex(21_000), **fields}
    node.say("eth_sendTransaction", words)


def test_an_account_without_funds_waits_and_goes_on_when_they_come(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url]) as engine:
            handles = await engine.pay_all([1, 2, 3])
            await engine.until_heard(FundsJudged)
            assert engine.heard.results == []
            node.say("anvil_setBalance", SENDER, hex(10**19))
            await engine.confirmed(*handles)

    with anvil(*BLOCKS) as node:
        node.say("anvil_setBalance", SENDER, hex(1_000))
        run(story(node))
        assert paid(node) == once([1, 2, 3])


def test_funds_that_end_in_the_middle_hold_back_those_behind_and_lose_none(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url]) as engine:
            await engine.confirmed(await engine.pay(1))
            node.say("anvil_setBalance", SENDER, hex(21_000 * 3 * GWEI))
            handles = await engine.pay_all([2, 3, 4, 5])
            await engine.until_heard(FundsJudged)
            node.say("anvil_setBalance", SENDER, hex(10**20))
            await engine.confirmed(*handles)

    with anvil(*BLOCKS) as node:
        run(story(node))
        assert paid(node) == once([1, 2, 3, 4, 5])


@pytest.mark.parametrize("how", ["dropped", "evicted by the base fee"])
def test_what_a_pool_forgot_is_offered_dearer_and_paid_once(how: str, tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url], bump_after_ms=800) as engine:
            handles = await engine.pay_all([1, 2])
            await engine.until_taken(2)
            if how == "dropped":
                node.say("anvil_dropAllTransactions")
            else:
                node.say("anvil_setNextBlockBaseFeePerGas", hex(900 * GWEI))
                node.mine()
            assert pool(node) == 0
            async with mining(node):
                await engine.confirmed(*handles)

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1, 2])


def test_a_pool_that_is_lost_costs_one_dearer_attempt_and_not_one_for_each(tmp_path: Path) -> None:
    """What stands above the lowest number is offered again with it; otherwise each would wait for
    a standstill of its own."""
    numbers = list(range(1, 21))

    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url], bump_after_ms=1_000) as engine:
            handles = await engine.pay_all(numbers)
            await engine.until(lambda: pool(node) == len(numbers))
            node.say("anvil_dropAllTransactions")
            await engine.until(lambda: pool(node) == len(numbers))
            async with mining(node):
                await engine.confirmed(*handles)
            assert len(engine.heard.of(AttemptSigned)) <= len(numbers) + 2

    with anvil() as node:
        run(story(node))
        assert paid(node) == once(numbers)


def test_a_number_that_someone_else_used_is_seen_before_the_next_payment(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url], rest_ms=100) as engine:
            await engine.confirmed(await engine.pay(1))
            by_someone_else(node, 900)
            await engine.until(lambda: len(paid(node)) == 2)
            await asyncio.sleep(0.2)
            await engine.confirmed(await engine.pay(2))

    with anvil(*BLOCKS) as node:
        run(story(node))
        assert paid(node) == once([1, 900, 2])


def test_a_payment_whose_number_someone_else_took_is_paid_at_another_and_once(
    tmp_path: Path,
) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url]) as engine:
            handle = await engine.pay(1)
            await engine.until(lambda: pool(node) == 1)
            raw, _ = signed(0, value=900, maxFeePerGas=900 * GWEI, maxPriorityFeePerGas=90 * GWEI)
            node.say("eth_sendRawTransaction", "0x" + raw.hex())
            async with mining(node):
                await engine.confirmed(handle)
            (freed,) = engine.heard.of(SlotFreed)
            assert freed.reason.startswith("replaced by 0x")

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([900, 1])


def test_a_reorg_that_gives_our_number_to_another_pays_us_at_the_next(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url], finality_depth_blocks=3) as engine:
            handle = await engine.pay(1)
            await engine.until(lambda: pool(node) == 1)
            node.mine()
            await engine.until_heard(SlotIncluded)
            raw, _ = signed(0, value=900)
            node.say("anvil_reorg", 1, [["0x" + raw.hex(), 0]])
            await engine.until_heard(AttemptReoffered)
            async with mining(node):
                await engine.confirmed(handle)

    with anvil() as node:
        node.mine(3)
        run(story(node))
        assert paid(node) == once([900, 1])


def test_a_chain_that_is_rolled_back_is_paid_again_and_once(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url], finality_depth_blocks=4) as engine:
            handles = await engine.pay_all([1, 2])
            await engine.until(lambda: pool(node) == 2)
            node.mine()
            await engine.until_heard(SlotIncluded, 2)
            node.say("anvil_rollback", 1)
            node.mine()
            await engine.until_heard(AttemptReoffered, 2)
            await engine.until(lambda: pool(node) == 2)
            node.mine(6)
            await engine.confirmed(*handles)

    with anvil() as node:
        node.mine(3)
        run(story(node))
        assert paid(node) == once([1, 2])


def test_a_call_that_reverts_is_refused_before_it_costs_and_holds_nobody_back(
    tmp_path: Path,
) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url]) as engine:
            handles = [
                await engine.pay(1),
                await engine.pay(0, to=REVERTS, gas=None),
                await engine.pay(2),
            ]
            ends = await engine.final(*handles)
            assert [end.status for end in ends] == ["confirmed", "refused", "confirmed"]
            assert "reverts" in ends[1].reason

    with anvil(*BLOCKS) as node:
        node.say("anvil_setCode", REVERTS, "0x60006000fd")
        run(story(node))
        assert paid(node) == once([1, 2])


def test_a_call_that_fails_on_chain_is_reverted_and_not_confirmed(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url]) as engine:
            handles = [await engine.pay(0, to=REVERTS, gas=60_000), await engine.pay(1)]
            ends = await engine.final(*handles)
            assert [(end.status, end.nonce) for end in ends] == [("reverted", 0), ("confirmed", 1)]

    with anvil(*BLOCKS) as node:
        node.say("anvil_setCode", REVERTS, "0x60006000fd")
        run(story(node))
        assert paid(node) == once([0, 1])


def test_what_is_taken_back_is_a_no_op_at_its_number_and_never_a_hole(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url]) as engine:
            handles = await engine.pay_all([1, 2, 3])
            await engine.until_taken(3)
            await engine.tell("cancel", handles[1].id)
            await engine.until_taken(4)
            node.mine(4)
            ends = await engine.final(*handles)
            assert [end.status for end in ends] == ["confirmed", "cancelled", "confirmed"]

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1, 0, 3])


def test_a_node_that_stands_still_for_a_while_costs_time_alone(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url]) as engine:
            handles = await engine.pay_all([1, 2])
            await engine.until_taken(1)
            await asyncio.to_thread(node.freeze)
            handles += await engine.pay_all([3, 4])
            await asyncio.sleep(1)
            node.thaw()
            await engine.confirmed(*handles)

    with anvil(*BLOCKS) as node:
        run(story(node))
        assert paid(node) == once([1, 2, 3, 4])


@pytest.mark.anvil_alone("the devnet forgets its chain with its process")
def test_a_node_that_restarts_without_its_pool_is_offered_everything_again(
    tmp_path: Path,
) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url], bump_after_ms=1_000) as engine:
            handles = await engine.pay_all([1, 2, 3])
            await engine.until(lambda: pool(node) == 3)
            await asyncio.to_thread(node.end)
            await asyncio.to_thread(node.start)
            assert pool(node) == 0
            async with mining(node):
                await engine.confirmed(*handles)
            assert len(engine.heard.of(AttemptSigned)) > 3

    folder = tmp_path / "node"
    folder.mkdir()
    node = Anvil(folder, "--no-mining", "--state", str(folder / "state.json"))
    try:
        node.mine()
        run(story(node))
        assert paid(node) == once([1, 2, 3])
    finally:
        node.kill()


def test_accounts_of_one_chain_go_their_own_ways_through_a_reorg(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        lanes = ("evm:dev:hot", "evm:dev:hot1", "evm:dev:hot2")
        async with opened(tmp_path, [node.url], keys=KEYS, finality_depth_blocks=4) as engine:
            handles = [await engine.pay(number, lane=lane) for lane in lanes for number in (1, 2)]
            await engine.until(lambda: pool(node) == 6)
            node.mine()
            await engine.until_heard(SlotIncluded, 6)
            node.say("anvil_reorg", 1, [])
            await engine.until_heard(AttemptReoffered, 6)
            await engine.until(lambda: pool(node) == 6)
            node.mine(6)
            await engine.confirmed(*handles)

    with anvil() as node:
        node.mine(3)
        run(story(node))
        assert [paid(node, key) for key in KEYS] == [once([1, 2])] * 3


def test_an_engine_that_ends_in_the_middle_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url]) as engine:
            await engine.pay_all([1, 2, 3])
            await engine.until(lambda: pool(node) == 3)
        async with opened(tmp_path, [node.url]) as engine:
            last = await engine.pay(4)
            await engine.until(lambda: pool(node) == 4)
            node.mine(4)
            await engine.confirmed(last)
            assert len(engine.heard.of(AttemptSigned)) == 1

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1, 2, 3, 4])


def test_numbers_that_someone_else_used_meanwhile_are_never_given_out(tmp_path: Path) -> None:
    """Ours waits at number 0 when someone else uses 0 to 3: the next payment is at 4."""

    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url], finality_depth_blocks=5) as engine:
            first = await engine.pay(1)
            await engine.until(lambda: pool(node) == 1)
            for nonce in range(4):
                raw, _ = signed(
                    nonce, value=900, maxFeePerGas=900 * GWEI, maxPriorityFeePerGas=90 * GWEI
                )
                node.say("eth_sendRawTransaction", "0x" + raw.hex())
            node.mine()
            await engine.until(lambda: engine.heard.of(AccountSeen)[-1].latest == 4)
            second = await engine.pay(2)
            async with mining(node):
                await engine.confirmed(first, second)
            claims = [record.slot.nonce for record in engine.heard.of(SlotClaimed)]
            assert claims == [0, 4, 5]

    with anvil() as node:
        run(story(node))
        assert sorted(paid(node)) == once([900, 900, 900, 900, 2, 1])


FAULTS = (
    Rule(ProxyFault.LOSE_ANSWER, probability=0.06),
    Rule(ProxyFault.LOSE_REQUEST, probability=0.06),
    Rule(ProxyFault.STATUS, probability=0.04, status=502),
    Rule(ProxyFault.STATUS, probability=0.02, status=429, retry_after_s=0),
    Rule(ProxyFault.DUPLICATE, method="eth_sendRawTransaction", probability=0.05),
    Rule(ProxyFault.DELAY, probability=0.04, ms=150),
    Rule(ProxyFault.ERROR, probability=0.03, message="nobody knows these words", forward=True),
    Rule(
        ProxyFault.ERROR, method="eth_sendRawTransaction", probability=0.03, message="nonce too low"
    ),
    Rule(ProxyFault.LAG, probability=0.05, blocks=2),
)


@pytest.mark.parametrize("seed", range(3))
def test_through_all_faults_at_once_each_is_paid_once_and_in_order(
    seed: int, tmp_path: Path
) -> None:
    """Two ways to one chain, both bad in every way; then they are mended."""
    lanes = ("evm:dev:hot", "evm:dev:hot1", "evm:dev:hot2")
    wanted = list(range(1, 41))

    async def story(node: Anvil) -> None:
        async with (
            ChaosProxy(node.url, FAULTS, seed=seed) as one,
            ChaosProxy(node.url, FAULTS, seed=seed + 100) as two,
            opened(tmp_path, [one.url, two.url], keys=KEYS, bump_after_ms=1_500) as engine,
        ):
            handles = []
            for number in wanted:
                handles += [await engine.pay(number, lane=lane) for lane in lanes]
                await asyncio.sleep(0.02)
            await asyncio.sleep(2)
            one.rule()
            two.rule()
            await engine.confirmed(*handles)

    with anvil(*BLOCKS) as node:
        run(story(node))
        for key in KEYS:
            mined = paid(node, key)
            assert [nonce for nonce, _ in mined] == list(range(len(mined))), "no gap"
            assert [wei for _, wei in mined if wei] == wanted, "each once, in order"
