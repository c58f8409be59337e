"""The messages of Cosmos transactions, each with the numbers of its fields.

From the SDK's cosmos/tx/v1beta1, bank, auth, feegrant and crypto, and celestia's blob and gas
estimation packages.
"""

from typing import ClassVar, Final

from laneway.cosmos.protobuf import Field, Message

DIRECT: Final = 1
"""SIGN_MODE_DIRECT."""


class Any(Message, frozen=True):
    """A message of a kind that its url names."""

    type_url: str = ""
    value: bytes = b""
    fields: ClassVar = (Field(1, "type_url", "string"), Field(2, "value", "bytes"))


class Coin(Message, frozen=True):
    denom: str = ""
    amount: str = ""
    """Decimal digits."""
    fields: ClassVar = (Field(1, "denom", "string"), Field(2, "amount", "string"))


class TxBody(Message, frozen=True):
    messages: tuple[Any, ...] = ()
    memo: str = ""
    timeout_height: int = 0
    """The last block that may hold it; 0: any."""
    unordered: bool = False
    timeout_timestamp: bytes = b""
    extension_options: tuple[Any, ...] = ()
    non_critical_extension_options: tuple[Any, ...] = ()
    fields: ClassVar = (
        Field(1, "messages", Any, many=True),
        Field(2, "memo", "string"),
        Field(3, "timeout_height", "uint"),
        Field(4, "unordered", "bool"),
        Field(5, "timeout_timestamp", "bytes"),
        Field(1023, "extension_options", Any, many=True),
        Field(2047, "non_critical_extension_options", Any, many=True),
    )


class SingleMode(Message, frozen=True):
    mode: int = 0
    fields: ClassVar = (Field(1, "mode", "uint"),)


class ModeInfo(Message, frozen=True):
    single: SingleMode | None = None
    multi: bytes = b""
    """Of several signers in one account; kept as it came."""
    fields: ClassVar = (Field(1, "single", SingleMode), Field(2, "multi", "bytes"))


class SignerInfo(Message, frozen=True):
    public_key: Any | None = None
    mode_info: ModeInfo | None = None
    sequence: int = 0
    fields: ClassVar = (
        Field(1, "public_key", Any),
        Field(2, "mode_info", ModeInfo),
        Field(3, "sequence", "uint"),
    )


class Fee(Message, frozen=True):
    amount: tuple[Coin, ...] = ()
    gas_limit: int = 0
    payer: str = ""
    granter: str = ""
    fields: ClassVar = (
        Field(1, "amount", Coin, many=True),
        Field(2, "gas_limit", "uint"),
        Field(3, "payer", "string"),
        Field(4, "granter", "string"),
    )


class AuthInfo(Message, frozen=True):
    signer_infos: tuple[SignerInfo, ...] = ()
    fee: Fee | None = None
    tip: bytes = b""
    """Given up by the SDK; kept as it came."""
    fields: ClassVar = (
        Field(1, "signer_infos", SignerInfo, many=True),
        Field(2, "fee", Fee),
        Field(3, "tip", "bytes"),
    )


class SignDoc(Message, frozen=True):
    """What is hashed and signed."""

    body_bytes: bytes = b""
    auth_info_bytes: bytes = b""
    chain_id: str = ""
    account_number: int = 0
    fields: ClassVar = (
        Field(1, "body_bytes", "bytes"),
        Field(2, "auth_info_bytes", "bytes"),
        Field(3, "chain_id", "string"),
        Field(4, "account_number", "uint"),
    )


class TxRaw(Message, frozen=True):
    body_bytes: bytes = b""
    auth_info_bytes: bytes = b""
    signatures: tuple[bytes, ...] = ()
    fields: ClassVar = (
        Field(1, "body_bytes", "bytes"),
        Field(2, "auth_info_bytes", "bytes"),
        Field(3, "signatures", "bytes", many=True),
    )


class PubKey(Message, frozen=True):
    """A compressed key of secp256k1."""

    key: bytes = b""
    url: ClassVar[str] = "/cosmos.crypto.secp256k1.PubKey"
    fields: ClassVar = (Field(1, "key", "bytes"),)


class MsgSend(Message, frozen=True):
    from_address: str = ""
    to_address: str = ""
    amount: tuple[Coin, ...] = ()
    url: ClassVar[str] = "/cosmos.bank.v1beta1.MsgSend"
    fields: ClassVar = (
        Field(1, "from_address", "string"),
        Field(2, "to_address", "string"),
        Field(3, "amount", Coin, many=True),
    )


class MsgPayForBlobs(Message, frozen=True):
    """Pays for blobs, which travel beside the transaction and are named by their commitments."""

    signer: str = ""
    namespaces: tuple[bytes, ...] = ()
    blob_sizes: tuple[int, ...] = ()
    share_commitments: tuple[bytes, ...] = ()
    share_versions: tuple[int, ...] = ()
    url: ClassVar[str] = "/celestia.blob.v1.MsgPayForBlobs"
    fields: ClassVar = (
        Field(1, "signer", "string"),
        Field(2, "namespaces", "bytes", many=True),
        Field(3, "blob_sizes", "uint", many=True),
        Field(4, "share_commitments", "bytes", many=True),
        Field(8, "share_versions", "uint", many=True),
    )


class BlobProto(Message, frozen=True):
    namespace_id: bytes = b""
    data: bytes = b""
    share_version: int = 0
    namespace_version: int = 0
    signer: bytes = b""
    fields: ClassVar = (
        Field(1, "namespace_id", "bytes"),
        Field(2, "data", "bytes"),
        Field(3, "share_version", "uint"),
        Field(4, "namespace_version", "uint"),
        Field(5, "signer", "bytes"),
    )


class BlobTx(Message, frozen=True):
    """A transaction with its blobs, as nodes are sent it."""

    tx: bytes = b""
    blobs: tuple[BlobProto, ...] = ()
    type_id: str = ""
    mark: ClassVar[str] = "BLOB"
    fields: ClassVar = (
        Field(1, "tx", "bytes"),
        Field(2, "blobs", BlobProto, many=True),
        Field(3, "type_id", "string"),
    )


class BasicAllowance(Message, frozen=True):
    spend_limit: tuple[Coin, ...] = ()
    """None: without a limit."""
    url: ClassVar[str] = "/cosmos.feegrant.v1beta1.BasicAllowance"
    fields: ClassVar = (Field(1, "spend_limit", Coin, many=True),)


class MsgGrantAllowance(Message, frozen=True):
    """Another account pays the fees of this one."""

    granter: str = ""
    grantee: str = ""
    allowance: Any | None = None
    url: ClassVar[str] = "/cosmos.feegrant.v1beta1.MsgGrantAllowance"
    fields: ClassVar = (
        Field(1, "granter", "string"),
        Field(2, "grantee", "string"),
        Field(3, "allowance", Any),
    )


# Questions and answers of nodes, in which unknown fields are passed over.


class QueryAccountRequest(Message, frozen=True):
    address: str = ""
    path: ClassVar[str] = "/cosmos.auth.v1beta1.Query/Account"
    fields: ClassVar = (Field(1, "address", "string"),)


class QueryAccountResponse(Message, frozen=True):
    account: Any | None = None
    fields: ClassVar = (Field(1, "account", Any),)


class BaseAccount(Message, frozen=True):
    address: str = ""
    pub_key: Any | None = None
    account_number: int = 0
    sequence: int = 0
    url: ClassVar[str] = "/cosmos.auth.v1beta1.BaseAccount"
    fields: ClassVar = (
        Field(1, "address", "string"),
        Field(2, "pub_key", Any),
        Field(3, "account_number", "uint"),
        Field(4, "sequence", "uint"),
    )


class BaseVestingAccount(Message, frozen=True):
    base_account: BaseAccount | None = None
    fields: ClassVar = (Field(1, "base_account", BaseAccount),)


class VestingAccount(Message, frozen=True):
    """Continuous, delayed and periodic ones begin alike."""

    base_vesting_account: BaseVestingAccount | None = None
    urls: ClassVar[tuple[str, ...]] = (
        "/cosmos.vesting.v1beta1.ContinuousVestingAccount",
        "/cosmos.vesting.v1beta1.DelayedVestingAccount",
        "/cosmos.vesting.v1beta1.PeriodicVestingAccount",
        "/cosmos.vesting.v1beta1.PermanentLockedAccount",
    )
    fields: ClassVar = (Field(1, "base_vesting_account", BaseVestingAccount),)


class QueryBalanceRequest(Message, frozen=True):
    address: str = ""
    denom: str = ""
    path: ClassVar[str] = "/cosmos.bank.v1beta1.Query/Balance"
    fields: ClassVar = (Field(1, "address", "string"), Field(2, "denom", "string"))


class QueryBalanceResponse(Message, frozen=True):
    balance: Coin | None = None
    fields: ClassVar = (Field(1, "balance", Coin),)


class SimulateRequest(Message, frozen=True):
    tx_bytes: bytes = b""
    path: ClassVar[str] = "/cosmos.tx.v1beta1.Service/Simulate"
    fields: ClassVar = (Field(2, "tx_bytes", "bytes"),)


class GasInfo(Message, frozen=True):
    gas_wanted: int = 0
    gas_used: int = 0
    fields: ClassVar = (Field(1, "gas_wanted", "uint"), Field(2, "gas_used", "uint"))


class SimulateResponse(Message, frozen=True):
    gas_info: GasInfo | None = None
    fields: ClassVar = (Field(1, "gas_info", GasInfo),)


class EstimateGasPriceRequest(Message, frozen=True):
    tx_priority: int = 0
    """0 unspecified, 1 low, 2 medium, 3 high."""
    path: ClassVar[str] = "/celestia.core.v1.gas_estimation.GasEstimator/EstimateGasPrice"
    fields: ClassVar = (Field(1, "tx_priority", "uint"),)


class EstimateGasPriceResponse(Message, frozen=True):
    estimated_gas_price: float = 0.0
    fields: ClassVar = (Field(1, "estimated_gas_price", "double"),)
