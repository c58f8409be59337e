"""From words in a configuration to a signer, or to what a person must mend."""

import asyncio
from pathlib import Path

import pytest
from tests.signers.stage import FakeKms, web3signer

from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import address, recover, sign
from laneway.ports import PromptSigner, Signer
from laneway.signers.keystore import encrypt
from laneway.signers.opening import open_signer
from laneway.signers.place import NOT_BUILT, SignerUnusable

SECRET = b"\x46" * 32
HEX = SECRET.hex()
PAYLOAD = b"\x02 a transaction"
ACCOUNT = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"


def opened(uri: str, **given: object) -> Signer:
    return asyncio.run(open_signer(uri, **{"environ": {}, **given}))  # type: ignore[arg-type]


def private(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    path.chmod(0o600)
    return path


def test_local_signers_answer_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    private(tmp_path / "key", HEX.encode())
    password = private(tmp_path / "pw", b"pw\n")
    (tmp_path / "store").write_bytes(encrypt(SECRET, b"pw", scrypt_n=1024))
    for uri in ("env:HOT", f"file:{tmp_path}/key", "file:~/key", "keystore:~/store"):
        signer = opened(uri, environ={"HOT": f"0x{HEX}"}, password_file=str(password))
        assert isinstance(signer, PromptSigner)
        assert signer.address == address(SECRET)
        assert signer.sign_now(PAYLOAD) == sign(keccak(PAYLOAD), SECRET)
        assert asyncio.run(signer.sign(PAYLOAD)) == signer.sign_now(PAYLOAD)
        assert repr(signer) == f"LocalSigner({uri}, {ACCOUNT})"
        asyncio.run(signer.close())


def test_remote_signers_are_opened_by_their_names() -> None:
    async def main() -> None:
        async with web3signer(SECRET) as fake:
            there = await open_signer(f"web3signer:{fake.url}#{ACCOUNT}")
            signed = await there.sign(PAYLOAD)
            assert recover(keccak(PAYLOAD), signed) == there.address == address(SECRET)
            await there.close()
        stored = await open_signer("aws-kms:alias/hot", kms=FakeKms(SECRET))
        signed = await stored.sign(PAYLOAD)
        assert recover(keccak(PAYLOAD), signed) == stored.address == address(SECRET)

    asyncio.run(main())


@pytest.mark.parametrize("scheme", NOT_BUILT)
def test_what_is_not_built_says_so(scheme: str) -> None:
    with pytest.raises(SignerUnusable, match=f"{scheme}: not built yet; there is keystore, file"):
        opened(f"{scheme}:something")


@pytest.mark.parametrize("uri", ["", "hot", "ledger:0", "KEYSTORE:x", "http://127.0.0.1"])
def test_an_unknown_scheme_lists_the_known_ones(uri: str) -> None:
    with pytest.raises(SignerUnusable, match="one of keystore:, file:, env:, web3signer:, aws"):
        opened(uri)


@pytest.mark.parametrize("uri", [HEX, f"0x{HEX}", f"env:{HEX}", f"file:0x{HEX}", f"raw:{HEX}"])
def test_a_key_in_the_place_of_a_name_is_not_repeated(uri: str) -> None:
    with pytest.raises(SignerUnusable, match="looks like a key itself") as caught:
        opened(uri)
    assert HEX not in str(caught.value)


@pytest.mark.parametrize(
    ("uri", "words"),
    [
        ("env:", "belongs after the colon"),
        ("env:A-B", "the name of a variable"),
        ("env:COLD", "env:COLD: there is no such variable"),
        ("env:EMPTY", "64 hex digits"),
        ("file:/nowhere/key", "No such file"),
        ("keystore:/nowhere/key", "No such file"),
        ("web3signer:http://127.0.0.1:9000", "after # belongs"),
        ("aws-kms:alias/hot", "kms="),
    ],
)
def test_what_cannot_be_opened_says_why(uri: str, words: str) -> None:
    with pytest.raises(SignerUnusable, match=words):
        opened(uri, environ={"EMPTY": ""})


def test_a_keystore_without_a_password_says_where_to_put_it(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(encrypt(SECRET, b"pw", scrypt_n=1024))
    uri = f"keystore:{tmp_path}/store"
    with pytest.raises(SignerUnusable, match="LANEWAY_PASSWORD_FILE, or set LANEWAY_PASSWORD"):
        opened(uri)
    assert opened(uri, environ={"LANEWAY_PASSWORD": "pw"}).address == address(SECRET)


def test_the_environment_is_the_process_own_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOT", HEX)
    assert asyncio.run(open_signer("env:HOT")).address == address(SECRET)
