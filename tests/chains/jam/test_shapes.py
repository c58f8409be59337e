"""Laws of reading what JAM nodes answer: both generations of JIP-2, and no nonsense."""

from typing import Any

import pytest
from msgspec import Raw, json
from tests.chains.jam.stage import header, ref, reported, told

from laneway.chains.jam import shapes
from laneway.chains.jam.parameters import parameters_of
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import Failed, PackageKind, Ready, Reportable, Reported, SyncState
from laneway.wire.jip2 import blob
from laneway.wire.jsonrpc import RpcError

NO_ONE = PackageKind.UNKNOWN


def status(value: Any) -> Any:
    return shapes.read_status(value, lambda _: NO_ONE)


def test_a_block_is_an_object_or_an_array() -> None:
    as_object = told("a7")
    assert shapes.read_descriptor(as_object) == ref("a7")
    assert shapes.read_descriptor([as_object["header_hash"], 7]) == ref("a7")
    assert shapes.read_descriptor([list(header("a7")), 7]) == ref("a7")
    for wrong in (
        [blob(header("a7"))],
        None,
        "a7",
        [blob(b"short"), 7],
        [as_object["header_hash"], -1],
    ):
        with pytest.raises(ValueError):
            shapes.read_descriptor(wrong)
    with pytest.raises(KeyError):
        shapes.read_descriptor({"slot": 7})


def test_the_four_statuses_are_read() -> None:
    assert status({"Reportable": {"remaining_blocks": 8}}) == Reportable(8)
    assert status({"Reported": reported("a4")}) == Reported(ref("a4"), 0, header("r0"))
    ready = {**reported("a4", 1), "ready_in": told("a5")}
    assert status({"Ready": ready}) == Ready(ref("a4"), 1, header("r1"), ref("a5"))
    assert status({"Failed": "too late"}) == Failed(NO_ONE, "too late")
    assert status({"Failed": {"why": 1}}) == Failed(NO_ONE, '{"why":1}')


@pytest.mark.parametrize(
    "wrong", [{}, None, "Ready", {"Accumulated": {}}, {"Ready": {}, "Failed": ""}]
)
def test_what_is_no_status_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError):
        status(wrong)


@pytest.mark.parametrize(
    "told",
    [
        {"Reportable": None},
        {"Reportable": 7},
        {"Reportable": {"remaining_blocks": 1 << 32}},
        {"Reported": "x"},
        {"Ready": [1, 2]},
        {"Failed": None, "Ready": None},
        [[]],
        1.5,
    ],
)
def test_any_other_shape_is_the_nodes_fault(told: Any) -> None:
    with pytest.raises(ChainUnreadable):
        shapes.read_raw("node", Raw(json.encode(told)), status)
    with pytest.raises(ChainUnreadable):
        shapes.read_raw("node", Raw(json.encode(told)), shapes.read_sync)


def test_parameters_that_are_not_told_are_the_canonical_ones() -> None:
    sizes = shapes.read_sizes({"V1": {"core_count": 2, "slot_period_sec": 4, "unknown": "x"}})
    assert sizes == {"core_count": 2, "slot_period_sec": 4}
    found = parameters_of(sizes)
    assert (found.core_count, found.slot_ms, found.validator_count) == (2, 4_000, 1_023)
    assert shapes.read_sizes({"core_count": 2, "slot_period_sec": 4}) == sizes
    nonsense: list[Any] = [None, [], {"V1": 7}, {"V1": {"core_count": "two"}}]
    nonsense += [{"core_count": 0}, {"epoch_period": 1 << 53}, {"slot_period_sec": 86_401}]
    for wrong in nonsense:
        with pytest.raises(ValueError):
            shapes.read_sizes(wrong)


def test_lists_and_blobs_are_read() -> None:
    assert shapes.read_optional_blob(None) is None
    assert shapes.read_optional_blob("YQ==") == b"a"
    assert shapes.read_blobs(["YQ==", ""]) == (b"a", b"")
    assert shapes.read_numbers([1, 2]) == (1, 2)
    assert shapes.read_request(None) is None
    assert shapes.read_request([]) == ()
    assert shapes.read_sync({"num_peers": 3, "status": "Completed"}) == SyncState(3, True)
    assert shapes.read_sync({"num_peers": 0, "status": "InProgress"}) == SyncState(0, False)
    for reader in (shapes.read_blobs, shapes.read_numbers):
        with pytest.raises(ValueError):
            reader("YQ==")


def test_nonsense_is_the_nodes_fault() -> None:
    for raw in (b"{", b"[]", b'{"slot":1}', b"\xff"):
        with pytest.raises(ChainUnreadable):
            shapes.read_raw("node", Raw(raw), shapes.read_descriptor)
    with pytest.raises(ChainUnreadable, match="7 no"):
        shapes.read_as("node", RpcError(7, "no"), shapes.read_descriptor)
    assert shapes.read_as("node", Raw(json.encode(told("a7"))), shapes.read_descriptor) == ref("a7")
