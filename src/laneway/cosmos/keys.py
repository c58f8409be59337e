"""Keys of Cosmos accounts: the curve, addresses, and keys that are derived from a mnemonic.

libsecp256k1 does the work. Secrets are never shown or put into an error.
"""

import hashlib
import hmac
import re
import unicodedata
from functools import lru_cache
from typing import NoReturn

from coincurve import PrivateKey, PublicKey

from laneway.cosmos import bech32
from laneway.cosmos.errors import MalformedMnemonic, MalformedPath
from laneway.cosmos.limits import ADDRESSES_KEPT_MAX
from laneway.cosmos.ripemd160 import ripemd160

COSMOS_PATH = "m/44'/118'/0'/0/0"
"""Of the first account of a mnemonic, on most Cosmos chains (SLIP-44: 118)."""

WORD_COUNTS = (12, 15, 18, 21, 24)
HARDENED = 1 << 31
N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
HALF_N = N // 2


@lru_cache(ADDRESSES_KEPT_MAX)
def raw_address(public_key: bytes) -> bytes:
    """The twenty bytes that name the account of a compressed key."""
    return ripemd160(hashlib.sha256(public_key).digest())


def address(prefix: str, public_key: bytes) -> str:
    return bech32.encode(prefix, raw_address(public_key))


def verifies(public_key: bytes, signature: bytes, payload: bytes) -> bool:
    """Whether the key signed it: r and s in 64 bytes, the lower s, over SHA-256."""
    if len(signature) != 64 or int.from_bytes(signature[32:], "big") > HALF_N:
        return False
    r, s = signature[:32].lstrip(b"\0") or b"\0", signature[32:].lstrip(b"\0") or b"\0"
    try:
        return bool(PublicKey(public_key).verify(_der(r, s), payload))
    except ValueError:
        return False


def _der(r: bytes, s: bytes) -> bytes:
    parts = [b"\x02" + bytes([len(one)]) + one for one in map(_signed, (r, s))]
    return b"\x30" + bytes([len(parts[0]) + len(parts[1])]) + parts[0] + parts[1]


def _signed(number: bytes) -> bytes:
    return b"\0" + number if number[0] & 0x80 else number


class HeldCosmosKey:
    """A secret made ready once. It shows its public key alone."""

    __slots__ = ("_key", "public_key")

    def __init__(self, secret: bytes) -> None:
        """ValueError where this is no secret of the curve; the error does not show it."""
        if len(secret) != 32:
            raise ValueError("a secret has 32 bytes")
        self._key = PrivateKey(secret)
        self.public_key: bytes = self._key.public_key.format(compressed=True)

    def sign(self, payload: bytes) -> bytes:
        """r and s in 64 bytes, deterministic (RFC 6979), with the lower s, over SHA-256."""
        signature: bytes = self._key.sign_recoverable(payload)
        return signature[:64]

    def address(self, prefix: str) -> str:
        return address(prefix, self.public_key)

    def __repr__(self) -> str:
        return f"HeldKey(public_key={self.public_key.hex()})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not copied or written anywhere")


def seed_of(mnemonic: str, passphrase: str = "") -> bytes:
    """BIP-39. Its words are not compared to a list: a wrong one makes another account, so anyone
    who imports a mnemonic checks the address."""
    words = unicodedata.normalize("NFKD", mnemonic).split()
    if len(words) not in WORD_COUNTS:
        raise MalformedMnemonic(problem=f"it has {len(words)} words, and not 12 to 24")
    salt = unicodedata.normalize("NFKD", f"mnemonic{passphrase}")
    return hashlib.pbkdf2_hmac("sha512", " ".join(words).encode(), salt.encode(), 2048)


def derived(seed: bytes, path: str = COSMOS_PATH) -> bytes:
    """BIP-32: the secret at a path below a seed."""
    if not re.fullmatch(r"m(/\d{1,10}'?)*", path):
        raise MalformedPath(path=path)
    secret, chain = _halves(b"Bitcoin seed", seed)
    for part in path.split("/")[1:]:
        index = int(part.rstrip("'"))
        if index >= HARDENED:
            raise MalformedPath(path=path)
        if part.endswith("'"):
            index += HARDENED
            data = b"\0" + secret
        else:
            data = PrivateKey(secret).public_key.format(compressed=True)
        added, chain = _halves(chain, data + index.to_bytes(4, "big"))
        total = (int.from_bytes(added, "big") + int.from_bytes(secret, "big")) % N
        secret = total.to_bytes(32, "big")
    return secret


def _halves(key: bytes, data: bytes) -> tuple[bytes, bytes]:
    found = hmac.digest(key, data, "sha512")
    return found[:32], found[32:]
