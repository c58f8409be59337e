"""Laws of reading from several nodes: never back in time, and past a node only for its trouble."""

import asyncio

import pytest
from tests.chains.evm.stage import ADDRESS, Node, run, served
from tests.rpc_stub import Drop, No, Whole

from laneway.chains import endpoint as shared
from laneway.chains.endpoint import name_of
from laneway.chains.evm import endpoint
from laneway.chains.evm import nodes as nodes_module
from laneway.chains.evm.endpoint import EvmPlace
from laneway.chains.evm.nodes import EvmNodes
from laneway.chains.nodes import NodeLags
from laneway.core.errors import BadRequest, ChainError, ChainUnreachable, ChainUnreadable
from laneway.core.facts import BlockRef, Estimated, NotEstimated, SendKind
from laneway.ports import EvmCall
from laneway.wire.hex import read_octets


def test_a_node_that_lags_is_not_believed() -> None:
    async def story() -> None:
        ahead, behind = Node(12), Node(10)
        async with served([behind, ahead]) as (chain, _):
            assert (await chain.account(ADDRESS)).node == "a"
            ahead_seen = await chain.blocks([], 1)
            assert ahead_seen.node == "a", "nobody has spoken of block 12 yet"
            chain._nodes.all[1].saw_head(12)
            assert (await chain.account(ADDRESS)).node == "b"
            behind.head = 12
            chain._nodes.all[0].saw_head(12)
            assert (await chain.account(ADDRESS)).node == "a"

    run(story)


def test_nobody_answers_when_all_that_can_be_asked_are_behind() -> None:
    async def story() -> None:
        ahead, behind = Node(12), Node(10)
        async with served([ahead, behind]) as (chain, _):
            await chain.account(ADDRESS)
            ahead.said["eth_getBlockByNumber"] = Drop()
            with pytest.raises(ChainError):
                await chain.account(ADDRESS)
            behind.head = 12
            assert (await chain.account(ADDRESS)).node == "b"

    run(story)


def test_a_dead_nodes_word_does_not_bind_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        ahead, behind = Node(1_000_000), Node(10)
        async with served([ahead, behind]) as (chain, _):
            await chain.account(ADDRESS)
            ahead.said["eth_getBlockByNumber"] = Drop()
            monkeypatch.setattr(shared, "HEAD_KEPT_MS", -1)
            assert (await chain.account(ADDRESS)).block.number == 10

    run(story)


def test_the_only_node_is_believed_when_the_chain_is_set_back() -> None:
    async def story() -> None:
        node = Node(12)
        async with served([node]) as (chain, _):
            assert (await chain.account(ADDRESS)).block.number == 12
            node.head = 8
            assert (await chain.account(ADDRESS)).block.number == 8

    run(story)


@pytest.mark.parametrize(
    "trouble", [Drop(), Whole(502), Whole(429, Retry_After="9"), Whole(200, b"<html>")]
)
def test_a_read_goes_past_a_node_in_trouble(trouble: Exception) -> None:
    async def story() -> None:
        async with served([Node(eth_getBlockByNumber=trouble), Node()]) as (chain, stubs):
            assert (await chain.account(ADDRESS)).node == "b"
            asked = len(stubs[0].heard)
            assert (await chain.account(ADDRESS)).node == "b"
            assert len(stubs[0].heard) == asked, "it is left alone for a while"

    run(story)


def test_a_nodes_word_on_a_nonce_is_not_its_trouble() -> None:
    """OpenZeppelin's relayer paused every provider over one nonce error (its issue 681)."""

    async def story() -> None:
        first = Node(eth_estimateGas=No(-32603, "nonce too low"))
        async with served([first, first]) as (chain, _):
            answer = await chain.estimate(EvmCall(ADDRESS, ADDRESS))
            assert isinstance(answer, NotEstimated)
            assert answer.kind is SendKind.NONCE_TOO_LOW
            await chain.send([b"\x01"])
            assert not chain._nodes.all[0].is_resting()

    run(story)


def test_nodes_that_all_fail_together_are_not_asked_one_by_one_again() -> None:
    """Each may have been silent for half a minute, and they are asked again later anyway."""

    async def story() -> None:
        odd = Node(eth_estimateGas="queer")
        async with served([odd, odd, odd]) as (chain, stubs):
            with pytest.raises(ChainUnreadable, match="queer"):
                await chain.estimate(EvmCall(ADDRESS, ADDRESS))
            asked = [[method for method, _ in stub.heard] for stub in stubs]
            assert [one.count("eth_estimateGas") for one in asked] == [1, 1, 1]

    run(story)


def test_where_the_others_fail_one_that_failed_a_moment_ago_is_asked() -> None:
    async def story() -> None:
        odd = Node(eth_estimateGas="queer")
        # Of three nodes one alone would not be believed.
        async with served([Node(eth_estimateGas="0x5208"), odd]) as (chain, _):
            chain._nodes.all[0].rest_failed(ChainUnreadable("a", "it was away"))
            assert await chain.estimate(EvmCall(ADDRESS, ADDRESS)) == Estimated(21_000)

    run(story)


def test_the_only_node_is_asked_again_although_it_failed() -> None:
    async def story() -> None:
        node = Node(eth_getBlockByNumber=Drop())
        async with served([node]) as (chain, _):
            with pytest.raises(ChainError):
                await chain.account(ADDRESS)
            del node.said["eth_getBlockByNumber"]
            assert (await chain.account(ADDRESS)).count == 5

    run(story)


def test_a_busy_node_is_left_alone_until_the_time_it_named() -> None:
    async def story() -> None:
        node = Node(eth_getBlockByNumber=Whole(429, Retry_After="60"))
        async with served([node]) as (chain, stubs):
            with pytest.raises(ChainError):
                await chain.account(ADDRESS)
            asked = len(stubs[0].heard)
            with pytest.raises(ChainUnreachable, match="busy"):
                await chain.account(ADDRESS)
            assert len(stubs[0].heard) == asked

    run(story)


def test_a_node_of_another_chain_is_never_used() -> None:
    async def story() -> None:
        async with served([Node(eth_chainId="0x1"), Node()]) as (chain, stubs):
            assert (await chain.account(ADDRESS)).node == "b"
            ((elsewhere, here),) = await chain.send([b"\x01"])
            assert (elsewhere.kind, elsewhere.final) == (SendKind.UNREACHABLE, False)
            assert here.kind is SendKind.TAKEN
            assert [method for method, _ in stubs[0].heard if "send" in method] == []

    run(story)


def test_a_bound_on_calls_is_kept() -> None:
    async def story() -> None:
        async with served([Node()], a={"calls_per_s": 1}) as (chain, stubs):
            node = chain._nodes.all[0]
            node._greeted_s = shared.loop_s()
            await node.prepare(2)
            waiting = asyncio.create_task(node.prepare(50))
            await asyncio.sleep(0)
            with pytest.raises(ChainUnreachable, match="allowance"):
                await node.prepare(1)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await node.prepare(0)
            assert stubs[0].heard == []

    run(story)


def test_a_block_without_that_hash_is_named_by_its_number() -> None:
    async def story() -> None:
        node = Node()

        def count(params: list[object]) -> str:
            if isinstance(params[1], dict):
                raise No(-32602, "invalid argument 1")
            return "0x6"

        node.said["eth_getTransactionCount"] = count
        async with served([node]) as (chain, _):
            assert (await chain.account(ADDRESS)).count == 6
            assert (await chain.account(ADDRESS)).count == 6

    run(story)


def test_a_flashblocks_promise_is_read_where_there_is_one() -> None:
    async def story() -> None:
        node = Node()
        node.said["eth_getTransactionCount"] = lambda params: (
            "0x9" if params[1] == "pending" else "0x5"
        )
        async with served([node], preconfirmed=True) as (chain, _):
            seen = await chain.account(ADDRESS)
            assert (seen.count, seen.preconfirmed_count) == (5, 9)
        async with served([node]) as (chain, stubs):
            seen = await chain.account(ADDRESS)
            assert (seen.count, seen.preconfirmed_count) == (5, 5)
            assert all("pending" not in params for _, params in stubs[0].heard)

    run(story)


def test_fees_of_old_chains_are_read() -> None:
    async def story() -> None:
        node = Node(eth_gasPrice="0xa")
        async with served([node]) as (chain, _):
            fees = await chain.fees()
            assert (fees.base_fee_wei, fees.priority_fee_wei) == (7, 3)
            assert fees.blob_base_fee_wei is None
            assert fees.supports_1559
            node.said["eth_getBlockByNumber"] = {"number": "0xb", "hash": "0x01"}
            fees = await chain.fees()
            assert (fees.base_fee_wei, fees.gas_price_wei, fees.supports_1559) == (0, 10, False)

    run(story)


def test_a_head_that_nobody_else_has_makes_no_other_node_behind() -> None:
    async def story() -> None:
        liar, *honest = Node(60), Node(10), Node(10)
        async with served([liar, *honest]) as (chain, _):
            for _ in range(2):
                seen = await chain.account(ADDRESS)
                assert (seen.node, seen.block.number) == ("b", 10)
                assert (await chain.blocks([], 1, seen.node)).node == "b"
            honest[0].head = 11
            await chain.account(ADDRESS)
            honest[1].head = 11
            assert (await chain.account(ADDRESS)).block.number == 11

    run(story)


def test_a_lagging_node_is_not_believed_over_a_fresher_majority() -> None:
    async def story() -> None:
        behind = Node(8, eth_getTransactionCount="0x4")
        async with served([behind, Node(10), Node(10)]) as (chain, _):
            for _ in range(2):
                seen = await chain.account(ADDRESS)
                assert (seen.node, seen.count, seen.block.number) == ("b", 5, 10)
            assert (await chain.blocks([], 1)).node == "b"

    run(story)


@pytest.mark.parametrize("lie", ["0x0", "0x6", hex(2**40)])
def test_no_node_of_three_alone_changes_a_count(lie: str) -> None:
    async def story() -> None:
        liar = Node(eth_getTransactionCount=lie)
        async with served([liar, Node(), Node()]) as (chain, _):
            assert (await chain.account(ADDRESS)).count == 5

    run(story)


def test_one_of_three_that_is_away_is_done_without_and_two_are_not() -> None:
    async def story() -> None:
        nodes = [Node(eth_getBlockByNumber=Drop()), Node(), Node()]
        async with served(nodes) as (chain, stubs):
            for _ in range(2):
                assert (await chain.account(ADDRESS)).count == 5
            assert len([one for one in stubs[0].heard if one[0] == "eth_getBlockByNumber"]) <= 2
            nodes[1].said["eth_getBlockByNumber"] = Drop()
            with pytest.raises(ChainUnreachable, match="2 must"):
                await chain.account(ADDRESS)
            del nodes[0].said["eth_getBlockByNumber"]
            del nodes[1].said["eth_getBlockByNumber"]
            assert (await chain.account(ADDRESS)).count == 5

    run(story)


def test_a_node_that_hangs_holds_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story() -> None:
        async def hang(_calls: object, *_more: object) -> list[object]:
            await asyncio.Event().wait()
            return []

        async with served([Node(), Node(), Node()]) as (chain, _):
            node = chain._nodes.all[0]
            monkeypatch.setattr(node, "ask", hang)
            monkeypatch.setattr(nodes_module, "READ_GRACE_MS", 10)
            assert (await chain.account(ADDRESS)).count == 5
            assert node.is_resting()

    run(story)


def test_a_known_block_is_gone_only_when_another_is_in_its_place() -> None:
    async def story() -> None:
        node = Node(10)

        def ref(number: int) -> BlockRef:
            return BlockRef(number, read_octets(node.hash(number)))

        async with served([node]) as (chain, _):
            known = [ref(number) for number in range(5, 11)]
            node.head = 8
            lagging = await chain.blocks(known, 10)
            assert (lagging.after, lagging.blocks, lagging.head) == (known[-1], (), ref(8))
            node.head, node.branches = 12, {9: 1}
            forked = await chain.blocks(known, 10)
            assert forked.after == known[3]
            assert [seen.block for seen in forked.blocks] == [ref(n) for n in (9, 10, 11, 12)]
            node.branches = {0: 2}
            gone = await chain.blocks(known, 10)
            assert gone.after is None
            assert [seen.block for seen in gone.blocks] == [ref(12)]

    run(story)


def test_blocks_that_do_not_stand_on_each_other_are_left_out() -> None:
    async def story() -> None:
        node = Node(12)

        def torn(params: list[str]) -> object:
            number = node.head if params[0] == "latest" else int(params[0], 16)
            block = node.block(number)
            if block is not None and number == 12:
                block["parentHash"] = "0x" + "99" * 32
            return block

        node.said["eth_getBlockByNumber"] = torn
        async with served([node]) as (chain, _):
            seen = await chain.blocks([BlockRef(10, read_octets(node.hash(10)))], 5)
            assert [block.block.number for block in seen.blocks] == [11]

    run(story)


@pytest.mark.parametrize(
    "said", ["latest", {"number": "ten", "hash": "0x00"}, {"number": "0xa"}, None, 7]
)
def test_a_block_that_is_none_is_unreadable(said: object) -> None:
    async def story() -> None:
        async with served([Node(eth_getBlockByNumber=lambda _: said)]) as (chain, _):
            with pytest.raises(ChainUnreadable):
                await chain.account(ADDRESS)

    run(story)


def test_nodes_are_named_apart() -> None:
    with pytest.raises(BadRequest):
        EvmNodes([])
    place = EvmPlace("http://127.0.0.1:1/v3/secret")
    with pytest.raises(BadRequest, match="one name"):
        EvmNodes([endpoint.EvmEndpoint(place, 1), endpoint.EvmEndpoint(place, 1)])
    assert endpoint.EvmEndpoint(place, 1).name == "127.0.0.1:1"
    for url in ("", "ftp://a", "http://"):
        with pytest.raises(BadRequest):
            name_of(url)


def test_a_node_that_is_behind_says_so() -> None:
    assert "10" in str(NodeLags("a", 10, 12))
