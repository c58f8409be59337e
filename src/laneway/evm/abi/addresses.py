"""Addresses as people write them."""

import re
from typing import Final

from laneway.core.errors import BadRequest

ADDRESS_BYTES: Final = 20
DIGITS: Final = re.compile(r"0x([0-9a-fA-F]{2})*")


def checksummed(account: bytes) -> str:
    """EIP-55: the case of each letter is a bit of the address's own hash."""
    # Imported late: the hash is an extra, and a call without an address needs none of it.
    from laneway.evm.keccak import keccak

    digits = account.hex()
    marks = keccak(digits.encode()).hex()
    pairs = zip(digits, marks, strict=False)
    return "0x" + "".join(one.upper() if mark >= "8" else one for one, mark in pairs)


def read_bytes(given: object, at: str) -> bytes:
    """The bytes that a text names; bytes are taken as they are."""
    if isinstance(given, bytes):
        return bytes(given)
    if not isinstance(given, str) or DIGITS.fullmatch(given) is None:
        raise BadRequest(at, "0x and pairs of hexadecimal digits")
    return bytes.fromhex(given[2:])


def read_address(given: object, at: str) -> bytes:
    """20 bytes; letters of both cases are a checksum, and a wrong one is a typo (EIP-55)."""
    found = read_bytes(given, at)
    if len(found) != ADDRESS_BYTES:
        raise BadRequest(at, f"an address has {ADDRESS_BYTES} bytes, not {len(found)}")
    if not isinstance(given, str):
        return found
    digits = given[2:]
    if digits not in (digits.lower(), digits.upper()) and checksummed(found) != given:
        raise BadRequest(at, f"its checksum is wrong; {checksummed(found)} would be right")
    return found
