"""Laws of reading what EVM nodes answer: a number beyond its bound is not read, and
the node that says it is named."""

from contextlib import suppress
from typing import Any

import pytest
from tests.chains.evm.stage import ADDRESS, Node, run, served
from tests.rpc_stub import No

from laneway.chains.evm import endpoint
from laneway.chains.evm.blocks import LATEST
from laneway.chains.evm.chain import RpcChain
from laneway.chains.evm.nonce import read_claim
from laneway.core.errors import ChainError, ChainUnreadable
from laneway.ports import EvmCall
from laneway.ports.nodes import UNREADABLE
from laneway.wire.limits import FEE_WEI_MAX, NUMBER_MAX, WEI_MAX

FEES: dict[str, Any] = {
    "eth_gasPrice": "0x8",
    "eth_maxPriorityFeePerGas": "0x1",
    "eth_blobBaseFee": "0x1",
}
RECEIPT = {
    "transactionHash": "0x" + "11" * 32,
    "blockNumber": "0x5",
    "blockHash": "0x" + "22" * 32,
    "gasUsed": "0x5208",
    "status": "0x1",
    "effectiveGasPrice": "0x8",
}


async def ask(chain: RpcChain, what: str) -> object:
    if what == "account":
        return await chain.account(ADDRESS)
    if what == "fees":
        return await chain.fees()
    if what == "estimate":
        return await chain.estimate(EvmCall(sender=ADDRESS, to=ADDRESS))
    if what == "blocks":
        return await chain.blocks([], 1)
    if what == "receipts":
        return await chain.receipts([b"\x11" * 32])
    assert what == "nonce"
    return await read_claim(chain._nodes.all[0], ADDRESS, 1)


def header(**changed: Any) -> Any:
    return lambda _: {**(Node().block(10) or {}), **changed}


@pytest.mark.parametrize("bad", ["0x-1", "0x1_0", "-0x1", "12", "", hex(NUMBER_MAX + 1)])
@pytest.mark.parametrize("what", ["account", "estimate", "nonce", "blocks", "receipts"])
def test_a_count_that_no_chain_has_is_unreadable(what: str, bad: str) -> None:
    said: dict[str, Any] = {
        "account": {"eth_getTransactionCount": bad},
        "estimate": {"eth_estimateGas": bad},
        "nonce": {"eth_blockNumber": bad},
        "blocks": {"eth_getBlockByNumber": header(number=bad)},
        "receipts": {"eth_getTransactionReceipt": {**RECEIPT, "blockNumber": bad}},
    }[what]

    async def story() -> None:
        async with served([Node(**FEES, **said)]) as (chain, _):
            with pytest.raises(ChainUnreadable):
                await ask(chain, what)

    run(story)


@pytest.mark.parametrize("bad", ["0x-1", hex(FEE_WEI_MAX + 1), hex(WEI_MAX)])
@pytest.mark.parametrize(
    "method", ["eth_gasPrice", "eth_maxPriorityFeePerGas", "eth_blobBaseFee", "base", "receipt"]
)
def test_a_price_that_no_row_can_hold_is_unreadable(method: str, bad: str) -> None:
    said: dict[str, Any] = {**FEES, method: bad}
    if method == "base":
        said["eth_getBlockByNumber"] = header(baseFeePerGas=bad)
    said["eth_getTransactionReceipt"] = {**RECEIPT, "effectiveGasPrice": bad}

    async def story() -> None:
        async with served([Node(**said)]) as (chain, _):
            with pytest.raises(ChainUnreadable):
                await ask(chain, "receipts" if method == "receipt" else "fees")

    run(story)


@pytest.mark.parametrize("left_out", [True, False])
def test_a_receipt_without_a_price_is_a_receipt(left_out: bool) -> None:
    async def story() -> None:
        shown: dict[str, Any] = {**RECEIPT, "effectiveGasPrice": None}
        if left_out:
            del shown["effectiveGasPrice"]
        async with served([Node(eth_getTransactionReceipt=shown)]) as (chain, _):
            (seen,) = await chain.receipts([b"\x11" * 32])
            assert seen is not None
            assert (seen.gas_used, seen.effective_gas_price_wei) == (21_000, 0)

    run(story)


def test_what_is_within_the_bounds_is_read() -> None:
    said: dict[str, Any] = {
        **dict.fromkeys(FEES, hex(FEE_WEI_MAX)),
        "eth_getTransactionCount": hex(NUMBER_MAX),
        "eth_getBalance": hex(WEI_MAX),
    }

    async def story() -> None:
        async with served([Node(**said)]) as (chain, _):
            seen = await chain.account(ADDRESS)
            assert (seen.count, seen.balance_wei) == (NUMBER_MAX, WEI_MAX)
            fees = await chain.fees()
            assert fees.gas_price_wei == fees.blob_base_fee_wei == FEE_WEI_MAX

    run(story)


def test_a_balance_beyond_256_bits_is_unreadable() -> None:
    async def story() -> None:
        async with served([Node(eth_getBalance=hex(WEI_MAX + 1))]) as (chain, _):
            with pytest.raises(ChainUnreadable):
                await chain.account(ADDRESS)

    run(story)


SAID: dict[str, Any] = {
    **FEES,
    "eth_estimateGas": "0x5208",
    "eth_getTransactionReceipt": RECEIPT,
    "eth_getTransactionBySenderAndNonce": None,
}
BAD: dict[str, tuple[str, Any]] = {
    "account": ("eth_getTransactionCount", "0x-1"),
    "fees": ("eth_gasPrice", None),
    "estimate": ("eth_estimateGas", "21000"),
    "blocks": ("eth_getBlockByNumber", header(transactions=[{}])),
    "receipts": ("eth_getTransactionReceipt", {**RECEIPT, "gasUsed": "21000"}),
    "nonce": ("eth_getTransactionCount", No(-32000, "missing trie node")),
}


async def ask_all(chain: RpcChain, what: str) -> None:
    """One question through the port; that it fails is seen in the standing."""
    with suppress(ChainError):
        await (chain.at_nonce(ADDRESS, 1) if what == "nonce" else ask(chain, what))


@pytest.mark.parametrize("what", BAD)
def test_a_node_whose_answers_cannot_be_read_is_named_until_they_can(what: str) -> None:
    async def story() -> None:
        method, bad = BAD[what]
        node = Node(**{**SAID, method: bad})
        async with served([node]) as (chain, _):
            (asked,) = chain._nodes.all
            await ask_all(chain, what)
            (named,) = chain.standings()
            assert named.trouble == UNREADABLE
            assert "answers what cannot be read" in named.words()
            await asked.ask([LATEST])
            await chain.probe(10_000, 0)
            assert chain.standings() == [named], "what else it answers does not help"
            assert not asked.is_resting(), "and it is offered what is signed"
            node.said = Node(**SAID).said
            await ask_all(chain, what)
            assert not chain.standings()[0].trouble

    run(story)


def test_a_node_is_named_until_all_of_its_answers_can_be_read() -> None:
    async def story() -> None:
        node = Node(**{**SAID, "eth_gasPrice": None, "eth_getBalance": "100"})
        async with served([node]) as (chain, _):
            await ask_all(chain, "account")
            await ask_all(chain, "fees")
            node.said["eth_getBalance"] = "0x64"
            await ask_all(chain, "account")
            assert chain.standings()[0].trouble, "fees are read at every look too"
            node.said["eth_gasPrice"] = "0x8"
            await ask_all(chain, "fees")
            assert not chain.standings()[0].trouble

    run(story)


def test_what_could_not_be_read_long_ago_says_nothing_of_a_node_that_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A lane that rests looks at nothing, and its process must become ready again."""

    async def story() -> None:
        async with served([Node(eth_gasPrice=None)]) as (chain, _):
            await ask_all(chain, "fees")
            assert chain.standings()[0].trouble
            monkeypatch.setattr(endpoint, "UNREAD_KEPT_MS", -1)
            await chain.probe(10_000, 0)
            assert not chain.standings()[0].trouble

    run(story)
