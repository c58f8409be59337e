"""Every row of facts §3 (what a real node does), by the test that shows it.

Those of anvil run on a real anvil and on the model behind its socket; what the model cannot be
asked carries its reason in `tests/evm_worlds.py`. What anvil never says comes from geth's rules in
the model, and in geth's words through the fault proxy before both.

| row | test |
|---|---|
| already known | test_the_same_bytes_again_are_known |
| replacement underpriced | test_a_replacement_must_pay_more |
| replacement underpriced, tip x 8 | test_a_higher_tip_alone_replaces_nothing |
| replacement accepted | test_anvil_takes_five_percent_more_so_ten_percent_is_our_own_rule |
| nonce too low | test_a_used_nonce_proves_nothing_about_the_bytes |
| nonce gap | test_a_gap_waits_until_it_is_filled |
| nonce too high | test_a_nonce_far_ahead_is_taken_and_waits |
| insufficient funds | test_a_refusal_is_final_only_when_the_bytes_are_wrong |
| insufficient funds, by balance | test_funds_that_come_later_let_the_same_bytes_pass |
| insufficient funds, not cumulative | test_only_its_own_cost_is_held_against_the_balance |
| gas too low / above block | test_a_refusal_is_final_only_when_the_bytes_are_wrong |
| fee under base fee | test_a_refusal_is_final_only_when_the_bytes_are_wrong |
| tip > maxFee | test_a_refusal_is_final_only_when_the_bytes_are_wrong |
| wrong chain | test_a_refusal_is_final_only_when_the_bytes_are_wrong |
| malformed | test_what_cannot_be_decoded_is_refused_for_good |
| all of these, word for word | test_a_no_has_this_code_and_these_words |
| oversized 140 KiB | test_what_is_too_large_for_geth_is_taken_by_anvil |
| drop | test_a_dropped_one_leaves_its_nonce_and_may_be_sent_again |
| drop by base fee | test_one_below_the_base_fee_stays_out_and_its_nonce_is_unused |
| drop by balance | test_one_whose_funds_went_stays_out |
| mempool lost on restart | test_a_restart_loses_what_waited_and_keeps_what_was_mined |
| stuck but present | test_one_that_is_outbid_waits_and_is_mined_later |
| stuck, real pool race | test_one_that_was_not_promoted_is_freed_by_a_replacement_alone |
| reorg | test_a_reorganisation_takes_back_what_was_mined |
| reorg with other tx | test_another_may_be_mined_at_a_nonce_in_a_reorganisation |
| rollback | test_a_chain_that_is_set_back_is_told_as_it_is |
| snapshot | test_a_chain_that_goes_back_to_a_snapshot_is_told_as_it_is |
| external use of the key | test_a_key_used_elsewhere_moves_the_count |
| external use, impersonated | test_what_the_node_signs_itself_owns_its_nonce |
| RPC lag / stale node | test_a_stale_node_knows_less_and_takes_what_is_used |
| RPC lag, by the proxy | test_a_lagging_node_gives_no_count_while_another_is_ahead |
| hung node | test_a_node_that_hangs_is_unknown_and_may_have_heard |
| lost answer | test_a_lost_answer_is_unknown_and_the_bytes_are_there |
| revert | test_a_transfer_is_estimated_and_a_revert_is_told |
| revert, mined | test_a_reverted_one_is_mined_and_failed |
| base fee | test_fees_follow_the_chain |
| fee history | test_the_model_answers_as_anvil_does |
| mining | test_it_mines_on_every_send_or_by_the_clock |
| 4844 | test_a_blob_is_taken_and_mined |
| 7702 | test_a_delegation_uses_two_nonces |
| 7702, in flight | test_anvil_takes_many_of_a_delegated_account |
| ws | test_heads_are_told |
| other methods | test_the_model_answers_as_anvil_does |
| no txpool_contentFrom | test_a_wrong_call_is_refused_in_these_words |
| batches | test_one_answer_for_each_of_many_in_order |
| not anvil's: nonce too high | test_what_anvil_never_refuses_is_read |
| not anvil's: oversized | test_geth_refuses_what_is_too_large_for_good |
| not anvil's: tx pool full | test_geth_refuses_when_its_pool_is_full_and_later_not |
| not anvil's: 10 % both-field rule | test_geth_replaces_only_when_both_fees_rise_by_a_tenth |
| not anvil's: delegated limit | test_what_anvil_never_refuses_is_read |
| not anvil's: 429/5xx | test_a_gateways_trouble_is_unknown |
| not anvil's: cumulative balance | test_geth_holds_all_that_waits_against_the_balance |
"""

import ast
import asyncio
import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from msgspec import structs
from tests.anvil import CHAIN_ID, GWEI, KEYS, address, signed
from tests.evm_worlds import Needs, Told, World, kinds, mined, model, owner, send

from laneway.chains.evm.chain import RpcChain
from laneway.chains.evm.endpoint import EvmPlace
from laneway.core.facts import SendKind
from laneway.core.outcome import Outcome
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.devnets.evm.model.rules import GETH, EvmRules
from laneway.evm.envelope import encode_network, hash_of, signing_digest
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import BlobTransaction, Sidecar
from laneway.evm.transaction import signed as signed_by

pytestmark = pytest.mark.slow

K = SendKind
SENDER = address()
OTHER = address(KEYS[1])
OVERSIZED: dict[str, Any] = {"data": "0x" + "00" * 143_360, "gas": 2_000_000}
"""140 KiB, above geth's 128."""
WAIT_S = 20.0


def test_the_table_names_tests_that_are_there() -> None:
    found: set[str] = set()
    for path in Path(__file__).parent.glob("test_evm_*.py"):
        tree = ast.parse(path.read_text())
        found |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert __doc__ is not None
    rows = [line.strip("| ").split(" | ") for line in __doc__.splitlines() if line.startswith("|")]
    named = [row[1] for row in rows[2:]]
    assert len(named) == 52
    assert [name for name in named if name not in found] == []


# Of anvil, and so of the model.


def test_a_higher_tip_alone_replaces_nothing(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0)
        tipped, _ = signed(0, maxPriorityFeePerGas=8 * GWEI)
        assert await kinds(world.chain, raw, tipped) == [K.TAKEN, K.REPLACEMENT_UNDERPRICED]
        world.mine()
        assert await mined(world.chain, digest) == [True]

    tell(story)


def test_anvil_takes_five_percent_more_so_ten_percent_is_our_own_rule(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0)
        more, more_hash = signed(0, maxFeePerGas=105 * GWEI)
        assert await kinds(world.chain, raw, more) == [K.TAKEN, K.TAKEN]
        world.mine()
        assert await mined(world.chain, digest, more_hash) == [False, True]

    tell(story)


def test_a_nonce_far_ahead_is_taken_and_waits(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(1_000_000)
        assert await kinds(world.chain, raw) == [K.TAKEN]
        world.mine()
        assert world.pool() == (0, 1)
        assert await mined(world.chain, digest) == [False]

    tell(story)


def test_only_its_own_cost_is_held_against_the_balance(tell: Told) -> None:
    async def story(world: World) -> None:
        enough_for_one = 21_000 * 100 * GWEI + 1
        world.set_balance(SENDER, enough_for_one)
        assert await kinds(world.chain, signed(0)[0], signed(1)[0]) == [K.TAKEN, K.TAKEN]

    tell(story)


def test_what_is_too_large_for_geth_is_taken_by_anvil(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0, **OVERSIZED)
        assert await kinds(world.chain, raw) == [K.TAKEN]
        world.mine()
        assert await mined(world.chain, digest) == [True]

    tell(story)


def test_one_that_is_outbid_waits_and_is_mined_later(tell: Told) -> None:
    async def story(world: World) -> None:
        world.set_gas_limit(42_000)
        dear = {"maxFeePerGas": 200 * GWEI, "maxPriorityFeePerGas": 50 * GWEI}
        others = [signed(nonce, key=KEYS[1], **dear) for nonce in range(4)]
        ours, digest = signed(0)
        await send(world.chain, ours, *(raw for raw, _ in others))
        for _ in range(2):
            world.mine()
            assert await mined(world.chain, digest) == [False]
        assert all(await mined(world.chain, *(other for _, other in others)))
        world.mine()
        assert await mined(world.chain, digest) == [True]

    tell(story)


@pytest.mark.needs(Needs.POOL_RACE)
def test_one_that_was_not_promoted_is_freed_by_a_replacement_alone(tell: Told) -> None:
    async def story(world: World) -> None:
        made = [signed(nonce) for nonce in range(5)]
        await send(world.chain, *(raw for raw, _ in made))
        assert model(world).chain.strand(made[0][1])
        assert world.pool() == (0, 5)
        world.mine()
        assert (await world.chain.account(SENDER)).count == 0
        assert await kinds(world.chain, made[0][0]) == [K.ALREADY_KNOWN]
        world.mine()
        assert (await world.chain.account(SENDER)).count == 0, "to send it again does not help"
        dearer, _ = signed(0, maxFeePerGas=120 * GWEI, maxPriorityFeePerGas=2 * GWEI)
        assert await kinds(world.chain, dearer) == [K.TAKEN]
        world.mine()
        assert (await world.chain.account(SENDER)).count == 5

    tell(story)


def test_a_chain_that_goes_back_to_a_snapshot_is_told_as_it_is(tell: Told) -> None:
    async def story(world: World) -> None:
        raw, digest = signed(0)
        kept = world.say("evm_snapshot")
        await send(world.chain, raw)
        world.mine()
        assert await mined(world.chain, digest) == [True]
        assert world.say("evm_revert", kept) is True
        seen = await world.chain.account(SENDER)
        assert (seen.count, seen.block.number) == (0, 0)
        assert await mined(world.chain, digest) == [False]
        assert world.pool() == (0, 0)

    tell(story)


def test_what_the_node_signs_itself_owns_its_nonce(tell: Told) -> None:
    async def story(world: World) -> None:
        sender = "0x" + SENDER.hex()
        world.say("anvil_impersonateAccount", sender)
        foreign = world.say("eth_sendTransaction", {"from": sender, "to": sender, "value": "0x1"})
        world.mine()
        seen = await world.chain.account(SENDER)
        assert seen.count == 1
        (claim,) = await world.chain.at_nonce(SENDER, 0)
        assert "0x" + claim.hash.hex() == foreign
        assert await owner(world.chain, 0) is None, "the node signed it with no key of the account"
        assert await kinds(world.chain, signed(0)[0]) == [K.NONCE_TOO_LOW]

    tell(story)


def test_a_stale_node_knows_less_and_takes_what_is_used(tell: Told) -> None:
    """Hazard H2: a second node, which stands where the first one was."""

    async def story(world: World) -> None:
        old, old_hash = signed(0)
        new, new_hash = signed(1)
        await send(world.chain, old)
        world.mine()
        with world.behind() as behind:
            await send(world.chain, new)
            world.mine()
            alone = RpcChain([EvmPlace(behind.url)], chain_id=CHAIN_ID)
            seen = await alone.account(SENDER)
            assert (seen.count, seen.block.number) == (1, 1)
            assert await mined(alone, old_hash, new_hash) == [True, False]
            other = signed(1, value=2)[0]
            assert await kinds(alone, other) == [K.TAKEN], "it takes a nonce that is used"
            await alone.close()
            places = [EvmPlace(behind.url, name="behind"), EvmPlace(world.url, name="ahead")]
            both = RpcChain(places, chain_id=CHAIN_ID)
            newest = (await world.chain.account(SENDER)).block
            assert await owner(both, 1) == new_hash
            both._nodes.all[1].saw_head(newest.number)
            seen = await both.account(SENDER)
            assert (seen.count, seen.node) == (2, "ahead"), "nobody goes back to the stale one"
            assert await mined(both, old_hash, new_hash) == [True, True]
            await both.close()

    tell(story)


async def until(fits: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not fits():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


def test_it_mines_on_every_send_or_by_the_clock(tell: Told) -> None:
    async def story(world: World) -> None:
        def height() -> int:
            return int(world.say("eth_blockNumber"), 16)

        made = [signed(nonce) for nonce in range(3)]
        await send(world.chain, made[0][0])
        world.say("evm_setAutomine", True)
        await until(lambda: height() == 1)
        await send(world.chain, made[1][0])
        await until(lambda: height() == 2)
        world.say("evm_setIntervalMining", 1)
        assert world.say("anvil_getAutomine") is False
        await send(world.chain, made[2][0])
        assert await mined(world.chain, made[2][1]) == [False]
        await until(lambda: height() > 2)
        assert all(await mined(world.chain, *(digest for _, digest in made)))
        world.say("evm_setIntervalMining", 0)

    tell(story)


def test_a_blob_is_taken_and_mined(tell: Told) -> None:
    async def story(world: World) -> None:
        # Of a blob of zeros commitment and proof are the point at infinity.
        point = b"\xc0" + bytes(47)
        sidecar = Sidecar(0, (bytes(131_072),), (point,), (point,))
        named = b"\x01" + hashlib.sha256(point).digest()[1:]
        made = BlobTransaction(
            chain_id=CHAIN_ID,
            nonce=0,
            tip_wei_max=GWEI,
            fee_wei_max=100 * GWEI,
            gas_limit=21_000,
            to=OTHER,
            blob_fee_wei_max=10,
            blob_hashes=(named,),
            sidecar=sidecar,
        )
        key = HeldEvmKey(bytes.fromhex(KEYS[0][2:]))
        made = signed_by(made, key.sign(signing_digest(made)))
        assert await kinds(world.chain, encode_network(made)) == [K.TAKEN]
        world.mine()
        assert await mined(world.chain, hash_of(made)) == [True]

    tell(story)


def test_anvil_takes_many_of_a_delegated_account(tell: Told) -> None:
    """Geth takes one, and says so in words that only the proxy says here."""

    async def story(world: World) -> None:
        delegation = {"chainId": CHAIN_ID, "address": "0x" + "33" * 20, "nonce": 1}
        authorization = Account.sign_authorization(delegation, KEYS[0])
        sender = Account.from_key(KEYS[0]).address
        raw, _ = signed(0, gas=100_000, authorizationList=[authorization], to=sender)
        await send(world.chain, raw)
        world.mine()
        made = [signed(nonce) for nonce in range(2, 7)]
        assert await kinds(world.chain, *(raw for raw, _ in made)) == [K.TAKEN] * 5
        world.mine()
        assert all(await mined(world.chain, *(digest for _, digest in made)))

    tell(story)


# Of geth, by the model's rules.


def geth(story: Callable[[EvmDevnet, RpcChain], Any], rules: EvmRules = GETH) -> None:
    async def run() -> None:
        async with EvmDevnet(block_ms=None, rules=rules) as devnet:
            chain = RpcChain([EvmPlace(devnet.url)], chain_id=CHAIN_ID)
            try:
                await story(devnet, chain)
            finally:
                await chain.close()

    asyncio.run(run())


def test_geth_refuses_what_is_too_large_for_good() -> None:
    async def story(_: EvmDevnet, chain: RpcChain) -> None:
        (answer,) = await send(chain, signed(0, **OVERSIZED)[0])
        assert (answer.kind, answer.outcome, answer.final) == (K.OVERSIZED, Outcome.REFUSED, True)

    geth(story)


def test_geth_refuses_when_its_pool_is_full_and_later_not() -> None:
    async def story(devnet: EvmDevnet, chain: RpcChain) -> None:
        made = [signed(nonce)[0] for nonce in range(3)]
        *taken, refused = await send(chain, *made)
        assert [answer.kind for answer in taken] == [K.TAKEN, K.TAKEN]
        assert (refused.kind, refused.outcome, refused.final) == (
            K.POOL_FULL,
            Outcome.REFUSED,
            False,
        )
        devnet.mine()
        assert await kinds(chain, made[2]) == [K.TAKEN]

    geth(story, structs.replace(GETH, pool_count_max=2))


@pytest.mark.parametrize(
    ("fee", "tip", "kind"),
    [
        (110, 10, K.REPLACEMENT_UNDERPRICED),
        (109, 11, K.REPLACEMENT_UNDERPRICED),
        (105, 20, K.REPLACEMENT_UNDERPRICED),
        (110, 11, K.TAKEN),
    ],
)
def test_geth_replaces_only_when_both_fees_rise_by_a_tenth(
    fee: int, tip: int, kind: SendKind
) -> None:
    async def story(_: EvmDevnet, chain: RpcChain) -> None:
        first, _hash = signed(0, maxPriorityFeePerGas=10 * GWEI)
        other, _hash = signed(0, maxFeePerGas=fee * GWEI, maxPriorityFeePerGas=tip * GWEI)
        assert await kinds(chain, first, other) == [K.TAKEN, kind]

    geth(story)


def test_geth_holds_all_that_waits_against_the_balance() -> None:
    async def story(devnet: EvmDevnet, chain: RpcChain) -> None:
        cost = 21_000 * 100 * GWEI + 1
        devnet.say("anvil_setBalance", "0x" + SENDER.hex(), hex(2 * cost - 1))
        first, second = await send(chain, signed(0)[0], signed(1)[0])
        assert first.kind is K.TAKEN
        assert (second.kind, second.final) == (K.INSUFFICIENT_FUNDS, False)

    geth(story)
