"""An account's request as callers write it ⇄ as its intent keeps it.

What is accepted is durable, so all that can be judged without the chain is judged here.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from laneway.core.errors import BadRequest
from laneway.core.limits import PAYLOAD_BYTES_MAX
from laneway.core.units import AMOUNT_BITS_MAX, amount, read_wei, value
from laneway.evm.abi.addresses import checksummed, read_address, read_bytes
from laneway.evm.abi.calls import CallInWords, encoded_words
from laneway.kinds.extras import missing
from laneway.lanes.eoa.fees import NO_FEE
from laneway.ports import EvmAuthorization, EvmBlobs, EvmRequest, EvmWords, stored_form
from laneway.wire import evm as wire
from laneway.wire.evm_words import AMOUNTS, WORDS, abi_source, code_source
from laneway.wire.hex import octets, read_octets

BLOB_BYTES, POINT_BYTES = 131_072, 48
"""Of a blob, and of its commitments and proofs (EIP-4844)."""
CELLS = 128
"""Proofs of one blob since EIP-7594."""
GAS_MIN = 21_000
"""No transaction costs less."""
NUMBER_BITS = 63
"""Of gas, a fee or a nonce: what a row's integers can say."""
INITCODE_BYTES_MAX = 49_152
"""EIP-3860."""

encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(EvmRequest).decode


def request_of(asked: wire.EvmPayload, trace: str = "", at: str = "payload") -> EvmRequest:
    """BadRequest with the place of what is wrong."""
    input_, words = content_of(asked, at)
    request = EvmRequest(
        to=None if asked.to is None else read_address(asked.to, f"{at}.to"),
        value_wei=amount(number(asked.value, f"{at}.value")),
        input=input_,
        gas=small(asked.gas, f"{at}.gas"),
        type=asked.type,
        fee_wei_max=small(asked.max_fee_per_gas, f"{at}.max_fee_per_gas"),
        tip_wei=small(asked.max_priority_fee_per_gas, f"{at}.max_priority_fee_per_gas"),
        cost_wei_max=None
        if asked.max_cost is None
        else amount(number(asked.max_cost, f"{at}.max_cost")),
        access_list=tuple(
            (
                read_address(one.address, f"{at}.access_list[{place}].address"),
                tuple(read_octets(key) for key in one.storage_keys),
            )
            for place, one in enumerate(asked.access_list)
        ),
        authorizations=authorizations(asked.authorization_list, f"{at}.authorization_list"),
        blobs=None if asked.blobs is None else blobs_of(asked.blobs, f"{at}.blobs"),
        trace=trace,
        words=words,
    )
    check(request, at)
    return request


def content_of(asked: wire.EvmPayload, at: str) -> tuple[bytes, EvmWords | None]:
    """What the transaction carries, and what shows that in words; calls in words are encoded."""
    if asked.call is None and asked.args is None and asked.abi is None and asked.deploy is None:
        return read_bytes(asked.data, f"{at}.data"), None
    said = {name: getattr(asked, name) for name in WORDS}
    try:
        made = encoded_words(CallInWords(data=asked.data, creates=asked.to is None, **said))
    except BadRequest as error:
        raise BadRequest(f"{at}.{error.field}", error.problem) from None
    except ModuleNotFoundError as error:
        raise BadRequest(f"{at}.call", str(missing(error, "abi"))) from None
    kept = EvmWords(made.kept, len(made.code)) if made.kept else None
    return made.code + made.data, kept


def request_from(options: Mapping[str, Any]) -> EvmRequest:
    """A request of the library: numbers and bytes are taken as they are, an amount may also be a
    text like "0.5 ether", and everything may be written as the API has it."""
    fields = {name: value for name, value in options.items() if value is not None}
    for name in AMOUNTS:
        text = fields.get(name)
        if isinstance(text, str) and not text.startswith("0x"):
            fields[name] = read_wei(text)
    for name, source in (("abi", abi_source), ("deploy", code_source)):
        if name in fields:
            fields[name] = source(fields[name])
    return request_of(wire.EvmPayload(**fields), at="request")


def bare(request: EvmRequest) -> EvmRequest:
    """What its caller wants done: neither a trace nor an ABI makes it another request."""
    return replace(request, trace="", words=None) if request.trace or request.words else request


def encoded(request: EvmRequest) -> bytes:
    payload: bytes = encode(stored_form(request))
    if len(payload) > PAYLOAD_BYTES_MAX:
        problem = f"{len(payload)} bytes are more than the {PAYLOAD_BYTES_MAX} allowed"
        raise BadRequest("payload", problem)
    return payload


def check(request: EvmRequest, at: str) -> None:
    """What contradicts itself is refused now: signed, no node would ever take it."""
    kind = request.type
    if request.gas is not None and request.gas < GAS_MIN:
        raise BadRequest(f"{at}.gas", f"no transaction costs less than {GAS_MIN}")
    fee, tip = request.fee_wei_max, request.tip_wei
    if fee is not None and tip is not None and tip > fee:
        problem = f"{tip} is more than max_fee_per_gas, {fee}"
        raise BadRequest(f"{at}.max_priority_fee_per_gas", problem)
    if kind in (0, 1) and tip is not None:
        problem = f"a type {kind} transaction has no tip, only max_fee_per_gas"
        raise BadRequest(f"{at}.max_priority_fee_per_gas", problem)
    if request.blobs is not None and kind not in (None, 3):
        raise BadRequest(f"{at}.type", f"blobs are for type 3, not {kind}")
    if request.authorizations and (kind not in (None, 4) or request.blobs is not None):
        raise BadRequest(f"{at}.type", "authorizations are for type 4, without blobs")
    if kind == 3 and request.blobs is None:
        raise BadRequest(f"{at}.blobs", "a type 3 transaction carries blobs")
    if kind == 4 and not request.authorizations:
        raise BadRequest(f"{at}.authorization_list", "a type 4 transaction has authorizations")
    if request.access_list and kind == 0:
        raise BadRequest(f"{at}.access_list", "a type 0 transaction has none")
    if request.to is None:
        check_creation(request, at)
    if request.gas is not None:
        check_gas(request, request.gas, at)


def check_gas(request: EvmRequest, gas: int, at: str) -> None:
    """What is paid before the first step, or at least, as today's forks have it (EIP-7623). With
    less gas a node refuses it, or keeps it and never mines it."""
    # Imported late: the curve is an extra (`evm`), and contracts need none of it.
    from laneway.engine.eoa.drafts import EvmTerms, compose, type_of
    from laneway.evm.fork import Fork
    from laneway.evm.gas import floor_gas, intrinsic_gas

    made = compose(request, type_of(request, EvmTerms(True, 0)), 0, NO_FEE, gas, 1)
    needed = max(intrinsic_gas(made, Fork.PRAGUE), floor_gas(made, Fork.PRAGUE))
    if gas < needed:
        problem = f"{gas} is less than the {needed} that it costs before its first step"
        raise BadRequest(f"{at}.gas", problem)


def check_creation(request: EvmRequest, at: str) -> None:
    if request.blobs is not None or request.authorizations:
        raise BadRequest(f"{at}.to", "types 3 and 4 create no contract: say to whom")
    if not request.input:
        raise BadRequest(f"{at}.to", "say to whom, or the code of a contract in data")
    if len(request.input) > INITCODE_BYTES_MAX:
        problem = f"{len(request.input)} bytes of code are more than {INITCODE_BYTES_MAX}"
        raise BadRequest(f"{at}.data", problem)


def number(text: wire.Quantity, at: str, bits: int = AMOUNT_BITS_MAX) -> int:
    try:
        found = int(text, 16 if text[:2] == "0x" else 10) if isinstance(text, str) else text
    except ValueError:
        raise BadRequest(at, f"{text!r} is not a whole number") from None
    if type(found) is not int:
        raise BadRequest(at, f"{found!r} is not a whole number")
    if found < 0:
        raise BadRequest(at, f"{found} is less than zero")
    if found >= 1 << bits:
        raise BadRequest(at, f"{found} is more than {(1 << bits) - 1}, what {bits} bits can say")
    return found


def small(text: wire.Quantity | None, at: str) -> int | None:
    return None if text is None else number(text, at, NUMBER_BITS)


def authorizations(
    listed: Sequence[wire.EvmAuthorization], at: str
) -> tuple[EvmAuthorization, ...]:
    return tuple(
        EvmAuthorization(
            chain_id=number(one.chain_id, f"{at}[{place}].chain_id", NUMBER_BITS),
            address=read_address(one.address, f"{at}[{place}].address"),
            nonce=number(one.nonce, f"{at}[{place}].nonce", NUMBER_BITS),
            y_parity=one.y_parity,
            r=amount(number(one.r, f"{at}[{place}].r")),
            s=amount(number(one.s, f"{at}[{place}].s")),
        )
        for place, one in enumerate(listed)
    )


def blobs_of(asked: wire.EvmBlobs, at: str) -> EvmBlobs:
    blobs = sized(asked.blobs, BLOB_BYTES, f"{at}.blobs")
    commitments = sized(asked.commitments, POINT_BYTES, f"{at}.commitments")
    proofs = sized(asked.proofs, POINT_BYTES, f"{at}.proofs")
    if len(commitments) != len(blobs):
        raise BadRequest(f"{at}.commitments", f"one for each of {len(blobs)} blobs")
    wanted = len(blobs) * (CELLS if asked.version else 1)
    if len(proofs) != wanted:
        raise BadRequest(f"{at}.proofs", f"{wanted} of them, not {len(proofs)}")
    fee = asked.max_fee_per_blob_gas
    # EIP-4844: the versioned hash of a commitment.
    hashes = tuple(b"\x01" + sha256(one).digest()[1:] for one in commitments)
    return EvmBlobs(
        hashes=hashes,
        version=asked.version,
        blobs=blobs,
        commitments=commitments,
        proofs=proofs,
        fee_wei_max=b""
        if fee is None
        else amount(number(fee, f"{at}.max_fee_per_blob_gas", NUMBER_BITS)),
    )


def sized(listed: Sequence[str], length: int, at: str) -> tuple[bytes, ...]:
    found = tuple(read_bytes(one, f"{at}[{place}]") for place, one in enumerate(listed))
    for place, one in enumerate(found):
        if len(one) != length:
            raise BadRequest(f"{at}[{place}]", f"{length} bytes, not {len(one)}")
    return found


def payload_of(request: EvmRequest) -> wire.EvmPayload:
    """As its caller would write it."""
    return wire.EvmPayload(
        to=None if request.to is None else checksummed(request.to),
        value=str(value(request.value_wei)),
        data=octets(request.input),
        abi=None if request.words is None else list(request.words.items),
        gas=digits_of(request.gas),
        type=request.type,
        max_fee_per_gas=digits_of(request.fee_wei_max),
        max_priority_fee_per_gas=digits_of(request.tip_wei),
        max_cost=None if request.cost_wei_max is None else str(value(request.cost_wei_max)),
        access_list=[
            wire.EvmAccess(checksummed(account), [octets(key) for key in keys])
            for account, keys in request.access_list
        ],
        authorization_list=[
            wire.EvmAuthorization(
                chain_id=str(one.chain_id),
                address=checksummed(one.address),
                nonce=str(one.nonce),
                y_parity=one.y_parity,
                r=str(value(one.r)),
                s=str(value(one.s)),
            )
            for one in request.authorizations
        ],
    )


def digits_of(found: int | None) -> str | None:
    return None if found is None else str(found)
