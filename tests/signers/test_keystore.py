"""Keystores: ours are read by eth-account and its by us, and the standard's own examples open."""

import hmac
import json
import sys
from typing import Any, Literal

import pytest
from eth_account import Account

from laneway.evm.secp256k1 import N, address
from laneway.signers import keystore
from laneway.signers.keystore import address_in, decrypt, encrypt
from laneway.signers.place import SignerUnusable

SECRET = b"\x46" * 32
PASSWORD = "pässword".encode()

# https://ethereum.org/developers/docs/data-structures-and-encoding/web3-secret-storage
STANDARD_SECRET = "7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d"
STANDARD_PBKDF2 = {
    "crypto": {
        "cipher": "aes-128-ctr",
        "cipherparams": {"iv": "6087dab2f9fdbbfaddc31a909735c1e6"},
        "ciphertext": "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
        "kdf": "pbkdf2",
        "kdfparams": {
            "c": 262144,
            "dklen": 32,
            "prf": "hmac-sha256",
            "salt": "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
        },
        "mac": "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
    },
    "id": "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    "version": 3,
}
STANDARD_SCRYPT = {
    "crypto": {
        "cipher": "aes-128-ctr",
        "cipherparams": {"iv": "83dbcc02d8ccb40e466191a123791e0e"},
        "ciphertext": "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
        "kdf": "scrypt",
        "kdfparams": {
            "dklen": 32,
            "n": 262144,
            "p": 8,
            "r": 1,
            "salt": "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
        },
        "mac": "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
    },
    "id": "3198bc9c-6672-5ab3-d995-4942343ae5b6",
    "version": 3,
}


def ours(secret: bytes = SECRET) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(encrypt(secret, PASSWORD, scrypt_n=1024))
    return made


def opened(body: object, password: bytes = PASSWORD) -> bytes:
    return decrypt("keystore:k", json.dumps(body).encode(), password)


def test_what_we_write_eth_account_reads() -> None:
    for number in (1, 0xFF << 200, N - 1):
        secret = number.to_bytes(32, "big")
        body = ours(secret)
        assert bytes(Account.decrypt(body, PASSWORD.decode())) == secret
        assert body["address"] == address(secret).hex()
        assert opened(body) == secret


@pytest.mark.parametrize("kdf", ["scrypt", "pbkdf2"])
def test_what_eth_account_writes_we_read(
    kdf: Literal["scrypt", "pbkdf2"],
) -> None:
    body = Account.encrypt(SECRET, PASSWORD.decode(), kdf=kdf, iterations=1024)
    assert opened(body) == SECRET
    assert address_in("k", json.dumps(body).encode()) == address(SECRET)


@pytest.mark.slow
@pytest.mark.parametrize("body", [STANDARD_PBKDF2, STANDARD_SCRYPT], ids=["pbkdf2", "scrypt"])
def test_the_examples_of_the_standard_open(body: object) -> None:
    assert opened(body, b"testpassword").hex() == STANDARD_SECRET


def test_what_only_another_library_can_open_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "Crypto.Protocol", None)
    with pytest.raises(SignerUnusable, match="pip install pycryptodome"):
        opened(STANDARD_SCRYPT, b"testpassword")


@pytest.mark.slow
def test_the_default_is_as_strong_as_geths() -> None:
    params = json.loads(encrypt(SECRET, PASSWORD))["crypto"]["kdfparams"]
    assert (params["n"], params["r"], params["p"]) == (262_144, 8, 1)


def test_two_keystores_of_one_key_share_nothing() -> None:
    one, other = ours()["crypto"], ours()["crypto"]
    assert one["cipherparams"] != other["cipherparams"]
    assert one["kdfparams"]["salt"] != other["kdfparams"]["salt"]
    assert one["ciphertext"] != other["ciphertext"]


def test_old_spellings_open() -> None:
    body = ours()
    body["Crypto"] = body.pop("crypto")
    body["address"] = "0x" + body["address"].upper()
    assert opened(body) == SECRET
    del body["address"]
    assert opened(body) == SECRET
    assert address_in("k", json.dumps(body).encode()) is None


def test_a_key_whose_leading_zeros_were_dropped_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    short = b"\x05" * 30
    monkeypatch.setattr(keystore, "HeldEvmKey", lambda secret: type("K", (), {"address": b""}))
    body = json.loads(encrypt(short, PASSWORD, scrypt_n=1024))
    monkeypatch.undo()
    body["address"] = None
    assert opened(body) == b"\0\0" + short


def test_a_wrong_password_and_a_changed_byte_are_refused_alike() -> None:
    body = ours()
    with pytest.raises(SignerUnusable, match="the password is wrong, or the file was changed"):
        opened(body, b"password")
    first = body["crypto"]["ciphertext"][0]
    body["crypto"]["ciphertext"] = ("1" if first == "0" else "0") + body["crypto"]["ciphertext"][1:]
    with pytest.raises(SignerUnusable, match="MAC differs"):
        opened(body)


def test_the_macs_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return True

    monkeypatch.setattr(hmac, "compare_digest", compare)
    assert opened(ours()) == SECRET
    assert len(compared) == 1


def test_a_keystore_that_names_another_account_is_refused() -> None:
    body = ours()
    body["address"] = "11" * 20
    with pytest.raises(SignerUnusable, match="not that of the address it names"):
        opened(body)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("version", 1, "version 1"),
        ("version", "3", "not a keystore"),
        ("crypto", None, "without its part"),
        ("crypto.cipher", "aes-256-cbc", "cipher"),
        ("crypto.cipherparams.iv", "00", "iv does not have 16"),
        ("crypto.cipherparams.iv", "zz", "not hexadecimal"),
        ("crypto.ciphertext", "", "ciphertext"),
        ("crypto.ciphertext", "00" * 33, "ciphertext"),
        ("crypto.mac", "xyz", "mac is not hexadecimal"),
        ("crypto.kdf", "argon2", "neither scrypt nor pbkdf2"),
        ("crypto.kdfparams", {}, "kdfparams are not those of scrypt"),
        ("crypto.kdfparams.dklen", 16, "impossible"),
        ("crypto.kdfparams.n", 1000, "impossible"),
        ("crypto.kdfparams.n", 1, "impossible"),
        ("crypto.kdfparams.r", 0, "impossible"),
        ("crypto.kdfparams.p", 0, "impossible"),
        ("crypto.kdfparams.n", 1 << 40, "more memory or time"),
        ("crypto.kdfparams.p", 1 << 30, "more memory or time"),
        ("crypto.kdfparams.salt", "?", "salt is not hexadecimal"),
    ],
)
def test_a_keystore_that_makes_no_sense_is_refused_in_words(
    path: str, value: object, words: str
) -> None:
    body = ours()
    *parents, last = path.split(".")
    part = body
    for name in parents:
        part = part[name]
    part[last] = value
    with pytest.raises(SignerUnusable, match=words) as caught:
        opened(body)
    assert str(caught.value).startswith("keystore:k: ")


@pytest.mark.parametrize(
    ("name", "value"),
    [("dklen", 64), ("prf", "hmac-sha512"), ("c", 0), ("c", 1 << 40), ("salt", "?")],
)
def test_impossible_pbkdf2_is_refused(name: str, value: object) -> None:
    body = json.loads(json.dumps(STANDARD_PBKDF2))
    body["crypto"]["kdfparams"][name] = value
    with pytest.raises(SignerUnusable, match=r"pbkdf2|hexadecimal"):
        opened(body)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", SECRET.hex().encode(), b"[" * 9_999])
def test_a_file_that_is_no_keystore_is_not_quoted(content: bytes) -> None:
    with pytest.raises(SignerUnusable) as opening:
        decrypt("k", content, PASSWORD)
    with pytest.raises(SignerUnusable) as naming:
        address_in("k", content)
    for caught in (opening, naming):
        assert str(caught.value) == "k: it is not a keystore (Web3 secret storage, JSON)"
        assert caught.value.__cause__ is None


def test_what_is_no_key_of_the_curve_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keystore, "HeldEvmKey", lambda secret: type("K", (), {"address": b""}))
    content = encrypt(bytes(32), PASSWORD, scrypt_n=1024)
    monkeypatch.undo()
    with pytest.raises(SignerUnusable, match="no key of the curve"):
        decrypt("k", content, PASSWORD)
