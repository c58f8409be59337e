"""The values in an account's keys, as engine-core writes them. Pure."""

import msgspec
from msgspec import Struct

from laneway.core.intent import Arrival, IntentRow
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.core.units import value
from laneway.lanes.eoa.rows import Attempt, Health, Inclusion, Purpose
from laneway.ports import EvmRequest

json = msgspec.json.Encoder().encode
decode_request = msgspec.msgpack.Decoder(EvmRequest).decode

PENDING, BORROWED, SUBMITTED = "pending", "borrowed", "submitted"
"""Where an account's intent stands: it waits, it is signed, or a node may have it."""

NO_OP = "noop"
"""The id of every payment that only uses up its number, as engine-core has it."""

CONFIRMED = (Status.CONFIRMED.value, Status.REVERTED.value)
"""Engine-core does not tell the two apart; its receipt does."""


class AccessValue(Struct, rename="camel", gc=False):
    address: str
    storage_keys: list[str]


class AuthorizationValue(Struct, rename="camel", gc=False):
    chain_id: str
    address: str
    nonce: str
    y_parity: str
    r: str
    s: str


class RequestValue(Struct, rename="camel", omit_defaults=True, gc=False):
    """EoaTransactionRequest, its credentials aside: keys never stand in a store of ours."""

    transaction_id: str
    chain_id: int
    from_: str = msgspec.field(name="from")
    to: str | None
    value: str
    data: str
    gas_limit: int | None
    webhook_options: tuple[str, ...]
    max_fee_per_gas: int | None = None
    max_priority_fee_per_gas: int | None = None
    access_list: list[AccessValue] | None = None
    authorization_list: list[AuthorizationValue] | None = None
    blob_versioned_hashes: list[str] | None = None
    type: str | None = None


class BorrowedValue(Struct, gc=False):
    """BorrowedTransactionData; the nonce is ours, for engine-core reads it from the bytes."""

    transaction_id: str
    signed_transaction: str
    queued_at: int
    hash: str
    borrowed_at: int
    nonce: int


class Details(Struct, rename="camel", gc=False):
    hash: str
    nonce: int
    gas: int
    max_fee_per_gas: int
    max_priority_fee_per_gas: int
    purpose: str


class AttemptValue(Struct, gc=False):
    """TransactionAttempt."""

    transaction_id: str
    details: Details
    sent_at: int
    attempt_number: int


class HealthValue(Struct, gc=False):
    """EoaHealth."""

    balance: str
    balance_threshold: str
    balance_fetched_at: int
    last_confirmation_at: int
    last_nonce_movement_at: int
    nonce_resets: tuple[int, ...]


class ReceiptValue(Struct, rename="camel", gc=False):
    transaction_hash: str
    from_: str = msgspec.field(name="from")
    nonce: str
    status: str
    block_number: str
    block_hash: str
    gas_used: str
    effective_gas_price: str


def hexed(found: bytes) -> str:
    return "0x" + found.hex()


def request_json(chain: int, address: str, intent: Arrival | IntentRow) -> bytes:
    try:
        asked = decode_request(intent.payload)
    except msgspec.DecodeError:
        # Not for the store to judge: the lane will refuse it, and say why.
        asked = EvmRequest(None, input=intent.payload)
    request = RequestValue(
        intent.id,
        chain,
        address,
        None if asked.to is None else hexed(asked.to),
        hex(value(asked.value_wei)),
        hexed(asked.input),
        asked.gas,
        (),
        asked.fee_wei_max,
        asked.tip_wei,
    )
    if asked.type is not None:
        request.type = hex(asked.type)
    if asked.access_list:
        request.access_list = [
            AccessValue(hexed(a), [*map(hexed, k)]) for a, k in asked.access_list
        ]
    if asked.authorizations:
        request.authorization_list = [
            AuthorizationValue(
                hex(one.chain_id),
                hexed(one.address),
                hex(one.nonce),
                hex(one.y_parity),
                hex(value(one.r)),
                hex(value(one.s)),
            )
            for one in asked.authorizations
        ]
    if asked.blobs is not None:
        request.blob_versioned_hashes = [*map(hexed, asked.blobs.hashes)]
    return json(request)


class Shot(Struct, frozen=True, gc=False):
    """An attempt and whose it is."""

    intent: str | None
    nonce: int
    hash: str
    attempt: Attempt
    queued_ms: int


def borrowed_json(one: Shot, raw: bytes) -> bytes:
    assert one.intent is not None
    signed, made_ms = "0x" + raw.hex(), one.attempt.made_ms
    return json(BorrowedValue(one.intent, signed, one.queued_ms, one.hash, made_ms, one.nonce))


def attempt_json(one: Shot) -> bytes:
    """The bytes stand in its own row, and in what is borrowed; not a third time."""
    assert one.intent is not None
    attempt, fee = one.attempt, one.attempt.fee
    details = Details(one.hash, one.nonce, attempt.gas, fee.cap, fee.tip, attempt.purpose)
    return json(AttemptValue(one.intent, details, attempt.made_ms, attempt.number))


def submitted_member(one: Shot) -> str:
    """`hash:transaction_id:queued_at:submitted_at`."""
    if one.intent is None or one.attempt.purpose != Purpose.INTENT:
        return f"{one.hash}:{NO_OP}:0:0"
    return f"{one.hash}:{one.intent}:{one.queued_ms}:{one.attempt.made_ms}"


def health_json(health: Health) -> bytes:
    return json(
        HealthValue(
            balance=hex(value(health.balance or b"")),
            balance_threshold=hex(value(health.threshold)),
            balance_fetched_at=health.balance_ms,
            last_confirmation_at=health.confirmed_ms,
            last_nonce_movement_at=health.moved_ms,
            nonce_resets=health.resets_ms,
        )
    )


def receipt_json(address: str, nonce: int, seen: Inclusion, hash_: bytes) -> bytes:
    return json(
        ReceiptValue(
            hexed(hash_),
            address,
            hex(nonce),
            "0x1" if seen.ok else "0x0",
            hex(seen.block),
            hexed(seen.block_hash),
            hex(seen.gas_used),
            hex(seen.price),
        )
    )


def ended_fields(result: Result) -> dict[str, str | bytes | int]:
    """The fields that a final answer adds to a payment. `laneway_status` is extra: our status."""
    fields: dict[str, str | bytes | int] = {
        "status": "confirmed" if result.status in CONFIRMED else "failed",
        "completed_at": result.settled_ms,
        "laneway_status": result.status,
    }
    if result.status not in CONFIRMED:
        fields["failure_reason"] = result.reason
    return fields
