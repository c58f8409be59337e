"""A Cosmos account's request with Python's own values → as the wire has it."""

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
    fields = {name: value for name, value in options.items() if value is not None}
    blobs = [blob(one) for one in fields.pop("blobs", ())]
    namespace = fields.pop("namespace", None)
    version = fields.pop("share_version", 0)
    if (data is None) != (namespace is None):
        missing = "namespace" if namespace is None else "data"
        raise BadRequest(missing, "a blob has data and a namespace")
    if data is not None and namespace is not None:
        raw = data.encode() if isinstance(data, str) else data
        blobs.append(CosmosBlob(named(namespace), raw, version))
    messages = [message(one) for one in fields.pop("messages", ())]
    if "gas_price" in fields:
        fields["gas_price"] = str(fields["gas_price"])
    return CosmosPayload(messages=messages, blobs=blobs, **fields)


def message(value: Message) -> CosmosMessage:
    return value if isinstance(value, CosmosMessage) else CosmosMessage(*value)


def blob(value: Blob) -> CosmosBlob:
    if isinstance(value, CosmosBlob):
        return value
    namespace, data = value
    return CosmosBlob(named(namespace), data)


def named(namespace: str | bytes) -> str:
    return namespace if isinstance(namespace, str) else namespace.hex()


Messages = Sequence[Message]
Blobs = Sequence[Blob]
