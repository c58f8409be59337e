"""What engine-core left in an account's keys, read into our own values. Pure.

Nothing is guessed: an entry that cannot be understood is a problem that a person must look at, for
to pass over one could pay it twice.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from laneway.core.units import amount, value
from laneway.evm import envelope
from laneway.evm.errors import InvalidTransaction
from laneway.evm.secp256k1 import Signature
from laneway.evm.transaction import (
    Access,
    AccessListTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    Transaction,
    fee_wei_max,
)
from laneway.lanes.eoa.fees import NO_FEE, EvmFee
from laneway.ports import EvmAuthorization, EvmRequest
from laneway.stores.redis.engine_core.values import NO_OP
from laneway.stores.redis.limits import ADOPTED_ID_CHARS_MAX


class AccountContent(Struct, frozen=True):
    """What stands in the keys of one account, what is ours left out."""

    lock: bytes | None
    pending: dict[str, int]
    """Id → when it was queued."""
    borrowed: dict[str, bytes]
    submitted: dict[str, int]
    """Member → nonce."""
    recycled: tuple[int, ...]
    optimistic: int | None
    counted: int | None
    requests: dict[str, bytes]
    """Id → the request that is kept of it."""


class OutgoingHash(Struct, frozen=True):
    """One hash that a node may have."""

    id: str
    nonce: int
    hash: bytes
    queued_ms: int
    submitted_ms: int = 0
    raw: bytes = b""
    """Empty where only the hash was kept."""
    fee: EvmFee = NO_FEE
    gas: int = 0


class Use(Struct, frozen=True):
    """The transaction of this account that is final at a nonce, as a majority of nodes shows it."""

    hash: bytes
    to: bytes | None
    value_wei: int
    input: bytes

    def does(self, request: EvmRequest) -> bool:
        """Whether it does what this request asks for."""
        asked = (request.to, value(request.value_wei), request.input)
        return (self.to, self.value_wei, self.input) == asked


class AccountFound(Struct):
    """What an account holds, by our understanding."""

    pending: list[tuple[int, str]] = []
    """When it was queued and its id; in that order."""
    out: list[OutgoingHash] = []
    """By nonce."""
    requests: dict[str, EvmRequest] = {}
    problems: list[str] = []
    """Each of these keeps the account from being adopted."""
    passed_over: list[str] = []
    used: list[int] = []
    """Recycled nonces that are used by something else than what is pending."""


def understood(layout: AccountContent, sender: bytes) -> AccountFound:
    found = AccountFound()
    for member, nonce in layout.submitted.items():
        _take(found, lambda member=member, nonce=nonce: submitted_parsed(member, nonce))
    known = {one.hash for one in found.out}
    for stored in layout.borrowed.values():
        _take(found, lambda stored=stored: borrowed_parsed(stored, sender))
    # A bump or a crash may leave one hash in both places; the one with bytes says more.
    with_bytes = {one.hash: one for one in found.out if one.raw}
    found.out = sorted(
        {one.hash: with_bytes.get(one.hash, one) for one in found.out}.values(),
        key=lambda one: (one.nonce, one.hash not in known, one.submitted_ms),
    )
    bound = {one.id for one in found.out}
    for name, queued_ms in sorted(layout.pending.items(), key=lambda pair: (pair[1], pair[0])):
        if name not in layout.requests:
            found.passed_over.append(f"{name} is pending, and nothing is kept of its request")
        elif name not in bound:
            found.pending.append((queued_ms, name))
    for name in [*dict.fromkeys(one.id for one in found.out), *(one for _, one in found.pending)]:
        if name != NO_OP:
            _take_request(found, name, layout.requests.get(name))
    _judge(found)
    return found


def _take(found: AccountFound, parse: Any) -> None:
    try:
        found.out.append(parse())
    except (ValueError, KeyError, msgspec.DecodeError, InvalidTransaction) as error:
        found.problems.append(str(error))


def _take_request(found: AccountFound, name: str, stored: bytes | None) -> None:
    if not is_name(name):
        found.problems.append(f"{name!r} is no id that can be kept")
    elif stored is None:
        found.problems.append(f"{name} is out, and nothing is kept of its request")
    else:
        try:
            found.requests[name] = request_parsed(stored)
        except (ValueError, KeyError, TypeError, msgspec.DecodeError) as error:
            found.problems.append(f"the request of {name} cannot be read: {error}")


def _judge(found: AccountFound) -> None:
    """One payment at two numbers may be paid twice, whatever we do."""
    places: dict[str, set[int]] = {}
    owners: dict[int, set[str]] = {}
    for one in found.out:
        if one.id != NO_OP:
            places.setdefault(one.id, set()).add(one.nonce)
            owners.setdefault(one.nonce, set()).add(one.id)
    for name, nonces in places.items():
        if len(nonces) > 1:
            found.problems.append(f"{name} is out at several nonces: {sorted(nonces)}")
    for nonce, names in owners.items():
        if len(names) > 1:
            found.problems.append(f"nonce {nonce} is out for several payments: {sorted(names)}")


def judge_recycled(
    found: AccountFound, nonces: Sequence[int], uses: Mapping[int, Use | None]
) -> None:
    """Engine-core recycles a nonce also when the answer to an offer was lost: what is pending may
    still be mined there, or has been. It is taken only when each of these nonces is used for good
    by something else; no look into pools proves that nobody holds bytes for one."""
    for nonce in nonces:
        use = uses.get(nonce)
        if use is None:
            found.problems.append(
                f"nonce {nonce} was recycled, maybe after a lost answer, and no majority of nodes "
                "shows a final transaction there: what is pending may still be mined at it. Let "
                "engine-core empty its queue, or fill the nonce with a transfer of nothing to the "
                "account itself; adopt when that is final"
            )
            continue
        asked = [(name, found.requests.get(name)) for _, name in found.pending]
        same = [name for name, request in asked if request is not None and use.does(request)]
        if same:
            found.problems.append(
                f"nonce {nonce} was recycled, and 0x{use.hash.hex()} there does what is pending as "
                f"{same}: it may be paid already. Take it out of pending_txs if it is"
            )
        else:
            found.used.append(nonce)


def is_name(name: str) -> bool:
    """What our cells can hold: they join names with spaces, colons and line ends."""
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    return plain.isascii() and plain.isalnum() and len(name) <= ADOPTED_ID_CHARS_MAX


def submitted_parsed(member: str, nonce: int) -> OutgoingHash:
    """`hash:transaction_id:queued_at:submitted_at`, or without the last in the older form."""
    parts = member.split(":")
    if len(parts) not in (3, 4):
        raise ValueError(f"{member!r} is no submitted payment")
    hash_ = bytes.fromhex(parts[0].removeprefix("0x"))
    if len(hash_) != 32:
        raise ValueError(f"{member!r} has no hash")
    submitted_ms = int(parts[3]) if len(parts) == 4 else 0
    return OutgoingHash(parts[1], nonce, hash_, int(parts[2]), submitted_ms)


def borrowed_parsed(stored: bytes, sender: bytes) -> OutgoingHash:
    read = msgspec.json.decode(stored)
    name, hash_ = str(read["transaction_id"]), bytes.fromhex(read["hash"].removeprefix("0x"))
    signed = read["signed_transaction"]
    if isinstance(signed, str):
        transaction = envelope.decode(bytes.fromhex(signed.removeprefix("0x")))
    else:
        transaction = transaction_parsed(signed)
    if envelope.hash_of(transaction) != hash_:
        raise ValueError(f"the bytes that {name} borrowed are not those of its hash")
    if envelope.sender(transaction) != sender:
        raise ValueError(f"the bytes that {name} borrowed are another account's")
    cap = fee_wei_max(transaction)
    return OutgoingHash(
        name,
        transaction.nonce,
        hash_,
        int(read["queued_at"]),
        int(read["borrowed_at"]),
        envelope.encode_network(transaction),
        EvmFee(cap, getattr(transaction, "tip_wei_max", cap)),
        transaction.gas_limit,
    )


def number(stored: Any) -> int:
    return int(stored, 0) if isinstance(stored, str) else int(stored)


def octets(stored: str | None) -> bytes:
    return bytes.fromhex((stored or "").removeprefix("0x"))


def transaction_parsed(stored: dict[str, Any]) -> Transaction:
    """A signed payment as engine-core's library writes it: the fields of JSON-RPC."""
    kind = number(stored.get("type", "0x0"))
    chain = stored.get("chainId")
    rest: dict[str, Any] = {
        "nonce": number(stored["nonce"]),
        "gas_limit": number(stored.get("gas", stored.get("gasLimit"))),
        "to": octets(stored.get("to")) or None,
        "value_wei": number(stored.get("value", 0)),
        "data": octets(stored.get("input", stored.get("data"))),
    }
    v = number(stored.get("yParity", stored.get("v", 0)))
    signature = Signature(v if v < 2 else 1 - v % 2, number(stored["r"]), number(stored["s"]))
    if kind == 0:
        chain_id = number(chain) if chain is not None else None
        return LegacyTransaction(
            gas_price_wei=number(stored["gasPrice"]), chain_id=chain_id, signature=signature, **rest
        )
    rest["chain_id"] = number(chain)
    rest["access_list"] = tuple(
        Access(octets(one["address"]), tuple(map(octets, one["storageKeys"])))
        for one in stored.get("accessList") or ()
    )
    if kind == 1:
        price = number(stored["gasPrice"])
        return AccessListTransaction(gas_price_wei=price, signature=signature, **rest)
    if kind != 2:
        raise ValueError(f"{stored.get('hash')} is of type {kind}, which is not adopted")
    return DynamicFeeTransaction(
        tip_wei_max=number(stored["maxPriorityFeePerGas"]),
        fee_wei_max=number(stored["maxFeePerGas"]),
        signature=signature,
        **rest,
    )


def request_parsed(stored: bytes) -> EvmRequest:
    """EoaTransactionRequest → what an account is asked to send once."""
    read = msgspec.json.decode(stored)
    price, gas = read.get("gasPrice"), read.get("gasLimit", read.get("gas"))
    fee, tip = read.get("maxFeePerGas", price), read.get("maxPriorityFeePerGas")
    return EvmRequest(
        octets(read.get("to")) or None,
        amount(number(read["value"])),
        octets(read["data"]),
        None if gas is None else number(gas),
        0 if price is not None else None,
        None if fee is None else number(fee),
        None if tip is None else number(tip),
        authorizations=tuple(
            EvmAuthorization(
                number(one["chainId"]),
                octets(one["address"]),
                number(one["nonce"]),
                number(one["yParity"]),
                amount(number(one["r"])),
                amount(number(one["s"])),
            )
            for one in read.get("authorizationList") or ()
        ),
    )
