"""A Cosmos account's request in Python's own words → as the wire has it."""

from collections.abc import Mapping, Sequence
from typing import Any

from laneway.core.errors import BadRequest
from laneway.wire.cosmos import CosmosBlob, CosmosMessage, CosmosPayload

Message = CosmosMessage | tuple[str, bytes]
"""The url of its kind, and its bytes."""
Blob = CosmosBlob | tuple[str | bytes, bytes]
"""A namespace, all of it or the user's own part, and data."""


def cosmos_payload(data: str | bytes | None, options: Mapping[str, Any]) -> CosmosPayload:
    """`data` is one blob more, in `namespace`."""
    given = {name: said for name, said in options.items() if said is not None}
    blobs = [blob(one) for one in given.pop("blobs", ())]
    namespace = given.pop("namespace", None)
    version = given.pop("share_version", 0)
    if (data is None) != (namespace is None):
        missing = "namespace" if namespace is None else "data"
        raise BadRequest(missing, "a blob has data and a namespace")
    if data is not None and namespace is not None:
        raw = data.encode() if isinstance(data, str) else data
        blobs.append(CosmosBlob(named(namespace), raw, version))
    messages = [message(one) for one in given.pop("messages", ())]
    if "gas_price" in given:
        given["gas_price"] = str(given["gas_price"])
    return CosmosPayload(messages=messages, blobs=blobs, **given)


def message(said: Message) -> CosmosMessage:
    return said if isinstance(said, CosmosMessage) else CosmosMessage(*said)


def blob(said: Blob) -> CosmosBlob:
    if isinstance(said, CosmosBlob):
        return said
    namespace, data = said
    return CosmosBlob(named(namespace), data)


def named(namespace: str | bytes) -> str:
    return namespace if isinstance(namespace, str) else namespace.hex()


Messages = Sequence[Message]
Blobs = Sequence[Blob]
