"""Bech32 (BIP-173), in which Cosmos accounts are written: a prefix, and bytes with a checksum."""

from laneway.cosmos.errors import MalformedAddress

CHARS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
PLACES = {char: place for place, char in enumerate(CHARS)}
GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
CHECKSUM_CHARS = 6
ADDRESS_CHARS_MAX = 90


def encode(prefix: str, data: bytes) -> str:
    words = regrouped(data, 8, 5)
    checked = _expanded(prefix) + words + [0] * CHECKSUM_CHARS
    rest = _checksum(checked) ^ 1
    words += [rest >> 5 * (CHECKSUM_CHARS - 1 - place) & 31 for place in range(CHECKSUM_CHARS)]
    return f"{prefix}1{''.join([CHARS[word] for word in words])}"


def decode(address: str) -> tuple[str, bytes]:
    """Prefix and bytes; MalformedAddress for anything else."""
    text = address.lower()
    if text != address and address.upper() != address:
        raise MalformedAddress(address=address, problem="small and large letters are mixed")
    prefix, one, rest = text.rpartition("1")
    if not one or not prefix or len(rest) < CHECKSUM_CHARS or len(text) > ADDRESS_CHARS_MAX:
        raise MalformedAddress(address=address, problem="it has not the form of one")
    if any(not 33 <= ord(char) <= 126 for char in prefix):
        raise MalformedAddress(address=address, problem="its prefix has a strange character")
    if any(char not in PLACES for char in rest):
        raise MalformedAddress(address=address, problem="it has a character that none has")
    words = [PLACES[char] for char in rest]
    if _checksum(_expanded(prefix) + words) != 1:
        raise MalformedAddress(address=address, problem="the checksum is wrong")
    try:
        data = bytes(regrouped(words[:-CHECKSUM_CHARS], 5, 8))
    except ValueError as error:
        raise MalformedAddress(address=address, problem=str(error)) from None
    return prefix, data


def regrouped(data: bytes | list[int], wide: int, narrow: int) -> list[int]:
    """The same bits in words of another width; ValueError where some are left over."""
    rest, bits = 0, 0
    words: list[int] = []
    for word in data:
        rest = rest << wide | word
        bits += wide
        while bits >= narrow:
            bits -= narrow
            words.append(rest >> bits & (1 << narrow) - 1)
        rest &= (1 << bits) - 1
    if wide > narrow and bits:
        words.append(rest << narrow - bits)
    elif wide < narrow and (bits >= wide or rest):
        raise ValueError("bits are left over")
    return words


def _expanded(prefix: str) -> list[int]:
    return [ord(char) >> 5 for char in prefix] + [0] + [ord(char) & 31 for char in prefix]


def _checksum(words: list[int]) -> int:
    found = 1
    for word in words:
        top = found >> 25
        found = (found & 0x1FFFFFF) << 5 ^ word
        for place, generator in enumerate(GENERATORS):
            if top >> place & 1:
                found ^= generator
    return found
