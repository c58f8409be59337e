"""Laws of a Cosmos account's request in Python's own words."""

from typing import Any

import msgspec
import pytest

from laneway.core.errors import BadRequest
from laneway.wire.cosmos import CosmosBlob, CosmosMessage, CosmosPayload
from laneway.wire.cosmos_words import cosmos_payload


@pytest.mark.parametrize(
    ("data", "options", "payload"),
    [
        (None, {"to": "a", "amount": 5}, CosmosPayload(to="a", amount=5)),
        (None, {"to": "a", "amount": "5abc", "memo": None}, CosmosPayload(to="a", amount="5abc")),
        (
            b"x",
            {"namespace": b"\xab", "share_version": 1},
            CosmosPayload(blobs=[CosmosBlob("ab", b"x", 1)]),
        ),
        ("é", {"namespace": "ab"}, CosmosPayload(blobs=[CosmosBlob("ab", "é".encode())])),
        (
            None,
            {"blobs": [(b"\xab", b"x"), CosmosBlob("cd", b"y")]},
            CosmosPayload(blobs=[CosmosBlob("ab", b"x"), CosmosBlob("cd", b"y")]),
        ),
        (
            None,
            {"messages": [("/a.B", b"x"), CosmosMessage("/a.C", b"y")], "gas_price": 2},
            CosmosPayload(
                messages=[CosmosMessage("/a.B", b"x"), CosmosMessage("/a.C", b"y")], gas_price="2"
            ),
        ),
    ],
)
def test_python_words_are_the_wires(
    data: str | bytes | None, options: dict[str, Any], payload: CosmosPayload
) -> None:
    made = cosmos_payload(data, options)
    assert made == payload
    assert msgspec.json.decode(msgspec.json.encode(made), type=CosmosPayload) == payload


@pytest.mark.parametrize(("data", "options"), [(b"x", {}), (None, {"namespace": "ab"})])
def test_a_blob_has_data_and_a_namespace(data: bytes | None, options: dict[str, Any]) -> None:
    with pytest.raises(BadRequest):
        cosmos_payload(data, options)
