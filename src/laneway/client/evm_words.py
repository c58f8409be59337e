"""Calls in words of EVM accounts: encoded here, so that what is wrong is said before it is sent."""

from collections.abc import Mapping
from typing import Any

from laneway.core.errors import BadRequest
from laneway.wire.evm import EvmPayload
from laneway.wire.evm_words import WORDS, abi_source, code_source, evm_payload
from laneway.wire.hex import octets


def evm_request(data: str | bytes | None, options: Mapping[str, Any]) -> EvmPayload:
    """The API's payload. Calldata takes the place of a call in words, and stands beside the
    signatures that show it in words later."""
    given = {name: options[name] for name in WORDS if options.get(name) is not None}
    others = {name: value for name, value in options.items() if name not in WORDS}
    if not given:
        return evm_payload(data, others)
    if "abi" in given:
        given["abi"] = abi_source(given["abi"])
    if "deploy" in given:
        given["deploy"] = code_source(given["deploy"])
    try:
        return evm_payload(None, others | encoded(data, given, others.get("to")))
    except ModuleNotFoundError as error:
        raise BadRequest("call", f"{error}; run: pip install 'laneway[abi]'") from None


def encoded(data: str | bytes | None, given: Mapping[str, Any], to: object) -> dict[str, object]:
    # Imported late: its hash is an extra, and most requests need none of it.
    from laneway.evm.abi.calls import CallInWords, encoded_words

    if isinstance(data, bytes):
        data = octets(data)
    made = encoded_words(CallInWords(data=data, creates=to is None, **given))
    fields: dict[str, object] = {"data": octets(made.data)}
    if made.code:
        fields["deploy"] = octets(made.code)
    if made.kept:
        fields["abi"] = list(made.kept)
    return fields
