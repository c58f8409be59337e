"""The contract at address 5: a power modulo a number, each of any length (EIP-198).

Prices are those of EIP-2565, and since Osaka of EIP-7883 with the bounds of EIP-7823.
"""

from laneway.evm.limits import MODEXP_BYTES_MAX, MODEXP_GAS_MAX


def gas(data: bytes) -> int:
    """EIP-2565."""
    base, exponent, modulus = lengths(data)
    words = (max(base, modulus) + 7) // 8
    return max(200, words * words * iterations(data, base, exponent, 8) // 3)


def gas_since_osaka(data: bytes) -> int:
    """EIP-7883: no discount any more, and numbers of up to 32 bytes have one price."""
    base, exponent, modulus = lengths(data)
    longer = max(base, modulus)
    words = (longer + 7) // 8
    complexity = 16 if longer <= 32 else 2 * words * words
    return max(500, complexity * iterations(data, base, exponent, 16))


def iterations(data: bytes, base: int, exponent: int, per_byte: int) -> int:
    """By the bits of the exponent's first 32 bytes and the number of its further bytes."""
    head = part(data, 96 + base, min(exponent, 32))
    return max(1, per_byte * max(0, exponent - 32) + max(0, head.bit_length() - 1))


def run(data: bytes) -> bytes | None:
    if gas(data) > MODEXP_GAS_MAX:
        return None
    return result(data, *lengths(data))


def run_since_osaka(data: bytes) -> bytes | None:
    if max(lengths(data)) > MODEXP_BYTES_MAX:
        return None
    return result(data, *lengths(data))


def result(data: bytes, base: int, exponent: int, modulus: int) -> bytes:
    from laneway.evm.precompiles.integers import power

    divisor = part(data, 96 + base + exponent, modulus)
    if not divisor:
        return bytes(modulus)
    found = power(part(data, 96, base), part(data, 96 + base, exponent), divisor)
    return int(found).to_bytes(modulus, "big")


def lengths(data: bytes) -> tuple[int, int, int]:
    return part(data, 0, 32), part(data, 32, 32), part(data, 64, 32)


def part(data: bytes, start: int, length: int) -> int:
    """A number of the input, which goes on with zeros after its end."""
    given = data[start : start + length]
    return int.from_bytes(given, "big") << 8 * (length - len(given))
