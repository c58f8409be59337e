"""What nodes say of fees is believed up to a ceiling, on real chains behind a proxy that lies."""

from pathlib import Path

import pytest
from tests.anvil import GWEI, Anvil, anvil
from tests.laws.eoa_engine import mining, once, opened, paid, run

from laneway.devnets.chaos.proxy import ChaosProxy
from laneway.devnets.chaos.rules import ProxyFault, Rule
from laneway.lanes.eoa.values import AttemptReoffered, AttemptSigned, MakingDelayed

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("each_node")]

LIE = 4 * 10**17
"""0.4 ether for one unit of gas."""
TIP, PRICE = "eth_maxPriorityFeePerGas", "eth_gasPrice"
FEES = (TIP, PRICE, "eth_blobBaseFee")


def lies(*methods: str, wei: int = LIE) -> list[Rule]:
    return [Rule(ProxyFault.LIE, method=method, result=f'"{hex(wei)}"') for method in methods]


def test_one_node_of_three_that_lies_about_fees_is_outvoted(tmp_path: Path) -> None:
    async def story(node: Anvil) -> None:
        async with ChaosProxy(node.url) as liar, ChaosProxy(node.url) as second:
            liar.rule(*lies(*FEES))
            async with opened(tmp_path, [liar.url, second.url, node.url]) as engine:
                await engine.confirmed(await engine.pay(1))
                (signed,) = engine.heard.of(AttemptSigned)
                assert signed.attempt.fee.tip <= 2 * GWEI
                assert not engine.heard.of(MakingDelayed)

    with anvil("--block-time", "0.2") as node:
        run(story(node))
        assert paid(node) == once([1])


def test_what_the_only_node_lies_about_is_parked_with_its_reason_until_it_stops(
    tmp_path: Path,
) -> None:
    async def story(node: Anvil) -> None:
        async with ChaosProxy(node.url) as liar, mining(node):
            liar.rule(*lies(TIP, PRICE))
            async with opened(tmp_path, [liar.url]) as engine:
                handle = await engine.pay(1)
                parked = await engine.until_heard(MakingDelayed, 3)
                for record in parked:
                    assert record.reason.startswith("parked_by_cap: it asks 40000000")
                    assert "fee_wei_max allows more" in record.reason
                assert not engine.heard.of(AttemptSigned)
                liar.rule()
                await engine.confirmed(handle)

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1])


def test_a_ceiling_that_was_set_wins_over_the_default(tmp_path: Path) -> None:
    """30 gwei are more than the default allows beside a base fee of nothing, and less than set."""

    async def story(node: Anvil) -> None:
        async with ChaosProxy(node.url) as proxy, mining(node):
            proxy.rule(*lies(TIP, PRICE, wei=60 * GWEI))
            async with opened(tmp_path / "default", [proxy.url]) as engine:
                await engine.pay(1)
                (parked,) = (await engine.until_heard(MakingDelayed))[:1]
                assert " 50 gwei are allowed by the default at a base fee of" in parked.reason
            async with opened(tmp_path / "set", [proxy.url], fee_wei_max="100 gwei") as engine:
                await engine.confirmed(await engine.pay(1))
            async with opened(tmp_path / "low", [proxy.url], fee_wei_max="40 gwei") as engine:
                await engine.pay(2)
                (parked,) = (await engine.until_heard(MakingDelayed))[:1]
                assert " 40 gwei are allowed by eoa.fee_wei_max" in parked.reason

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1])


def test_a_ceiling_below_twice_the_base_fee_still_pays_the_fee_of_now(tmp_path: Path) -> None:
    """Parked was what two base fees and a tip exceeded: 20 gwei stopped at a base fee of 10."""

    async def story(node: Anvil) -> None:
        node.say("anvil_setNextBlockBaseFeePerGas", hex(10 * GWEI))
        node.mine()
        async with opened(tmp_path, [node.url], fee_wei_max="12 gwei") as engine:
            handle = await engine.pay(1)
            (signed,) = await engine.until_heard(AttemptSigned)
            assert signed.attempt.fee.cap == 12 * GWEI
            async with mining(node):
                await engine.confirmed(handle)

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1])


def test_an_outage_of_the_node_alone_makes_no_payment_dearer(tmp_path: Path) -> None:
    """32 attempts were signed that no node had received, and the payment cost 41 gwei, not 1."""

    async def story(node: Anvil) -> None:
        async with (
            ChaosProxy(node.url) as proxy,
            mining(node),
            opened(tmp_path, [proxy.url], bump_after_ms=100) as engine,
        ):
            await engine.confirmed(await engine.pay(1))
            proxy.rule(Rule(ProxyFault.LOSE_REQUEST, method="eth_sendRawTransaction"))
            handle = await engine.pay(2)
            again = await engine.until_heard(AttemptReoffered, 5)
            assert {one.number for one in again} == {1}
            signed = [one for one in engine.heard.of(AttemptSigned) if one.nonce == 1]
            assert len(signed) == 1
            proxy.rule()
            await engine.confirmed(handle)

    with anvil() as node:
        run(story(node))
        assert paid(node) == once([1, 2])
