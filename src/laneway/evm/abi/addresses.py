"""Addresses as people write them."""

from contextlib import suppress
from typing import Final

from laneway.core.errors import BadRequest

ADDRESS_BYTES: Final = 20


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
    if isinstance(given, str) and given.startswith("0x"):
        with suppress(ValueError):
            found = bytes.fromhex(given[2:])
            if 2 * len(found) == len(given) - 2:  # Blanks between the digits are none of them.
                return found
    raise BadRequest(at, "0x and pairs of hexadecimal digits")


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
