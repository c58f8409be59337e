"""What a chain will never take ends as refused, with the node's own message, and the next payment
goes through; a real anvil judges, and geth's messages come from the proxy before one."""

from pathlib import Path
from typing import Any

import pytest
from tests.anvil import CHAIN_ID, Anvil, anvil
from tests.laws.eoa_engine import PAYEE, Run, mining, once, opened, paid, run

from laneway.devnets.chaos.proxy import ChaosProxy
from laneway.devnets.chaos.rules import ProxyFault, Rule
from laneway.lanes.eoa.limits import REFUSALS_MAX
from laneway.lanes.eoa.values import AttemptSigned, BumpOrdered, SlotDropped, SlotFreed
from laneway.wire.evm import EvmAuthorization, EvmBlobs

pytestmark = pytest.mark.slow

SEND = "eth_sendRawTransaction"
POINT = "0xc0" + "00" * 47
BLOBS = EvmBlobs(
    blobs=["0x" + "00" * 131_072],
    commitments=[POINT],
    # Of a blob of zeros it would be the point at infinity, like the commitment.
    proofs=["0x97" + "f1" * 47],
    max_fee_per_blob_gas="1000000000",
)
AUTHORIZATION = EvmAuthorization(
    chain_id=str(CHAIN_ID), address=PAYEE, nonce="0", y_parity=0, r="1", s="1"
)
TYPE_1, TYPE_2 = {"type": 1}, {"type": 2}
TYPE_3, TYPE_4 = {"blobs": BLOBS}, {"authorization_list": [AUTHORIZATION]}


async def poisoned(engine: Run, said: str, **words: Any) -> None:
    """One that no node takes between two that are paid."""
    first = await engine.pay(1)
    await engine.confirmed(first)
    poison = await engine.pay(2, gas=100_000, **words)
    (end,) = await engine.final(poison)
    assert end.status == "refused"
    assert said in end.reason
    assert said in (await engine.laneway.show(poison.id)).reason
    await engine.confirmed(await engine.pay(3))


@pytest.mark.parametrize(
    ("fork", "words", "said"),
    [
        ("cancun", TYPE_4, "EIP-7702 fields received"),
        ("london", TYPE_3, "EIP-4844 fields received"),
        ("cancun", TYPE_3, "KZG error"),
        ("berlin", TYPE_2, "EIP-1559 style fee params"),
        ("istanbul", TYPE_1, "Access list received"),
    ],
    ids=["type 4 cancun", "blobs london", "bad proof", "type 2 berlin", "type 1 istanbul"],
)
def test_what_an_anvil_does_not_know_is_refused_in_its_words(
    fork: str, words: dict[str, Any], said: str, tmp_path: Path
) -> None:
    async def story(node: Anvil) -> None:
        async with opened(tmp_path, [node.url]) as engine, mining(node):
            await poisoned(engine, said, **words)
            offers = [one for one in engine.heard.of(AttemptSigned) if one.nonce == 1]
            # Five of the poison and one of the payment after it, at the same number.
            assert len(offers) == REFUSALS_MAX + 1
            assert len(engine.heard.of(SlotFreed)) == REFUSALS_MAX - 1
            assert [one.recycle for one in engine.heard.of(SlotDropped)] == [True]
            assert not engine.heard.of(BumpOrdered)

    with anvil("--no-mining", "--hardfork", fork) as node:
        run(story(node))
        assert paid(node) == once([1, 3])


@pytest.mark.parametrize(
    "said",
    [
        "transaction type not supported",
        "tx fee (1.05 ether) exceeds the configured cap (1.00 ether)",
        "invalid sender",
        "invalid chain id for signer: have 1 want 31337",
        "KZG verification error: invalid blob proof: can't verify opening proof",
        "rlp: expected input list for types.LegacyTx",
    ],
)
def test_what_geth_refuses_for_good_is_refused_in_its_words(said: str, tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with ChaosProxy(node.url) as geth, mining(node):
            geth.rule(Rule(ProxyFault.ERROR, method=SEND, message=said, nth=2, count=REFUSALS_MAX))
            async with opened(tmp_path, [geth.url]) as engine:
                await poisoned(engine, said)
                fees = {one.attempt.fee.tip for one in engine.heard.of(AttemptSigned)}
                assert len(fees) == 1, "never at a climbing fee"

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1, 3])


def test_where_one_node_may_have_had_it_a_no_op_takes_its_number(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        said = "transaction type not supported"
        async with (
            ChaosProxy(node.url) as geth,
            mining(node),
            opened(tmp_path, [geth.url], bump_after_ms=300) as engine,
        ):
            geth.rule(
                Rule(ProxyFault.LOSE_REQUEST, method=SEND, count=1),
                Rule(ProxyFault.ERROR, method=SEND, message=said, nth=2),
            )
            poison = await engine.pay(1)
            (order,) = await engine.until_heard(BumpOrdered)
            assert (order.purpose, said in order.reason) == ("noop", True)
            geth.rule()
            (end,) = await engine.final(poison)
            assert (end.status, said in end.reason) == ("refused", True)
            await engine.confirmed(await engine.pay(2))

    with anvil() as node:
        run(story(node))
        assert paid(node) == [(0, 0), (1, 2)]


def test_what_only_one_of_two_nodes_refuses_is_paid(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with ChaosProxy(node.url) as geth, mining(node):
            geth.rule(Rule(ProxyFault.ERROR, method=SEND, message="transaction type not supported"))
            async with opened(tmp_path, [geth.url, node.url]) as engine:
                await engine.confirmed(await engine.pay(1), await engine.pay(2))

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1, 2])
