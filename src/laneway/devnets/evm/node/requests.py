"""Calls and what they override, read as wallets write them."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from laneway.devnets.evm.node.parameters import (
    address_of,
    digest_of,
    fields_of,
    number_of,
    octets_of,
    rows_of,
    wrong,
)
from laneway.evm.calls.overrides import AccountOverride, BlockOverride
from laneway.evm.calls.request import NOBODY, CallRequest
from laneway.evm.limits import NONCE_MAX
from laneway.evm.transaction import Access, Authorization

T = TypeVar("T")


def request_of(fields: Mapping[str, object]) -> CallRequest:
    def number(name: str) -> int | None:
        return read(fields, name, number_of)

    written = fields.get("input", fields.get("data"))
    return CallRequest(
        sender=read(fields, "from", address_of) or NOBODY,
        to=None if fields.get("to") == "0x" else read(fields, "to", address_of),
        data=b"" if written is None else octets_of(written),
        value_wei=number("value") or 0,
        gas=number("gas"),
        gas_price_wei=number("gasPrice"),
        fee_wei_max=number("maxFeePerGas"),
        tip_wei_max=number("maxPriorityFeePerGas"),
        access_list=listed(fields, "accessList", access_of),
        authorizations=listed(fields, "authorizationList", authorization_of),
        blob_hashes=listed(fields, "blobVersionedHashes", digest_of),
        blob_fee_wei_max=number("maxFeePerBlobGas"),
    )


def access_of(entry: object) -> Access:
    fields = fields_of(entry)
    return Access(address_of(fields.get("address")), listed(fields, "storageKeys", digest_of))


def authorization_of(entry: object) -> Authorization:
    """It may be signed by nobody, and may leave out its signature."""
    fields = fields_of(entry)

    def number(name: str) -> int:
        return read(fields, name, number_of) or 0

    return Authorization(
        chain_id=number("chainId"),
        address=address_of(fields.get("address")),
        nonce=number("nonce"),
        y_parity=number("yParity"),
        r=number("r"),
        s=number("s"),
    )


def accounts_of(value: object) -> dict[bytes, AccountOverride]:
    """What a call overrides of the state; None for nothing."""
    written = {} if value is None else fields_of(value)
    return {address_of(address): account_of(fields_of(one)) for address, one in written.items()}


def account_of(fields: Mapping[str, object]) -> AccountOverride:
    known(fields, ("balance", "nonce", "code", "state", "stateDiff"))
    nonce = read(fields, "nonce", number_of)
    if nonce is not None and nonce > NONCE_MAX:
        raise wrong("number too large to fit in target type")
    return AccountOverride(
        nonce=nonce,
        balance_wei=read(fields, "balance", number_of),
        code=read(fields, "code", octets_of),
        state=read(fields, "state", slots_of),
        state_diff=read(fields, "stateDiff", slots_of),
    )


def slots_of(value: object) -> dict[int, int]:
    return {
        int.from_bytes(digest_of(key), "big"): int.from_bytes(digest_of(one), "big")
        for key, one in fields_of(value).items()
    }


BLOCK_FIELDS: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "number": ("number", number_of),
    "time": ("timestamp_s", number_of),
    "timestamp": ("timestamp_s", number_of),
    "gasLimit": ("gas_limit", number_of),
    "coinbase": ("coinbase", address_of),
    "feeRecipient": ("coinbase", address_of),
    "random": ("prevrandao", digest_of),
    "prevRandao": ("prevrandao", digest_of),
    "baseFee": ("base_fee_wei", number_of),
    "baseFeePerGas": ("base_fee_wei", number_of),
    "blobBaseFee": ("blob_base_fee_wei", number_of),
}
"""Each name that nodes know, with the field that it overrides."""


def block_override_of(value: object) -> BlockOverride:
    """What a call overrides of its block; None for nothing."""
    written = {} if value is None else fields_of(value)
    known(written, BLOCK_FIELDS)
    named: dict[str, Any] = {}
    for name, one in written.items():
        field, kind = BLOCK_FIELDS[name]
        named[field] = kind(one)
    return BlockOverride(**named)


def read(fields: Mapping[str, object], name: str, kind: Callable[[object], T]) -> T | None:
    """A field that may be missing, or null."""
    return None if fields.get(name) is None else kind(fields[name])


def listed(fields: Mapping[str, object], name: str, kind: Callable[[object], T]) -> tuple[T, ...]:
    return tuple([kind(one) for one in rows_of(fields.get(name) or [])])


def known(fields: Mapping[str, object], names: Any) -> None:
    """Refuse a field of another name: what would be passed over would be answered wrongly."""
    for name in fields:
        if name not in names:
            expected = ", ".join(f"`{one}`" for one in names)
            raise wrong(f"unknown field `{name[:40]}`, expected one of {expected}")
