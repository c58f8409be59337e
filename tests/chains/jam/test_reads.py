"""Laws of reading what is named: values as they are, absence as None, nonsense as an error."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.chains.jam.stage import Node, header, run, served
from tests.rpc_stub import No

from laneway.chains.jam.chain import Jip2Chain
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import SyncState
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
