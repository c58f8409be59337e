"""One suite for every EvmChain: what a nonce machine may rely on, whoever keeps the chain.

A world is a chain with the hands that move it. Each story names a law of sending, mining, losing
and reorganising as a real anvil has it; what no anvil can be made to say comes from the fault
proxy before one, at the end.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from eth_account import Account
from tests.anvil import CHAIN_ID, GWEI, KEYS, Anvil, address, anvil, signed
from tests.evm_worlds import Needs, Told, World, kinds, mined, owner, process, send

from laneway.chains.evm.chain import RpcChain
from laneway.chains.evm.endpoint import EvmPlace
from laneway.core.errors import ChainError
from laneway.core.facts import BlockRef, Estimated, Reverted, SendKind
from laneway.core.outcome import Outcome
from laneway.devnets.chaos.proxy import ChaosProxy
from laneway.devnets.chaos.rules import ProxyFault, Rule, read_rule
from laneway.engine.eoa.view import ChainView, Since
from laneway.engine.limits import BLOCKS_ASKED, BLOCKS_ROUNDS_MAX
from laneway.engine.system import SystemClock
from laneway.ports import EvmCall, EvmChain

pytestmark = pytest.mark.slow

K = SendKind
SEND = "eth_sendRawTransaction"
SENDER = address()
OTHER = address(KEYS[1])
WAIT_S = 20.0


# Sending.


def test_bytes_are_taken_mined_and_counted(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0)
        assert await kinds(world.chain, raw) == [K.TAKEN]
        assert (await world.chain.account(SENDER)).count == 0, "what waits is not counted"
        world.mine()
        seen = await world.chain.account(SENDER)
        assert (seen.count, seen.preconfirmed_count, seen.block.number) == (1, 1, 1)
        (receipt,) = await world.chain.receipts([digest])
        assert receipt is not None
        assert (receipt.hash, receipt.succeeded, receipt.block) == (digest, True, seen.block)
        assert receipt.gas_used == 21_000
        spent = receipt.gas_used * receipt.effective_gas_price_wei + 1
        assert seen.balance_wei == 10_000 * 10**18 - spent

    tell(story)


def test_receipts_of_a_block_are_told_alike_one_by_one_and_at_once(tell: Told) -> None:
    async def story(world: World) -> None:
        made = [signed(nonce) for nonce in range(20)]
        await send(world.chain, *[raw for raw, _ in made])
        world.mine()
        digests = [digest for _, digest in made]
        seen = await world.chain.blocks([BlockRef(0, await genesis(world))], 4)
        assert [len(block.hashes) for block in seen.blocks] == [20]
        alone = await world.chain.receipts(digests)
        assert await world.chain.receipts(digests, seen.blocks) == alone
        assert [one.hash for one in alone if one is not None] == digests
        assert {one.block for one in alone if one is not None} == {seen.head}

    tell(story)


def test_as_many_blocks_are_told_as_a_lane_asks_for_that_slept(tell: Told) -> None:
    """It takes fewer for a contradiction, and would wait for ever."""

    async def story(world: World) -> None:
        wanted = BLOCKS_ASKED * BLOCKS_ROUNDS_MAX
        world.mine(wanted + 3)
        known = BlockRef(0, await genesis(world))
        seen = await world.chain.blocks([known], wanted)
        assert [block.block.number for block in seen.blocks] == list(range(1, wanted + 1))
        newest = (await world.chain.account(SENDER)).block
        view = ChainView(world.chain, SystemClock())
        assert await view.since(known, newest) == Since(None)

    tell(story)


async def genesis(world: World) -> bytes:
    block = world.say("eth_getBlockByNumber", "0x0", False)
    return bytes.fromhex(block["hash"][2:])


def test_the_same_bytes_again_are_known(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, _ = signed(0)
        first, again = await send(world.chain, raw, raw)
        assert (first.kind, again.kind) == (K.TAKEN, K.ALREADY_KNOWN)
        assert again.outcome is Outcome.ACCEPTED

    tell(story)


def test_a_used_nonce_proves_nothing_about_the_bytes(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, _ = signed(0)
        other, _ = signed(0, value=2)
        await send(world.chain, raw)
        world.mine()
        for late in await send(world.chain, raw, other):
            assert (late.kind, late.outcome, late.final) == (
                K.NONCE_TOO_LOW,
                Outcome.UNKNOWN,
                False,
            )

    tell(story)


def test_a_replacement_must_pay_more(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0)
        cheap, _ = signed(0, value=2)
        dear, dear_hash = signed(0, value=2, maxFeePerGas=120 * GWEI, maxPriorityFeePerGas=2 * GWEI)
        taken, refused, replaced = await send(world.chain, raw, cheap, dear)
        assert taken.kind is K.TAKEN
        assert (refused.kind, refused.outcome, refused.final) == (
            K.REPLACEMENT_UNDERPRICED,
            Outcome.REFUSED,
            False,
        )
        assert replaced.kind is K.TAKEN
        world.mine()
        assert await mined(world.chain, digest, dear_hash) == [False, True]

    tell(story)


def test_a_gap_waits_until_it_is_filled(tell: Told) -> None:
    async def story(world: World) -> None:
        late, late_hash = signed(1)
        first, first_hash = signed(0)
        assert await kinds(world.chain, late) == [K.TAKEN]
        assert world.pool() == (0, 1)
        assert world.say("eth_getTransactionCount", "0x" + SENDER.hex(), "pending") == "0x0"
        world.mine()
        assert await mined(world.chain, late_hash) == [False]
        assert await kinds(world.chain, first) == [K.TAKEN]
        world.mine()
        assert await mined(world.chain, first_hash, late_hash) == [True, True]

    tell(story)


@pytest.mark.parametrize(
    ("kind", "final", "fields"),
    [
        (K.INSUFFICIENT_FUNDS, False, {"value": 10**30}),
        (K.INTRINSIC_GAS, True, {"gas": 20_000}),
        (K.GAS_LIMIT, True, {"gas": 10**9}),
        (K.FEE_CAP_TOO_LOW, False, {"maxFeePerGas": 10, "maxPriorityFeePerGas": 1}),
        (K.TIP_ABOVE_CAP, True, {"maxPriorityFeePerGas": 200 * GWEI}),
        (K.WRONG_CHAIN, True, {"chainId": 1}),
    ],
)
def test_a_refusal_is_final_only_when_the_bytes_are_wrong(
    tell: Told, kind: SendKind, final: bool, fields: dict[str, Any]
) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0, **fields)
        (answer,) = await send(world.chain, raw)
        assert (answer.kind, answer.outcome, answer.final) == (kind, Outcome.REFUSED, final)
        world.mine()
        assert await mined(world.chain, digest) == [False]

    tell(story)


def test_what_cannot_be_decoded_is_refused_for_good(tell: Told) -> None:
    async def story(world: World) -> None:
        (answer,) = await send(world.chain, bytes.fromhex("02deadbeef"))
        assert (answer.kind, answer.final) == (K.MALFORMED, True)

    tell(story)


def test_funds_that_come_later_let_the_same_bytes_pass(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, _ = signed(0)
        world.set_balance(SENDER, 0)
        assert await kinds(world.chain, raw) == [K.INSUFFICIENT_FUNDS]
        world.set_balance(SENDER, 10**18)
        assert await kinds(world.chain, raw) == [K.TAKEN]

    tell(story)


def test_one_answer_for_each_of_many_in_order(tell: Told) -> None:
    async def story(world: World) -> None:
        made = [signed(nonce) for nonce in range(150)]
        wrong = signed(150, chainId=1)[0]
        answers = await kinds(world.chain, *(raw for raw, _ in made), wrong)
        assert answers == [K.TAKEN] * 150 + [K.WRONG_CHAIN]
        world.mine()
        assert all(await mined(world.chain, *(digest for _, digest in made)))
        assert (await world.chain.account(SENDER)).count == 150

    tell(story)


# Losing.


@pytest.mark.parametrize(
    ("way", "params"),
    [
        ("anvil_dropTransaction", ["0x" + signed(0)[1].hex()]),
        ("anvil_removePoolTransactions", ["0x" + SENDER.hex()]),
        ("anvil_dropAllTransactions", []),
    ],
)
def test_a_dropped_one_leaves_its_nonce_and_may_be_sent_again(
    tell: Told, way: str, params: list[object]
) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0)
        await send(world.chain, raw)
        world.say(way, *params)
        assert world.say("eth_getTransactionByHash", "0x" + digest.hex()) is None
        world.mine()
        assert await mined(world.chain, digest) == [False]
        assert (await world.chain.account(SENDER)).count == 0
        assert await kinds(world.chain, raw) == [K.TAKEN]
        world.mine()
        assert await mined(world.chain, digest) == [True]

    tell(story)


def test_one_below_the_base_fee_stays_out_and_its_nonce_is_unused(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0, maxFeePerGas=2 * GWEI)
        assert await kinds(world.chain, raw) == [K.TAKEN]
        world.set_base_fee(100 * GWEI)
        world.mine()
        assert await mined(world.chain, digest) == [False]
        assert world.pool() == (0, 0), "it is forgotten"
        assert (await world.chain.account(SENDER)).count == 0

    tell(story)


def test_one_whose_funds_went_stays_out(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0)
        await send(world.chain, raw)
        world.set_balance(SENDER, 0)
        world.mine()
        assert await mined(world.chain, digest) == [False]
        assert (await world.chain.account(SENDER)).count == 0
        world.set_balance(SENDER, 10**18)
        world.mine()
        assert await mined(world.chain, digest) == [False], "it does not come back by itself"

    tell(story)


# Blocks and reorganisations.


def test_blocks_come_in_a_row_with_the_hashes_in_them(tell: Told) -> None:
    async def story(world: World) -> None:
        begun = await world.chain.blocks([], 10)
        assert begun.after is None
        assert [seen.block for seen in begun.blocks] == [begun.head]
        raw, digest = signed(0)
        await send(world.chain, raw)
        world.mine(3)
        seen = await world.chain.blocks([begun.head], 10)
        assert seen.after == begun.head
        assert [block.hashes for block in seen.blocks] == [(digest,), (), ()]
        assert seen.blocks[-1].block == seen.head
        assert [block.parent for block in seen.blocks[1:]] == [
            block.block.hash for block in seen.blocks[:-1]
        ]
        part = await world.chain.blocks([begun.head], 2)
        assert part.blocks == seen.blocks[:2]
        assert part.head == part.blocks[-1].block, "as many as were asked for"
        nothing = await world.chain.blocks([seen.head], 10)
        assert (nothing.after, nothing.blocks) == (seen.head, ())

    tell(story)


async def known_blocks(chain: EvmChain) -> list[BlockRef]:
    """Everything from the first block on."""
    first = (await chain.blocks([], 1)).head
    assert first.number == 0
    return [first]


def test_a_reorganisation_takes_back_what_was_mined(tell: Told) -> None:
    async def story(world: World) -> None:
        known = await known_blocks(world.chain)
        made = [signed(nonce) for nonce in range(4)]
        for raw, _ in made:
            await send(world.chain, raw)
            world.mine()
        seen = await world.chain.blocks(known, 10)
        known += [block.block for block in seen.blocks]
        world.reorg(2)
        after = await world.chain.blocks(known, 10)
        assert after.after == known[2]
        assert [block.block.number for block in after.blocks] == [3, 4]
        assert after.blocks[0].block != known[3]
        hashes = [digest for _, digest in made]
        assert await mined(world.chain, *hashes) == [True, True, False, False]
        assert (await world.chain.account(SENDER)).count == 2
        assert await kinds(world.chain, *(raw for raw, _ in made[2:])) == [K.TAKEN, K.TAKEN]
        world.mine()
        assert all(await mined(world.chain, *hashes))

    tell(story)


def test_another_may_be_mined_at_a_nonce_in_a_reorganisation(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0)
        other, other_hash = signed(0, value=2)
        await send(world.chain, raw)
        world.mine()
        assert await owner(world.chain, 0) == digest
        world.reorg(1, [other])
        assert await mined(world.chain, digest, other_hash) == [False, True]
        assert await owner(world.chain, 0) == other_hash
        assert await kinds(world.chain, raw) == [K.NONCE_TOO_LOW]

    tell(story)


def test_a_chain_that_is_set_back_is_told_as_it_is(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0)
        await send(world.chain, raw)
        world.mine()
        assert (await world.chain.account(SENDER)).count == 1
        world.set_back(1)
        seen = await world.chain.account(SENDER)
        assert (seen.count, seen.block.number) == (0, 0)
        assert await mined(world.chain, digest) == [False]

    tell(story)


def test_nobody_owns_a_nonce_that_is_not_mined(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, _ = signed(0)
        await send(world.chain, raw)
        assert await owner(world.chain, 0) is None
        world.mine()
        assert await owner(world.chain, 0) is not None
        assert await owner(world.chain, 1) is None

    tell(story)


def test_heads_are_told(tell: Told) -> None:
    async def story(world: World) -> None:
        heads = world.chain.heads()
        begun = await asyncio.wait_for(anext(heads), WAIT_S)
        assert begun.number == 0
        world.mine()
        assert (await asyncio.wait_for(anext(heads), WAIT_S)).number == 1
        world.reorg(1)
        world.mine()
        while (head := await asyncio.wait_for(anext(heads), WAIT_S)).number < 2:
            pass
        assert (await world.chain.account(SENDER)).block == head
        await heads.aclose()  # type: ignore[attr-defined]

    tell(story)


# Fees and estimates.


def test_fees_follow_the_chain(tell: Told) -> None:
    async def story(world: World) -> None:
        world.set_base_fee(7 * GWEI)
        world.mine()
        fees = await world.chain.fees()
        assert (fees.base_fee_wei, fees.supports_1559) == (7 * GWEI, True)
        assert fees.gas_price_wei >= fees.priority_fee_wei
        assert fees.block.number == 1

    tell(story)


def test_a_transfer_is_estimated_and_a_revert_is_told(tell: Told) -> None:
    async def story(world: World) -> None:
        transfer = EvmCall(SENDER, OTHER, value_wei=1)
        assert await world.chain.estimate(transfer) == Estimated(21_000)
        # PUSH1 0, PUSH1 0, REVERT.
        world.set_code(b"\x22" * 20, bytes.fromhex("60006000fd"))
        failing = await world.chain.estimate(EvmCall(SENDER, b"\x22" * 20))
        assert isinstance(failing, Reverted)

    tell(story)


def test_a_reverted_one_is_mined_and_failed(tell: Told) -> None:
    async def story(world: World) -> None:
        world.set_code(b"\x22" * 20, bytes.fromhex("60006000fd"))
        raw, digest = signed(0, to="0x" + "22" * 20, gas=100_000)
        await send(world.chain, raw)
        world.mine()
        (receipt,) = await world.chain.receipts([digest])
        assert receipt is not None
        assert not receipt.succeeded
        assert (await world.chain.account(SENDER)).count == 1

    tell(story)


# What only the adapter on a real node can show.


def test_a_restart_loses_what_waited_and_keeps_what_was_mined(tmp_path: Any) -> None:
    async def story(node: Anvil) -> None:
        chain = RpcChain([EvmPlace(node.url)], chain_id=CHAIN_ID)
        mined_raw, mined_hash = signed(0)
        waiting_raw, waiting_hash = signed(1)
        await send(chain, mined_raw)
        node.mine()
        await send(chain, waiting_raw)
        node.end()
        # The first finds a connection that looks open, and cannot know.
        assert (await send(chain, waiting_raw))[0].outcome is Outcome.UNKNOWN
        (away,) = await send(chain, waiting_raw)
        assert (away.kind, away.outcome) == (K.UNREACHABLE, Outcome.REFUSED)
        with pytest.raises(ChainError):
            await chain.account(SENDER)
        node.start()
        assert (await chain.account(SENDER)).count == 1
        assert await mined(chain, mined_hash, waiting_hash) == [True, False]
        assert await kinds(chain, waiting_raw) == [K.TAKEN]
        await chain.close()

    with anvil("--no-mining", "--state", str(tmp_path / "state")) as node:
        asyncio.run(story(node))


@pytest.mark.needs(Needs.PROCESS)
def test_a_node_that_hangs_is_unknown_and_may_have_heard(tell: Told) -> None:
    async def story(world: World) -> None:
        chain = RpcChain([EvmPlace(world.url)], chain_id=CHAIN_ID, send_ms=500)
        await chain.account(SENDER)
        process(world).freeze()
        (answer,) = await send(chain, signed(0)[0])
        process(world).thaw()
        assert (answer.kind, answer.outcome) == (K.SILENT, Outcome.UNKNOWN)
        patient = RpcChain([EvmPlace(world.url)], chain_id=CHAIN_ID)
        assert (await send(patient, signed(0)[0]))[0].outcome is Outcome.ACCEPTED
        await patient.close()
        await chain.close()

    tell(story)


def test_a_key_used_elsewhere_moves_the_count(tell: Told) -> None:
    async def story(world: World) -> None:
        chain = RpcChain([EvmPlace(world.url)], chain_id=CHAIN_ID)
        world.set_nonce(SENDER, 7)
        world.mine()
        assert (await chain.account(SENDER)).count == 7
        await chain.close()

    tell(story)


def test_a_delegation_uses_two_nonces(tell: Told) -> None:
    async def story(world: World) -> None:
        chain = RpcChain([EvmPlace(world.url)], chain_id=CHAIN_ID)
        delegation = {"chainId": CHAIN_ID, "address": "0x" + "33" * 20, "nonce": 1}
        authorization = Account.sign_authorization(delegation, KEYS[0])
        raw, digest = signed(
            0, gas=100_000, authorizationList=[authorization], to=Account.from_key(KEYS[0]).address
        )
        assert await kinds(chain, raw) == [K.TAKEN]
        world.mine()
        seen = await chain.account(SENDER)
        assert seen.count == 2
        assert await mined(chain, digest) == [True]
        assert await owner(chain, 0) == digest
        (claim,) = await chain.at_nonce(SENDER, 1)
        assert (claim.count, claim.raw) == (2, b""), "it is used, and no transaction has it"
        await chain.close()

    tell(story)


@pytest.mark.parametrize("more", [{"gasPrice": 10 * GWEI}, {"accessList": []}])
def test_other_types_are_taken(tell: Told, more: dict[str, Any]) -> None:
    async def story(world: World) -> None:
        chain = RpcChain([EvmPlace(world.url)], chain_id=CHAIN_ID)
        if "gasPrice" in more:
            more.update(maxFeePerGas=None, maxPriorityFeePerGas=None)
        raw, digest = signed(0, **more)
        assert await kinds(chain, raw) == [K.TAKEN]
        world.mine()
        assert await mined(chain, digest) == [True]
        assert await owner(chain, 0) == digest
        await chain.close()

    tell(story)


def test_a_node_without_the_look_up_by_nonce_is_searched(tell: Told) -> None:
    async def story(world: World) -> None:
        rule = read_rule("error method=eth_getTransactionBySenderAndNonce code=-32601 message=no")
        async with proxied(world, rule) as (chain, _):
            hashes = []
            for nonce in range(6):
                raw, digest = signed(nonce)
                hashes.append(digest)
                await send(chain, raw)
                world.mine(3)
            assert [await owner(chain, nonce) for nonce in range(6)] == hashes
            assert await owner(chain, 6) is None

    tell(story)


# What no anvil says, through the proxy.


@asynccontextmanager
async def proxied(
    world: World, *rules: Rule, **settings: Any
) -> AsyncIterator[tuple[RpcChain, ChaosProxy]]:
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(ChaosProxy(world.url, rules))
        chain = RpcChain([EvmPlace(proxy.url, ws_url=proxy.ws_url)], chain_id=CHAIN_ID, **settings)
        stack.push_async_callback(chain.close)
        yield chain, proxy


@pytest.mark.parametrize(
    ("words", "kind", "final"),
    [
        ("nonce too high", K.NONCE_TOO_HIGH, False),
        ("oversized data: transaction size 143360, limit 131072", K.OVERSIZED, True),
        ("transaction type not supported", K.UNSUPPORTED, True),
        ("txpool is full", K.POOL_FULL, False),
        ("in-flight transaction limit reached for delegated accounts", K.ACCOUNT_LIMIT, False),
        (
            "insufficient funds for gas * price + value: balance 1, queued cost 2, tx cost 3",
            K.INSUFFICIENT_FUNDS,
            False,
        ),
        ("replacement transaction underpriced", K.REPLACEMENT_UNDERPRICED, False),
        ("tx fee (1.20 ether) exceeds the configured cap (1.00 ether)", K.NODE_FEE_CAP, True),
    ],
)
def test_what_anvil_never_refuses_is_read(
    tell: Told, words: str, kind: SendKind, final: bool
) -> None:
    async def story(world: World) -> None:
        rule = Rule(ProxyFault.ERROR, method=SEND, message=words, count=1)
        async with proxied(world, rule) as (chain, _):
            raw, _hash = signed(0)
            (answer,) = await send(chain, raw)
            assert (answer.kind, answer.outcome, answer.final) == (kind, Outcome.REFUSED, final)
            assert await kinds(chain, raw) == [K.TAKEN]

    tell(story)


def test_a_lost_answer_is_unknown_and_the_bytes_are_there(tell: Told) -> None:
    """Hazard H1: whoever takes this for a refusal pays twice."""

    async def story(world: World) -> None:
        async with proxied(world, Rule(ProxyFault.LOSE_ANSWER, method=SEND, count=1)) as (chain, _):
            raw, digest = signed(0)
            (answer,) = await send(chain, raw)
            assert (answer.kind, answer.outcome) == (K.SILENT, Outcome.UNKNOWN)
            assert await kinds(chain, raw) == [K.ALREADY_KNOWN]
            world.mine()
            assert await mined(chain, digest) == [True]

    tell(story)


def test_a_lost_request_is_unknown_too(tell: Told) -> None:
    async def story(world: World) -> None:
        async with proxied(world, Rule(ProxyFault.LOSE_REQUEST, method=SEND, count=1)) as (
            chain,
            _,
        ):
            raw, _hash = signed(0)
            assert (await send(chain, raw))[0].outcome is Outcome.UNKNOWN
            assert await kinds(chain, raw) == [K.TAKEN]

    tell(story)


def test_bytes_that_arrive_twice_are_accepted(tell: Told) -> None:
    async def story(world: World) -> None:
        async with proxied(world, Rule(ProxyFault.DUPLICATE, method=SEND)) as (chain, _):
            (answer,) = await send(chain, signed(0)[0])
            assert (answer.kind, answer.outcome) == (K.ALREADY_KNOWN, Outcome.ACCEPTED)

    tell(story)


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        (
            Rule(ProxyFault.STATUS, method=SEND, status=429, retry_after_s=0, count=1),
            K.RATE_LIMITED,
        ),
        (
            Rule(ProxyFault.STATUS, method=SEND, status=503, retry_after_s=0, count=1),
            K.RATE_LIMITED,
        ),
        (Rule(ProxyFault.STATUS, method=SEND, status=502, count=1), K.SILENT),
        (Rule(ProxyFault.HANG, method=SEND, count=1), K.SILENT),
        (Rule(ProxyFault.HANG_ANSWER, method=SEND, count=1), K.SILENT),
        (Rule(ProxyFault.ERROR, method=SEND, message="queer words", count=1), K.UNKNOWN),
    ],
)
def test_a_gateways_trouble_is_unknown(tell: Told, rule: Rule, kind: SendKind) -> None:
    async def story(world: World) -> None:
        async with proxied(world, rule, send_ms=1_000) as (chain, _):
            raw, _hash = signed(0)
            (answer,) = await send(chain, raw)
            assert (answer.kind, answer.outcome) == (kind, Outcome.UNKNOWN)
            patient = RpcChain([EvmPlace(world.url)], chain_id=CHAIN_ID)
            assert (await send(patient, raw))[0].outcome is Outcome.ACCEPTED
            await patient.close()

    tell(story)


def test_a_lagging_node_gives_no_count_while_another_is_ahead(tell: Told) -> None:
    """Hazard H2: a count and the receipts that belong to it must not come from two times."""

    async def story(world: World) -> None:
        raw, digest = signed(0)
        async with ChaosProxy(world.url, [Rule(ProxyFault.LAG, at=0)]) as behind:
            places = [EvmPlace(behind.url, name="behind"), EvmPlace(world.url, name="ahead")]
            chain = RpcChain(places, chain_id=CHAIN_ID, poll_ms=20)
            await send(chain, raw)
            world.mine()
            heads = chain.heads()
            while (await asyncio.wait_for(anext(heads), WAIT_S)).number < 1:
                pass
            seen = await chain.account(SENDER)
            assert (seen.node, seen.count) == ("ahead", 1)
            (receipt,) = await chain.receipts([digest])
            assert receipt is not None
            assert receipt.node == "ahead"
            await heads.aclose()  # type: ignore[attr-defined]
            await chain.close()

    tell(story)


def test_a_lagging_node_alone_is_told_by_its_block(tell: Told) -> None:
    async def story(world: World) -> None:
        async with proxied(world) as (chain, proxy):
            raw, digest = signed(0)
            await send(chain, raw)
            world.mine(3)
            ahead = await chain.account(SENDER)
            proxy.rule(Rule(ProxyFault.LAG, blocks=3))
            behind = await chain.account(SENDER)
            assert (behind.count, behind.block.number) == (0, 0)
            assert await chain.receipts([digest]) == [None]
            assert await owner(chain, 0) is None
            known = [ahead.block]
            assert (await chain.blocks(known, 10)).after == ahead.block, "lag is no reorganisation"

    tell(story)


def test_heads_go_on_when_the_subscription_is_cut(tell: Told) -> None:
    async def story(world: World) -> None:
        rule = Rule(ProxyFault.LOSE_ANSWER, method="eth_subscription")
        async with proxied(world, rule, poll_ms=20) as (chain, _):
            heads = chain.heads()
            for number in range(4):
                newest = -1
                while newest < number:
                    newest = (await asyncio.wait_for(anext(heads), WAIT_S)).number
                assert newest == number
                world.mine()
            await heads.aclose()  # type: ignore[attr-defined]

    tell(story)
