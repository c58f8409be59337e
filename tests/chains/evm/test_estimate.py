"""Laws of estimates: a call that fails is told from a node that could not run it."""

import pytest
from tests.chains.evm.stage import ADDRESS, Node, run, served
from tests.rpc_stub import No

from laneway.chains.evm.estimate import shape_of
from laneway.core.errors import ChainError
from laneway.core.facts import Estimated, NotEstimated, Reverted, SendKind
from laneway.ports import Delegation, EvmCall

CALL = EvmCall(ADDRESS, ADDRESS)
SAID = "08c379a0" + f"{32:064x}" + f"{2:064x}" + b"no".hex().ljust(64, "0")


def estimated(said: object) -> Estimated | Reverted | NotEstimated:
    found: list[Estimated | Reverted | NotEstimated] = []

    async def story() -> None:
        async with served([Node(eth_estimateGas=said)]) as (chain, _):
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
