"""What callers may write, turned into the bodies and paths of requests."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from os import PathLike
from typing import Any, NamedTuple, TypedDict
from urllib.parse import quote, urlencode

from laneway.client.evm_words import evm_request
from laneway.core.errors import BadRequest
from laneway.core.ids import LaneId, lane_kind
from laneway.wire.cosmos_words import Blobs, Messages, cosmos_payload
from laneway.wire.evm import EvmAccess, EvmAuthorization, EvmBlobs
from laneway.wire.values import ContractPayload

NO_REASON = "no reason given"


class Amounts(TypedDict, total=False):
    """Options of transactions of EVM accounts, without blobs. Amounts are wei, or texts like
    "0.5 ether"."""

    to: str | bytes | None
    value: int | str
    gas: int | None
    type: int | None
    max_fee_per_gas: int | str | None
    max_priority_fee_per_gas: int | str | None
    max_cost: int | str | None
    access_list: list[EvmAccess]
    authorization_list: list[EvmAuthorization]


class CallOptions(TypedDict, total=False):
    """Options of EVM accounts that say a call in words, in place of `data`."""

    call: str | None
    """A function's signature, or its name where `abi` has it once; a constructor's."""
    args: Sequence[Any] | None
    abi: str | PathLike[str] | Sequence[Any] | Mapping[str, Any] | None
    """A file's name, JSON, a compiler's artifact, signatures, or a list of entries."""
    deploy: str | bytes | PathLike[str] | Mapping[str, Any] | None
    """The code of a contract: 0x and digits, bytes, a file's name or a compiler's artifact."""


class EvmOptions(Amounts, CallOptions, total=False):
    """All options of transactions of EVM accounts."""

    blobs: EvmBlobs | None


class Coins(TypedDict, total=False):
    """Options of transactions of Cosmos accounts that EVM accounts do not have."""

    amount: int | str | None
    denom: str | None
    messages: Messages
    namespace: str | bytes | None
    share_version: int | None
    memo: str
    fee: int | None
    gas_price: str | None
    fee_granter: str | None
    timeout_height: int | None


class ContractOptions(TypedDict, total=False):
    """Options of executions of contracts."""

    executor: str
    quorum_type: int
    comment: str
    priority: int


class TxOptions(Amounts, CallOptions, Coins, ContractOptions, total=False):
    """Options of every kind of lane; a lane refuses those of other kinds."""

    blobs: EvmBlobs | Blobs | None


class Form(NamedTuple):
    """How callers may write a request of one kind of lane."""

    whose: str
    options: frozenset[str]
    body: Callable[[str | bytes | None, dict[str, Any]], dict[str, Any]]
    """Makes the API's body, without the lane, from the caller's `data` and options."""


def contract_body(data: str | bytes | None, options: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(data, str):
        raise BadRequest("data", "say what the contract is given, as text")
    priority = options.pop("priority", 0)
    return {"payload": ContractPayload(data=data, **options), "priority": priority}


FORMS = {
    "contract": Form("a contract", frozenset(ContractOptions.__annotations__), contract_body),
    "evm": Form(
        "an EVM account",
        frozenset(EvmOptions.__annotations__),
        lambda data, options: {"payload": evm_request(data, options)},
    ),
    "cosmos": Form(
        "a Cosmos account",
        frozenset(Coins.__annotations__) | {"to", "gas", "blobs"},
        lambda data, options: {"payload": cosmos_payload(data, options)},
    ),
}
"""The kinds for which `send` has options of its own; of any other kind it sends them unchanged."""


def new_tx(
    lane: str,
    data: str | bytes | None,
    valid_until: datetime | None = None,
    options: TxOptions | None = None,
) -> dict[str, Any]:
    """The body of a request, made from the options of the lane's kind."""
    chosen: dict[str, Any] = {
        name: value for name, value in (options or {}).items() if value is not None
    }
    form = FORMS.get(lane_kind(LaneId(lane)))
    if form is None:
        return new_request(lane, chosen if data is None else {"data": data, **chosen}, valid_until)
    strange = chosen.keys() - form.options
    if strange:
        raise BadRequest(min(strange), f"{form.whose} has no such option; {lane} is its lane")
    return {"lane": lane, **form.body(data, chosen), "valid_until": valid_until}


def new_request(
    lane: str, request: Mapping[str, Any], valid_until: datetime | None = None, **more: Any
) -> dict[str, Any]:
    """The body of a request of any kind: its payload, and what else the API takes beside it."""
    until = {} if valid_until is None else {"valid_until": valid_until}
    return {"lane": lane, "payload": request, **until, **more}


def path(*parts: str) -> str:
    """A path of the API; each part is one segment, whatever characters it holds."""
    return "/".join(["/v1", *(quote(part, safe=":") for part in parts)])


def target(path: str, query: Mapping[str, str | None]) -> str:
    """Path and query of a request; parameters that are None are left out."""
    parameters = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(parameters)}" if parameters else path
