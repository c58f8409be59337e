"""Web3 secret storage, version 3: one key under a password, as geth and Foundry keep it.

Bytes in, bytes out: no file is opened here (folder.py does that).
"""

import hashlib
import hmac
import os
import uuid
from collections.abc import Callable

import msgspec
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from msgspec import Struct, field, json

from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.signers.addresses import parse_address
from laneway.signers.limits import (
    PBKDF2_ROUNDS_MAX,
    SCRYPT_MEMORY_MAX,
    SCRYPT_N,
    SCRYPT_P,
    SCRYPT_R,
    SCRYPT_WORK_MAX,
)
from laneway.signers.place import SignerUnusable

VERSION = 3
CIPHER = "aes-128-ctr"
DERIVED_BYTES = 32
"""The first half encrypts, the second one proves the password."""


class CipherParams(Struct, frozen=True):
    iv: str


class Scrypt(Struct, frozen=True):
    n: int
    r: int
    p: int
    salt: str
    dklen: int = DERIVED_BYTES


class Pbkdf2(Struct, frozen=True):
    c: int
    prf: str
    salt: str
    dklen: int = DERIVED_BYTES


class Crypto(Struct, frozen=True):
    cipher: str
    cipherparams: CipherParams
    ciphertext: str
    kdf: str
    kdfparams: msgspec.Raw
    mac: str


class Keystore(Struct, frozen=True):
    """Other fields than these are others' business."""

    version: int
    crypto: Crypto | None = None
    crypto_of_old: Crypto | None = field(name="Crypto", default=None)
    """Early geths wrote a capital."""
    address: str | None = None
    """Foundry leaves it out."""


class Unfit(Exception):
    """What is wrong with a keystore, in our words. Never leaves this module."""


def encrypt(secret: bytes, password: bytes, *, scrypt_n: int = SCRYPT_N) -> bytes:
    """A new keystore of this key, under scrypt. Takes about a second at the default."""
    salt, iv = os.urandom(32), os.urandom(16)
    params = Scrypt(n=scrypt_n, r=SCRYPT_R, p=SCRYPT_P, salt=salt.hex())
    derived = derive_scrypt(params, password)
    ciphertext = aes_ctr(derived[:16], iv, secret)
    body = {
        "address": HeldEvmKey(secret).address.hex(),
        "crypto": {
            "cipher": CIPHER,
            "cipherparams": {"iv": iv.hex()},
            "ciphertext": ciphertext.hex(),
            "kdf": "scrypt",
            "kdfparams": params,
            "mac": keccak(derived[16:] + ciphertext).hex(),
        },
        "id": str(uuid.uuid4()),
        "version": VERSION,
    }
    return json.encode(body)


def decrypt(source: str, content: bytes, password: bytes) -> bytes:
    """The key of a keystore. Takes as long as its author wanted a guess to take."""
    try:
        keystore, crypto = parse(content)
        secret = open_with(crypto, password)
        held = HeldEvmKey(secret)
    except Unfit as error:
        raise SignerUnusable(source, str(error)) from None
    except ValueError:
        raise SignerUnusable(source, "what it holds is no key of the curve") from None
    if keystore.address is not None and parse_address(keystore.address) != held.address:
        raise SignerUnusable(source, "its key is not that of the address it names")
    return secret


def address_in(source: str, content: bytes) -> bytes | None:
    """The account that a keystore names, without a password; None where it names none."""
    try:
        keystore, _ = parse(content)
    except Unfit as error:
        raise SignerUnusable(source, str(error)) from None
    return None if keystore.address is None else parse_address(keystore.address)


def parse(content: bytes) -> tuple[Keystore, Crypto]:
    try:
        keystore = json.decode(content, type=Keystore)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # The parser's message may quote the file, which may be a bare key given by mistake.
        raise Unfit("it is not a keystore (Web3 secret storage, JSON)") from None
    if keystore.version != VERSION:
        raise Unfit(f"it is a keystore of version {keystore.version}, not 3")
    crypto = keystore.crypto or keystore.crypto_of_old
    if crypto is None:
        raise Unfit("it is a keystore without its part `crypto`")
    return keystore, crypto


def open_with(crypto: Crypto, password: bytes) -> bytes:
    if crypto.cipher != CIPHER:
        raise Unfit(f"its cipher is not {CIPHER}")
    ciphertext = unhexed("ciphertext", crypto.ciphertext)
    iv = unhexed("cipherparams.iv", crypto.cipherparams.iv)
    if not 0 < len(ciphertext) <= 32:
        raise Unfit("its ciphertext is not that of a key")
    if len(iv) != 16:
        raise Unfit("its iv does not have 16 bytes")
    derived = derive(crypto, password)
    proof = keccak(derived[16:] + ciphertext)
    if not hmac.compare_digest(proof, unhexed("mac", crypto.mac)):
        raise Unfit("the password is wrong, or the file was changed: its MAC differs")
    # Some wallets of old dropped a key's leading zeros.
    return aes_ctr(derived[:16], iv, ciphertext).rjust(32, b"\0")


def derive(crypto: Crypto, password: bytes) -> bytes:
    try:
        if crypto.kdf == "scrypt":
            return derive_scrypt(json.decode(crypto.kdfparams, type=Scrypt), password)
        if crypto.kdf == "pbkdf2":
            return derive_pbkdf2(json.decode(crypto.kdfparams, type=Pbkdf2), password)
    except msgspec.DecodeError:
        raise Unfit(f"its kdfparams are not those of {crypto.kdf}") from None
    raise Unfit("its kdf is neither scrypt nor pbkdf2")


def derive_scrypt(params: Scrypt, password: bytes) -> bytes:
    n, r, p = params.n, params.r, params.p
    if params.dklen != DERIVED_BYTES or n < 2 or n & (n - 1) or r < 1 or p < 1:
        raise Unfit("its scrypt parameters are impossible")
    memory = 128 * r * (n + p + 2)
    if memory > SCRYPT_MEMORY_MAX + (1 << 20) or n * r * p > SCRYPT_WORK_MAX:
        raise Unfit("its scrypt parameters ask for more memory or time than anybody's should")
    salt = unhexed("salt", params.salt)
    if n.bit_length() > 16 * r:
        return derive_narrow_scrypt(params, salt, password)
    return hashlib.scrypt(
        password, salt=salt, n=n, r=r, p=p, maxmem=memory + (1 << 20), dklen=DERIVED_BYTES
    )


def derive_narrow_scrypt(params: Scrypt, salt: bytes, password: bytes) -> bytes:
    """What OpenSSL refuses (RFC 7914 wants n below 2^16r), but the standard's own example and some
    early wallets have: r=1, p=8. Too rare to depend on a library for."""
    try:
        from Crypto.Protocol import KDF
    except ModuleNotFoundError:
        problem = "its scrypt parameters need one more package; run: pip install pycryptodome"
        raise Unfit(problem) from None
    # It takes bytes too, which its types do not know.
    scrypt: Callable[..., object] = KDF.scrypt
    derived = scrypt(password, salt, DERIVED_BYTES, N=params.n, r=params.r, p=params.p)
    assert isinstance(derived, bytes)
    return derived


def derive_pbkdf2(params: Pbkdf2, password: bytes) -> bytes:
    if params.dklen != DERIVED_BYTES or params.prf != "hmac-sha256":
        raise Unfit("its pbkdf2 parameters are not those of version 3")
    if not 0 < params.c <= PBKDF2_ROUNDS_MAX:
        raise Unfit("its pbkdf2 rounds are impossible, or more than anybody's should be")
    salt = unhexed("salt", params.salt)
    return hashlib.pbkdf2_hmac("sha256", password, salt, params.c, DERIVED_BYTES)


def unhexed(name: str, text: str) -> bytes:
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise Unfit(f"its {name} is not hexadecimal") from None


def aes_ctr(key: bytes, iv: bytes, content: bytes) -> bytes:
    """Its own inverse."""
    stream = Cipher(AES(key), CTR(iv)).encryptor()
    return stream.update(content) + stream.finalize()
