"""Why bytes, text or numbers are no part of a Cosmos transaction. Every class has a stable code.

InvalidCosmos
├── its bytes   MalformedProtobuf · MalformedTransaction
├── its text    MalformedAddress · MalformedMnemonic · MalformedPath
└── its blobs   InvalidNamespace · InvalidBlob
"""

from laneway.core.errors import InvalidValue


class InvalidCosmos(InvalidValue):
    code = "cosmos_invalid"
    message = "the transaction is invalid"


class MalformedProtobuf(InvalidCosmos):
    code = "protobuf_malformed"
    message = "{what}, byte {at}: {problem}"


class MalformedTransaction(InvalidCosmos):
    code = "transaction_malformed"
    message = "{problem}"


class MalformedAddress(InvalidCosmos):
    code = "address_malformed"
    message = "{address!r} is no address: {problem}"


class MalformedMnemonic(InvalidCosmos):
    """It never shows the mnemonic."""

    code = "mnemonic_malformed"
    message = "the mnemonic is not usable: {problem}"


class MalformedPath(InvalidCosmos):
    code = "path_malformed"
    message = "{path!r} is no path of a key: it is like m/44'/118'/0'/0/0"


class InvalidNamespace(InvalidCosmos):
    code = "namespace_invalid"
    message = "the namespace {namespace} is invalid: {problem}"


class InvalidBlob(InvalidCosmos):
    code = "blob_invalid"
    message = "the blob is invalid: {problem}"
