"""Laws of reading what is named: values as they are, absence as None, nonsense as an error. One
node of several that has nothing, nonsense or no answer hides nothing that another has."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.chains.jam.stage import Node, header, line, run, served
from tests.jip2_stub import Silence
from tests.rpc_stub import No

from laneway.chains.jam.agreement import NodeContradicted
from laneway.chains.jam.chain import Jip2Chain
from laneway.chains.nodes import AnswerUnconfirmed
from laneway.core.errors import BuildFailed, ChainError, ChainUnreadable
from laneway.core.jam import SyncState
from laneway.jam.hashing import blake2b
from laneway.jam.segments import exports_root
from laneway.jam.service.commitment import HEAD_KEY
from laneway.jam.spec import SEGMENT_BYTES
from laneway.jam.state import SERVICE_ACCOUNT, ServiceAccount
from laneway.wire.jip2 import blob

AT = header("a1")
H = blob(AT)
KEY = bytes(31)

READS: list[tuple[str, Any, Callable[[Jip2Chain], Awaitable[Any]], list[Any], Any]] = [
    ("statistics", blob(b"s"), lambda c: c.statistics(AT), [H], b"s"),
    ("listServices", [0, 7], lambda c: c.services(AT), [H], (0, 7)),
    ("serviceData", None, lambda c: c.service_account(AT, 7), [H, 7], None),
    ("serviceData", blob(b"d"), lambda c: c.service_account(AT, 7), [H, 7], b"d"),
    ("serviceValue", blob(b"v"), lambda c: c.service_value(AT, 7, b"k"), [H, 7, "aw=="], b"v"),
    ("servicePreimage", None, lambda c: c.service_preimage(AT, 7, AT), [H, 7, H], None),
    ("serviceRequest", None, lambda c: c.service_request(AT, 7, AT, 3), [H, 7, H, 3], None),
    ("serviceRequest", [1, 2], lambda c: c.service_request(AT, 7, AT, 3), [H, 7, H, 3], (1, 2)),
    ("workReport", blob(b"r"), lambda c: c.work_report(AT), [H], b"r"),
    ("fetchSegments", [blob(b"1"), ""], lambda c: c.segments(AT, [4, 5]), [H, [4, 5]], (b"1", b"")),
    ("fetchWorkPackageSegments", [""], lambda c: c.package_segments(AT, [4]), [H, [4]], (b"",)),
    ("syncState", {"num_peers": 3, "status": "Completed"}, lambda c: c.sync_state(), [],
     SyncState(3, True)),
    ("stateValue", blob(b"v"), lambda c: c.state_value(AT, KEY), [H, blob(KEY)], b"v"),
    ("accumulationOutputs", blob(b"o"), lambda c: c.accumulation_outputs(AT), [H], b"o"),
    ("accumulationOutputProof", {"x": 1}, lambda c: c.accumulation_output_proof(AT, 7), [H, 7],
     {"x": 1}),
    ("beefyMmrProof", {"x": 1}, lambda c: c.beefy_mmr_proof(AT, 7), [H, 7], {"x": 1}),
    ("beefyCommitments", {"x": 1}, lambda c: c.beefy_commitments(AT), [H], {"x": 1}),
    ("beefyJustification", None, lambda c: c.beefy_justification(AT), [H], None),
    ("stateProof", {"x": 1}, lambda c: c.state_proof(AT, [KEY], bytes_max=9),
     [H, [blob(KEY)], [], "none", 9], {"x": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("method", "said", "read", "params", "found"), READS)
def test_each_method_is_asked_and_read_as_jip2_says(
    method: str,
    said: Any,
    read: Callable[[Jip2Chain], Awaitable[Any]],
    params: list[Any],
    found: Any,
) -> None:
    async def story() -> None:
        async with served([Node(**{method: said})]) as (chain, (stub,)):
            assert await read(chain) == found
            assert stub.heard[-1] == (method, params)

    run(story)


def test_segments_are_fetched_in_parts_and_counted() -> None:
    async def story() -> None:
        node = Node()
        node.said["fetchSegments"] = lambda params: [blob(bytes([one])) for one in params[1]]
        async with served([node]) as (chain, (stub,)):
            found = await chain.segments(AT, range(150))
            assert found == tuple(bytes([one]) for one in range(150))
            assert stub.methods().count("fetchSegments") == 3
            assert await chain.segments(AT, []) == ()
            node.said["fetchSegments"] = [""]
            with pytest.raises(ChainUnreadable, match="1 of 2"):
                await chain.segments(AT, [0, 1])

    run(story)


def test_a_draft_that_a_node_lacks_is_an_error() -> None:
    async def story() -> None:
        async with served([Node(stateValue=No(-32601, "Method not found"))]) as (chain, _):
            with pytest.raises(ChainUnreadable):
                await chain.state_value(AT, KEY)

    run(story)


# Several nodes.

HEAD_RAW = line(4)[HEAD_KEY]
ACCOUNT = ServiceAccount(
    code_hash=bytes(32),
    balance=0,
    min_item_gas=0,
    min_memo_gas=0,
    octets=0,
    deposit_offset=0,
    items=0,
    creation_slot=0,
    last_accumulation_slot=0,
    parent_service=0,
)
ACCOUNT_RAW = SERVICE_ACCOUNT.encode(ACCOUNT)
PREIMAGE = b"the code of a service"

VALUES: list[tuple[str, bytes, Callable[[Jip2Chain], Awaitable[bytes | None]]]] = [
    ("serviceData", ACCOUNT_RAW, lambda c: c.service_account(AT, 7)),
    ("serviceValue", HEAD_RAW, lambda c: c.service_value(AT, 7, HEAD_KEY)),
    ("servicePreimage", PREIMAGE, lambda c: c.service_preimage(AT, 7, blake2b(PREIMAGE))),
]


@pytest.mark.parametrize(("method", "raw", "read"), VALUES)
@pytest.mark.parametrize(
    "trouble", [None, blob(b"garbage"), "no base64!", {"no": "blob"}, No(1, "Block unavailable", H)]
)
def test_one_node_of_three_hides_no_value(
    method: str, raw: bytes, read: Callable[[Jip2Chain], Awaitable[bytes | None]], trouble: Any
) -> None:
    async def story() -> None:
        bad, *good = Node(**{method: trouble}), *[Node(**{method: blob(raw)}) for _ in range(2)]
        async with served([bad, *good]) as (chain, _):
            assert await read(chain) == raw
            assert await read(chain) == raw
            assert [one.trouble for one in chain.standings()] == ["", "", ""]

    run(story)


OTHERS = {
    "serviceData": SERVICE_ACCOUNT.encode(replace(ACCOUNT, code_hash=b"\7" * 32)),
    "serviceValue": line(5)[HEAD_KEY],
}
"""What could be read just as well."""


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(("method", "raw", "read"), VALUES[:2])
def test_one_node_of_three_makes_up_no_value(
    method: str, raw: bytes, read: Callable[[Jip2Chain], Awaitable[bytes | None]], place: int
) -> None:
    async def story() -> None:
        nodes = [Node(**{method: blob(raw)}) for _ in range(3)]
        nodes[place].said[method] = blob(OTHERS[method])
        async with served(nodes) as (chain, _):
            await chain.head()
            for _ in range(3):
                assert await read(chain) == raw

    run(story)


def test_of_two_nodes_with_different_values_none_is_believed_while_both_answer() -> None:
    async def story() -> None:
        nodes = [Node(serviceValue=blob(HEAD_RAW)), Node(serviceValue=blob(OTHERS["serviceValue"]))]
        async with served(nodes, slot_ms=200) as (chain, stubs):
            await chain.head()
            with pytest.raises(NodeContradicted, match="the answer to serviceValue"):
                await chain.service_value(AT, 7, HEAD_KEY)
            nodes[1].said["serviceValue"] = No(1, "Block unavailable", H)
            assert await chain.service_value(AT, 7, HEAD_KEY) == HEAD_RAW, "it has forgotten it"
            nodes[1].said["serviceValue"] = None
            assert await chain.service_value(AT, 7, HEAD_KEY) == HEAD_RAW, "it proves nothing"
            await stubs[1].stop()
            assert await chain.service_value(AT, 7, HEAD_KEY) == HEAD_RAW
            await stubs[1].start()

    run(story)


def test_a_value_waits_for_no_other_node_that_was_silent() -> None:
    async def story() -> None:
        nodes = [Node(serviceValue=blob(HEAD_RAW)), Node(serviceValue=Silence())]
        async with served(nodes, slot_ms=2_000) as (chain, _):
            await chain.head()
            chain._nodes.look_after(chain._nodes.all[1])
            async with asyncio.timeout(2):
                for _ in range(8):
                    assert await chain.service_value(AT, 7, HEAD_KEY) == HEAD_RAW

    run(story)


@pytest.mark.parametrize(("method", "raw", "read"), VALUES)
@pytest.mark.parametrize("answer", [None, blob(b"garbage")])
def test_what_two_nodes_do_not_have_is_absent_and_what_one_says_is_unconfirmed(
    method: str, raw: bytes, read: Callable[[Jip2Chain], Awaitable[bytes | None]], answer: Any
) -> None:
    found = None if answer is None else b"garbage"

    async def story() -> None:
        nodes = [Node(**{method: answer}) for _ in range(3)]
        async with served(nodes) as (chain, stubs):
            assert await read(chain) == found
            await stubs[0].stop()
            assert await read(chain) == found
            await stubs[1].stop()
            with pytest.raises(AnswerUnconfirmed) as caught:
                await read(chain)
            assert (caught.value.retry, caught.value.endpoint) == ("later", "c")
            nodes[0].said[method] = blob(raw)
            await stubs[0].start()
            assert await read(chain) == raw, "the next try finds the node that has it"
            await stubs[1].start()

    run(story)


def test_segments_are_gone_only_when_every_node_was_asked() -> None:
    async def story() -> None:
        gone = No(3, "Segment unavailable")
        forgetful, away = Node(fetchWorkPackageSegments=gone), Node(fetchWorkPackageSegments=gone)
        async with served([forgetful, away]) as (chain, stubs):
            with pytest.raises(ChainUnreadable, match="Segment unavailable"):
                await chain.package_segments(AT, [0])
            away.said["fetchWorkPackageSegments"] = [blob(b"1")]
            assert await chain.package_segments(AT, [0]) == (b"1",)
            await stubs[1].stop()
            with pytest.raises(ChainError) as caught:
                await chain.package_segments(AT, [0])
            assert not isinstance(caught.value, ChainUnreadable), "the other may have them"
            await stubs[1].start()

    run(story)


def test_a_package_whose_segments_one_node_makes_up_is_read_from_another() -> None:
    segments = [bytes([one]) * SEGMENT_BYTES for one in range(3)]
    root = exports_root(segments)

    def having(*held: bytes) -> Node:
        return Node(
            fetchWorkPackageSegments=lambda params: [blob(held[index]) for index in params[1]]
        )

    def three_of(first: bytes) -> int:
        if first != segments[0]:
            raise BuildFailed("this is no first segment")
        return 3

    async def story() -> None:
        good = having(*segments)
        bad = [
            Node(fetchWorkPackageSegments=None),
            Node(fetchWorkPackageSegments=[blob(b"short")]),
            having(*reversed(segments)),
            having(segments[0], segments[1], segments[1]),
            having(segments[0], b"short", segments[2]),
        ]
        for one in bad:
            async with served([one, good]) as (chain, _):
                assert await chain.exports(AT, root, three_of) == tuple(segments)
            async with served([one, one]) as (chain, _):
                with pytest.raises(ChainUnreadable):
                    await chain.exports(AT, root, three_of)
        async with served([having(*segments, b"")]) as (chain, _):
            assert await chain.exports(AT, exports_root(segments[:1]), lambda _: 1) == (
                segments[0],
            )

    run(story)
