"""The shapes of CometBFT's answers, as far as they are read."""

from typing import Annotated, TypeVar

from msgspec import DecodeError, Meta, Struct, ValidationError, json

from laneway.chains.cosmos.limits import CODE_MAX, HASH_BYTES
from laneway.chains.endpoint import result_of
from laneway.core.cosmos import CommittedAccount, TxSeen, TxStanding
from laneway.core.errors import ChainUnreadable
from laneway.cosmos.errors import InvalidCosmos
from laneway.cosmos.messages import (
    BaseAccount,
    QueryAccountResponse,
    VestingAccount,
)
from laneway.cosmos.protobuf import decode
from laneway.wire.jsonrpc import RpcAnswer, RpcError
from laneway.wire.limits import NUMBER_MAX
from laneway.wire.numbers import read_digits

KEY_NOT_FOUND = 22
"""The SDK's code for what does not exist."""

Code = Annotated[int, Meta(ge=0, le=CODE_MAX)]


class NodeInfo(Struct, frozen=True):
    network: str


class SyncInfo(Struct, frozen=True):
    latest_block_height: str
    catching_up: bool = False
    earliest_block_height: str = "0"
    earliest_block_hash: str = ""


class StatusShape(Struct, frozen=True):
    node_info: NodeInfo
    sync_info: SyncInfo


class BroadcastShape(Struct, frozen=True):
    code: Code
    hash: str
    log: str = ""
    codespace: str = ""


class TxShape(Struct, frozen=True):
    """Of tx_status."""

    status: str
    height: str = "0"
    execution_code: Code = 0
    error: str = ""
    codespace: str = ""
    gas_wanted: str = "0"
    gas_used: str = "0"
    signers: tuple[str, ...] = ()

    def seen(self, node: str, hash_: bytes) -> TxSeen:
        known = TxStanding.__members__
        return TxSeen(
            hash_,
            TxStanding[self.status] if self.status in known else TxStanding.UNKNOWN,
            number(node, self.height),
            self.execution_code,
            self.codespace,
            self.error,
            number(node, self.gas_wanted),
            number(node, self.gas_used),
            self.signers,
        )


class NamedTx(Struct, frozen=True):
    hash: str
    result: TxShape


class StatusesShape(Struct, frozen=True):
    statuses: tuple[NamedTx, ...]


class TxResultShape(Struct, frozen=True):
    code: Code = 0
    log: str = ""
    codespace: str = ""
    gas_wanted: str = "0"
    gas_used: str = "0"


class FoundTx(Struct, frozen=True, kw_only=True):
    """Of tx: it is in a block."""

    height: str
    tx_result: TxResultShape

    def seen(self, node: str, hash_: bytes) -> TxSeen:
        result = self.tx_result
        return TxSeen(
            hash_,
            TxStanding.COMMITTED,
            number(node, self.height),
            result.code,
            result.codespace,
            result.log,
            number(node, result.gas_wanted),
            number(node, result.gas_used),
        )


class FoundNamed(FoundTx, frozen=True):
    """Of tx_search."""

    hash: str


class SearchShape(Struct, frozen=True):
    txs: tuple[FoundNamed, ...]


class QueryAnswer(Struct, frozen=True):
    code: Code = 0
    height: str = "0"
    """Of the block whose state was asked."""
    log: str = ""
    codespace: str = ""
    value: bytes | None = None


class QueryShape(Struct, frozen=True):
    response: QueryAnswer


T = TypeVar("T")


def read_as(kind: type[T], node: str, answer: RpcAnswer) -> T:
    """A result in its shape; ChainUnreadable when the node said no, or something else."""
    try:
        return json.decode(result_of(node, answer), type=kind)
    except (DecodeError, ValidationError) as error:
        raise ChainUnreadable(node, f"{kind.__name__}: {error}") from error


class Standpoint(Struct, frozen=True):
    """Which chain a node serves, and where on it the node is."""

    network: str
    height: int
    origin_height: int
    origin: bytes


def read_status(node: str, answer: RpcAnswer) -> Standpoint:
    status = read_as(StatusShape, node, answer)
    sync = status.sync_info
    if sync.catching_up:
        raise ChainUnreadable(node, "it is still catching up")
    origin_height = number(node, sync.earliest_block_height)
    return Standpoint(
        status.node_info.network,
        number(node, sync.latest_block_height),
        origin_height,
        read_hash(node, sync.earliest_block_hash) if sync.earliest_block_hash else b"",
    )


def read_state_height(node: str, answer: RpcAnswer) -> int:
    """Of the state that an answer is about; 0 where the node does not say."""
    return number(node, read_as(QueryShape, node, answer).response.height)


def number(node: str, digits: str) -> int:
    """A height, a gas or a count in plain digits; ChainUnreadable on anything else."""
    try:
        return read_digits(digits)
    except ValueError as error:
        raise ChainUnreadable(node, str(error)) from error


def read_account(node: str, answer: RpcAnswer) -> tuple[str, CommittedAccount] | None:
    """An account and whose it is; None: there is no such account."""
    response = read_as(QueryShape, node, answer).response
    if response.code == KEY_NOT_FOUND or "not found" in response.log:
        return None
    if response.code:
        raise ChainUnreadable(node, f"its account: {response.log}")
    try:
        packed = decode(QueryAccountResponse, response.value or b"", strict=False).account
        base = None if packed is None else base_of(packed.type_url, packed.value)
    except InvalidCosmos as error:
        raise ChainUnreadable(node, f"its account: {error}") from error
    if base is None:
        raise ChainUnreadable(node, "its account is of a kind that is not known here")
    if max(base.account_number, base.sequence) > NUMBER_MAX:
        raise ChainUnreadable(node, f"its account: a number is more than {NUMBER_MAX}")
    return base.address, CommittedAccount(base.account_number, base.sequence)


def base_of(url: str, value: bytes) -> BaseAccount | None:
    """What every kind of account has, if it is known where it stands."""
    if url == BaseAccount.url:
        return decode(BaseAccount, value, strict=False)
    if url not in VestingAccount.urls:
        return None
    vesting = decode(VestingAccount, value, strict=False).base_vesting_account
    return None if vesting is None else vesting.base_account


def message_of(error: RpcError) -> str:
    """A node's refusal, with its data, where the node says what it is about."""
    data = bytes(error.data).decode(errors="replace").strip('"')
    return f"{error.message}: {data}" if data not in ("", "null") else error.message


def read_hash(node: str, text: str) -> bytes:
    try:
        hash_ = bytes.fromhex(text)
    except ValueError:
        hash_ = b""
    if len(hash_) != HASH_BYTES:
        raise ChainUnreadable(node, f"{text[:80]!r} is no hash")
    return hash_
