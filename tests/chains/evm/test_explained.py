"""Laws of explanations: one node's word, bounded, and nothing of it is held against a node."""

from typing import Any

import pytest
from tests.chains.evm.stage import ADDRESS, CHAIN_ID, Node, run, served
from tests.rpc_stub import Drop, No, Whole

from laneway.chains.evm.chain import RpcChain
from laneway.chains.evm.limits import LOG_BYTES_MAX, LOGS_COUNT_MAX, OUTPUT_BYTES_MAX
from laneway.core.errors import ChainError, ChainUnreadable
from laneway.core.facts import BlockRef, LogSeen, LogsSeen, RevertSeen
from laneway.ports import EvmCall, MinedCall

TRACE = "debug_traceTransaction"
BLOCK = BlockRef(9, b"\x09" * 32)
MINED = MinedCall(b"\x01" * 32, EvmCall(ADDRESS, ADDRESS, 5, b"in"), 60_000, BLOCK)
HASH = "0x" + "01" * 32
NO_METHOD = No(-32601, "the method does not exist")
PRUNED = No(-32000, "missing trie node")


def log(data: str = "0x02", topics: int = 1) -> dict[str, Any]:
    return {"address": "0x" + "11" * 20, "topics": ["0x" + "22" * 32] * topics, "data": data}


def receipt(*logs: dict[str, Any], block: str = "0x" + "09" * 32) -> dict[str, Any]:
    return {"blockHash": block, "logs": list(logs), "status": "0x1"}


def asked(question: str, *nodes: Node) -> tuple[Any, list[list[str]]]:
    """What a chain of these nodes says, and the methods that each was asked."""
    found: list[Any] = []

    async def story() -> None:
        async with served(nodes) as (chain, stubs):
            try:
                found.append(await getattr(chain, question)(MINED))
            except ChainError as error:
                found.append(error)
            assert all(standing.trouble == "" for standing in chain.standings())
            greeted = ("eth_chainId", "web3_clientVersion")
            found.append([[m for m, _ in stub.heard if m not in greeted] for stub in stubs])

    run(story)
    return found[0], found[1]


def test_logs_are_those_of_the_receipt_in_its_block() -> None:
    seen, _ = asked("logs", Node(eth_getTransactionReceipt=receipt(log(), log("0x", 2))))
    one = LogSeen(b"\x11" * 20, (b"\x22" * 32,), b"\x02")
    assert seen == LogsSeen((one, LogSeen(one.address, one.topics * 2, b"")))


@pytest.mark.parametrize("said", [None, receipt(block="0x" + "08" * 32), receipt(log("zz")), 5])
def test_another_block_and_nonsense_say_nothing(said: object) -> None:
    seen, _ = asked("logs", Node(eth_getTransactionReceipt=said))
    assert isinstance(seen, ChainUnreadable)


def test_logs_are_kept_up_to_a_bound() -> None:
    count = LOGS_COUNT_MAX + 3
    many, _ = asked("logs", Node(eth_getTransactionReceipt=receipt(*[log()] * count)))
    assert (len(many.logs), many.left_out) == (LOGS_COUNT_MAX, 3)
    long = "0x" + "00" * (LOG_BYTES_MAX // 2)
    large, _ = asked("logs", Node(eth_getTransactionReceipt=receipt(log(long), log(long), log())))
    assert (len(large.logs), large.left_out) == (1, 2)


def test_a_trace_says_why() -> None:
    node = Node(debug_traceTransaction={"error": "execution reverted", "output": "0xdead"})
    seen, (methods,) = asked("revert", node)
    assert seen == RevertSeen(b"\xde\xad", "execution reverted", "a trace by a")
    assert methods == [TRACE]
    halted, _ = asked(
        "revert", Node(debug_traceTransaction={"error": "out of gas", "output": None})
    )
    assert halted == RevertSeen(b"", "out of gas", "a trace by a")
    long = {"error": "execution reverted", "output": "0x" + "00" * (OUTPUT_BYTES_MAX + 9)}
    cut, _ = asked("revert", Node(debug_traceTransaction=long))
    assert len(cut.output) == OUTPUT_BYTES_MAX


@pytest.mark.parametrize(
    "traced",
    [NO_METHOD, PRUNED, {"output": "0x"}, {"error": ""}, 7, {"error": "x", "output": "zz"}],
)
def test_without_a_trace_the_call_is_run_again_on_the_state_before_its_block(
    traced: object,
) -> None:
    heard: list[Any] = []

    def call(params: list[Any]) -> Any:
        heard.append(params)
        raise No(3, "execution reverted", "0xbeef")

    seen, _ = asked("revert", Node(debug_traceTransaction=traced, eth_call=call))
    source = "a call on the state before block 9 by a"
    assert seen == RevertSeen(b"\xbe\xef", "execution reverted", source)
    shape = {
        "from": "0x" + "00" * 20, "to": "0x" + "00" * 20, "value": "0x5", "input": "0x696e",
        "gas": "0xea60",
    }  # fmt: skip
    assert heard == [[shape, "0x8"], [shape, "0x9"]]


def test_what_fails_on_the_state_after_its_block_alone_is_said_so() -> None:
    def call(params: list[Any]) -> Any:
        if params[1] == "0x8":
            return "0x"
        raise No(-32000, "OutOfGas")

    seen, _ = asked("revert", Node(eth_call=call))
    assert seen == RevertSeen(b"", "OutOfGas", "a call on the state after block 9 by a")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (PRUNED, "-32000 missing trie node"),
        (NO_METHOD, "the method does not exist"),
        ("0x", "does not fail on the state before block 9; .* after block 9"),
    ],
)
def test_a_node_that_cannot_say_it_says_why(said: object, why: str) -> None:
    seen, _ = asked("revert", Node(eth_call=said))
    assert isinstance(seen, ChainUnreadable)
    with pytest.raises(ChainUnreadable, match=why):
        raise seen


def test_the_next_node_is_asked() -> None:
    pruned, archive = Node(eth_call=PRUNED), Node(head=3, debug_traceTransaction={"error": "x"})
    seen, (_, methods) = asked("revert", pruned, archive)
    assert (seen.source, methods) == ("a trace by b", [TRACE])


def test_a_gateway_that_forbids_traces_is_asked_once() -> None:
    async def story() -> None:
        failed = No(3, "execution reverted")
        node = Node(debug_traceTransaction=Whole(403, b"forbidden"), eth_call=failed)
        async with served([node]) as (chain, (stub,)):
            for _ in range(2):
                assert (await chain.revert(MINED)).message == "execution reverted"
            assert [m for m, _ in stub.heard].count(TRACE) == 1
            await still_read(chain)

    run(story)


async def still_read(chain: RpcChain) -> None:
    assert chain.chain_id == CHAIN_ID
    assert (await chain.account(ADDRESS)).count == 5


def test_a_node_that_breaks_off_has_no_answer() -> None:
    seen: list[ChainError] = []

    async def story() -> None:
        gone = Drop()
        node = Node(debug_traceTransaction=gone, eth_call=gone, eth_getTransactionReceipt=gone)
        async with served([node]) as (chain, _):
            for question in (chain.revert, chain.logs):
                with pytest.raises(ChainError) as lost:
                    await question(MINED)
                seen.append(lost.value)

    run(story)
    assert len(seen) == 2


def test_a_node_whose_allowance_lanes_need_is_not_asked() -> None:
    async def story() -> None:
        node = Node(debug_traceTransaction={"error": "x"})
        async with served([node], a={"calls_per_s": 3.0}) as (chain, (stub,)):
            await chain.account(ADDRESS)
            for question in (chain.revert, chain.logs):
                with pytest.raises(ChainError, match="its allowance is left to the lanes"):
                    await question(MINED)
            assert TRACE not in [method for method, _ in stub.heard]

    run(story)
