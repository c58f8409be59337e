"""Laws of estimates: a call that fails is told from a node that could not run it, and one node of
three decides neither."""

import asyncio

import pytest
from tests.chains.evm.stage import ADDRESS, Node, run, served
from tests.rpc_stub import Drop, No

from laneway.chains.evm import estimate
from laneway.chains.evm.endpoint import EvmEndpoint
from laneway.chains.evm.estimate import shape_of
from laneway.core.errors import ChainError, ChainUnreadable
from laneway.core.facts import Estimated, NotEstimated, Reverted, SendKind
from laneway.core.majority import Estimate
from laneway.ports import Delegation, EvmCall

CALL = EvmCall(ADDRESS, ADDRESS)
SAID = "08c379a0" + f"{32:064x}" + f"{2:064x}" + b"no".hex().ljust(64, "0")


def estimated(*said: object) -> Estimate:
    """What comes of it where each node says one of these."""
    found: list[Estimate] = []

    async def story() -> None:
        async with served([Node(eth_estimateGas=one) for one in said]) as (chain, _):
            found.append(await chain.estimate(CALL))

    run(story)
    return found[0]


def test_an_estimate_is_a_number() -> None:
    assert estimated("0x5208") == Estimated(21_000)


@pytest.mark.parametrize(
    ("said", "reason", "output"),
    [
        (No(3, "execution reverted: no", "0x" + SAID), "no", bytes.fromhex(SAID)),
        (No(3, "execution reverted", "0x01"), "execution reverted", b"\x01"),
        (No(-32000, "execution reverted"), "execution reverted", b""),
        (No(-32015, "VM execution error.", "Reverted 0x" + SAID), "no", bytes.fromhex(SAID)),
        (No(3, "execution reverted", {"queer": 1}), "execution reverted", b""),
        (No(3, "execution reverted", "nonsense"), "execution reverted", b""),
    ],
)
def test_a_revert_says_why(said: No, reason: str, output: bytes) -> None:
    assert estimated(said) == Reverted(reason, output)


def test_another_no_is_told_by_its_kind() -> None:
    poor = estimated(No(-32000, "insufficient funds for transfer"))
    assert isinstance(poor, NotEstimated)
    assert poor.kind is SendKind.INSUFFICIENT_FUNDS


def test_a_limit_is_the_nodes_trouble() -> None:
    with pytest.raises(ChainError):
        estimated(No(-32005, "rate limit exceeded"))


@pytest.mark.parametrize(
    "lie",
    [
        "0x0",
        hex(2**40),
        "21000",
        No(3, "execution reverted"),
        No(-32000, "insufficient funds for transfer"),
        No(-32000, "exceeds block gas limit"),
        No(-32005, "rate limit exceeded"),
        Drop(),
    ],
)
@pytest.mark.parametrize("place", [0, 2])
def test_one_node_of_three_moves_no_estimate(lie: object, place: int) -> None:
    said: list[object] = ["0x5208", "0x5208"]
    said.insert(place, lie)
    assert estimated(*said) == Estimated(21_000)


def test_a_call_reverts_when_a_majority_of_the_nodes_says_so() -> None:
    reverted = No(3, "execution reverted")
    assert estimated("0x5208", reverted, reverted) == Reverted("execution reverted")
    assert estimated(reverted, reverted, Drop()) == Reverted("execution reverted")
    alone = estimated(reverted, Drop(), Drop())
    assert isinstance(alone, NotEstimated)
    assert not alone.kind.is_final()


def test_a_node_that_is_behind_has_no_say_in_an_estimate() -> None:
    async def story() -> None:
        late = Node(5, eth_estimateGas=No(3, "execution reverted"))
        async with served([late, Node(eth_estimateGas="0x5208")]) as (chain, _):
            # The newer block becomes known by this question, and binds the next one.
            first = await chain.estimate(CALL)
            assert isinstance(first, NotEstimated)
            assert await chain.estimate(CALL) == Estimated(21_000)

    run(story)


@pytest.mark.parametrize(("limit", "is_read"), [("0x5208", True), ("0x5207", False)])
def test_an_estimate_above_the_newest_blocks_gas_limit_is_nonsense(
    limit: str, is_read: bool
) -> None:
    async def story() -> None:
        node = Node(eth_estimateGas="0x5208")
        node.gas_limit = limit
        async with served([node]) as (chain, _):
            await chain.account(ADDRESS)
            if is_read:
                assert await chain.estimate(CALL) == Estimated(21_000)
                return
            with pytest.raises(ChainUnreadable, match="21000 gas, and its block takes 20999"):
                await chain.estimate(CALL)

    run(story)


@pytest.mark.parametrize("limit", [None, "0x0", "none", 30_000_000, hex(2**255)])
def test_a_gas_limit_that_says_nothing_bounds_nothing(limit: object) -> None:
    async def story() -> None:
        node = Node(eth_estimateGas="0x5208")
        node.gas_limit = limit
        async with served([node]) as (chain, _):
            await chain.account(ADDRESS)
            assert await chain.estimate(CALL) == Estimated(21_000)

    run(story)


def test_a_node_that_hangs_holds_no_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        forever = asyncio.Event()
        monkeypatch.setattr(estimate, "ESTIMATE_GRACE_MS", 1)
        read = estimate.read_estimate

        async def slowly(node: EvmEndpoint, call: EvmCall) -> Estimate:
            if node.name == "a":
                await forever.wait()
            return await read(node, call)

        monkeypatch.setattr(estimate, "read_estimate", slowly)
        nodes = [Node(eth_estimateGas="0x5208") for _ in range(3)]
        async with served(nodes) as (chain, _):
            assert await chain.estimate(CALL) == Estimated(21_000)

    run(story)


def test_everything_that_costs_gas_is_said() -> None:
    call = EvmCall(
        ADDRESS,
        None,
        value_wei=1,
        input=b"\x01",
        access_list=((ADDRESS, (bytes(32),)),),
        delegations=(Delegation(1, ADDRESS, 2, 0, 3, 4),),
        blob_hashes=(bytes(32),),
    )
    zero, word = "0x" + "00" * 20, "0x" + "00" * 32
    assert shape_of(call) == {
        "from": zero,
        "value": "0x1",
        "input": "0x01",
        "accessList": [{"address": zero, "storageKeys": [word]}],
        "blobVersionedHashes": [word],
        "authorizationList": [
            {
                "chainId": "0x1",
                "address": zero,
                "nonce": "0x2",
                "yParity": "0x0",
                "r": "0x3",
                "s": "0x4",
            }
        ],
    }
