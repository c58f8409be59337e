"""Addresses of accounts as people read and write them."""

import re

from laneway.evm.keccak import keccak


def checksummed(address: bytes) -> str:
    """EIP-55: the case of each letter is a bit of the address's own hash."""
    digits = address.hex()
    bits = keccak(digits.encode()).hex()
    cased = (digit.upper() if int(bits[i], 16) >= 8 else digit for i, digit in enumerate(digits))
    return "0x" + "".join(cased)


def parse_address(text: str) -> bytes | None:
    """20 bytes; None where it is no address, or its mixed case says that it was mistyped."""
    digits = text.removeprefix("0x")
    if not re.fullmatch(r"[0-9a-fA-F]{40}", digits):
        return None
    address = bytes.fromhex(digits)
    if digits not in (digits.lower(), digits.upper()) and checksummed(address) != f"0x{digits}":
        return None
    return address
