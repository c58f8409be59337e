"""The messages of Cosmos transactions. Fields count from 1 unless `field_numbers` says otherwise.

From the SDK's cosmos/tx/v1beta1, bank, auth, feegrant and crypto, and celestia's blob and gas
estimation packages.
"""

from typing import ClassVar, Final

from laneway.cosmos.protobuf import Message

DIRECT: Final = 1
"""SIGN_MODE_DIRECT."""


class Any(Message, frozen=True):
    """A message of a kind that its url names."""

    type_url: str = ""
    value: bytes = b""


class Coin(Message, frozen=True):
    denom: str = ""
    amount: str = ""
    """Decimal digits."""


class TxBody(Message, frozen=True):
    messages: tuple[Any, ...] = ()
    memo: str = ""
    timeout_height: int = 0
    """The last block that may hold it; 0 if any may."""
    unordered: bool = False
    timeout_timestamp: bytes = b""
    extension_options: tuple[Any, ...] = ()
    non_critical_extension_options: tuple[Any, ...] = ()
    field_numbers: ClassVar = (1, 2, 3, 4, 5, 1023, 2047)


class SingleMode(Message, frozen=True):
    mode: int = 0


class ModeInfo(Message, frozen=True):
    single: SingleMode | None = None
    multi: bytes = b""
    """Of several signers in one account; kept as it came."""


class SignerInfo(Message, frozen=True):
    public_key: Any | None = None
    mode_info: ModeInfo | None = None
    sequence: int = 0


class Fee(Message, frozen=True):
    amount: tuple[Coin, ...] = ()
    gas_limit: int = 0
    payer: str = ""
    granter: str = ""


class AuthInfo(Message, frozen=True):
    signer_infos: tuple[SignerInfo, ...] = ()
    fee: Fee | None = None
    tip: bytes = b""
    """Abandoned by the SDK; kept as it came."""


class SignDoc(Message, frozen=True):
    """What is hashed and signed."""

    body_bytes: bytes = b""
    auth_info_bytes: bytes = b""
    chain_id: str = ""
    account_number: int = 0


class TxRaw(Message, frozen=True):
    body_bytes: bytes = b""
    auth_info_bytes: bytes = b""
    signatures: tuple[bytes, ...] = ()


class PubKey(Message, frozen=True):
    """A compressed key of secp256k1."""

    key: bytes = b""
    url: ClassVar[str] = "/cosmos.crypto.secp256k1.PubKey"


class MsgSend(Message, frozen=True):
    from_address: str = ""
    to_address: str = ""
    amount: tuple[Coin, ...] = ()
    url: ClassVar[str] = "/cosmos.bank.v1beta1.MsgSend"


class MsgPayForBlobs(Message, frozen=True):
    """Pays for blobs, which travel beside the transaction and are named by their commitments."""

    signer: str = ""
    namespaces: tuple[bytes, ...] = ()
    blob_sizes: tuple[int, ...] = ()
    share_commitments: tuple[bytes, ...] = ()
    share_versions: tuple[int, ...] = ()
    url: ClassVar[str] = "/celestia.blob.v1.MsgPayForBlobs"
    field_numbers: ClassVar = (1, 2, 3, 4, 8)


class BlobProto(Message, frozen=True):
    namespace_id: bytes = b""
    data: bytes = b""
    share_version: int = 0
    namespace_version: int = 0
    signer: bytes = b""


class BlobTx(Message, frozen=True):
    """A transaction with its blobs, as nodes are sent it."""

    tx: bytes = b""
    blobs: tuple[BlobProto, ...] = ()
    type_id: str = ""
    mark: ClassVar[str] = "BLOB"


class BasicAllowance(Message, frozen=True):
    spend_limit: tuple[Coin, ...] = ()
    """Empty if there is no limit."""
    url: ClassVar[str] = "/cosmos.feegrant.v1beta1.BasicAllowance"


class MsgGrantAllowance(Message, frozen=True):
    """Another account pays the fees of this one."""

    granter: str = ""
    grantee: str = ""
    allowance: Any | None = None
    url: ClassVar[str] = "/cosmos.feegrant.v1beta1.MsgGrantAllowance"


# Questions and answers of nodes, in which unknown fields are passed over.


class QueryAccountRequest(Message, frozen=True):
    address: str = ""
    path: ClassVar[str] = "/cosmos.auth.v1beta1.Query/Account"


class QueryAccountResponse(Message, frozen=True):
    account: Any | None = None


class BaseAccount(Message, frozen=True):
    address: str = ""
    pub_key: Any | None = None
    account_number: int = 0
    sequence: int = 0
    url: ClassVar[str] = "/cosmos.auth.v1beta1.BaseAccount"


class BaseVestingAccount(Message, frozen=True):
    base_account: BaseAccount | None = None


class VestingAccount(Message, frozen=True):
    """Continuous, delayed and periodic ones begin alike."""

    base_vesting_account: BaseVestingAccount | None = None
    urls: ClassVar[tuple[str, ...]] = (
        "/cosmos.vesting.v1beta1.ContinuousVestingAccount",
        "/cosmos.vesting.v1beta1.DelayedVestingAccount",
        "/cosmos.vesting.v1beta1.PeriodicVestingAccount",
        "/cosmos.vesting.v1beta1.PermanentLockedAccount",
    )


class QueryBalanceRequest(Message, frozen=True):
    address: str = ""
    denom: str = ""
    path: ClassVar[str] = "/cosmos.bank.v1beta1.Query/Balance"


class QueryBalanceResponse(Message, frozen=True):
    balance: Coin | None = None


class SimulateRequest(Message, frozen=True):
    tx_bytes: bytes = b""
    path: ClassVar[str] = "/cosmos.tx.v1beta1.Service/Simulate"
    field_numbers: ClassVar = (2,)


class GasInfo(Message, frozen=True):
    gas_wanted: int = 0
    gas_used: int = 0


class SimulateResponse(Message, frozen=True):
    gas_info: GasInfo | None = None


class EstimateGasPriceRequest(Message, frozen=True):
    tx_priority: int = 0
    """0 unspecified, 1 low, 2 medium, 3 high."""
    path: ClassVar[str] = "/celestia.core.v1.gas_estimation.GasEstimator/EstimateGasPrice"


class EstimateGasPriceResponse(Message, frozen=True):
    estimated_gas_price: float = 0.0
