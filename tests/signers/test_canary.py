"""A known key is used by every kind of signer, by its own words and by commands, well and badly;
then everything that was said or written is searched for it."""

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from tests.canary import PASSWORD, SECRET, Witness
from tests.signers.stage import FakeKms, FakeWeb3Signer, Mood, web3signer

from laneway.cli.app import run
from laneway.core.errors import LanewayError
from laneway.evm.secp256k1 import address
from laneway.ports import Signer
from laneway.signers.addresses import checksummed
from laneway.signers.folder import keep
from laneway.signers.opening import open_signer
from laneway.signers.place import SignerUnusable

ACCOUNT = checksummed(address(SECRET))
PAYLOAD = b"\x02 a transaction"


def private(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


class House:
    """Where the secret stands: the files it was given in, a keystore of it, a remote signer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.key = private(folder / "key", SECRET.hex().encode())
        self.open_key = private(folder / "open-key", SECRET.hex().encode(), 0o644)
        self.broken = private(folder / "broken", SECRET.hex().encode() + b"0")
        self.password = private(folder / "password", PASSWORD + b"\n")
        self.wrong = private(folder / "wrong", PASSWORD[:-1])
        self.store = keep(folder / "store", SECRET, PASSWORD, now_ns=1, scrypt_n=1024).path
        self.given = [self.key, self.open_key, self.broken, self.password, self.wrong]
        self.environ = {
            "HOT": SECRET.hex(),
            "BAD": f"{SECRET.hex()}!",
            "LANEWAY_PASSWORD_FILE": str(self.password),
        }

    def well(self, url: str) -> list[str]:
        return [
            f"keystore:{self.store}", f"file:{self.key}", "env:HOT", f"web3signer:{url}#{ACCOUNT}",
        ]  # fmt: skip

    def badly(self) -> list[str]:
        return [
            f"file:{self.open_key}", f"file:{self.broken}", f"file:{self.store}", "env:BAD",
            f"keystore:{self.key}", f"keystore:{self.folder}", f"env:{SECRET.hex()}",
            SECRET.hex(), f"0x{SECRET.hex()}", f"raw:{SECRET.hex()}", f"file:{SECRET.hex()}",
            f"web3signer:http://127.0.0.1:1#{SECRET.hex()}", f"gcp-kms:{SECRET.hex()}",
        ]  # fmt: skip


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    house = House(tmp_path)
    for name, value in house.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))
    return house


async def shown(witness: Witness, signer: Signer) -> None:
    """All that a signer can be made to say of itself."""
    assert signer.address == address(SECRET)
    witness.hears("signature", await signer.sign(PAYLOAD))
    witness.hears("signer", signer)
    witness.hears("its fields", vars(signer))
    with pytest.raises(TypeError) as caught:
        msgspec.json.encode(signer)
    witness.hears("encoded", caught.value)


async def fails(witness: Witness, signer: Signer) -> None:
    with pytest.raises(LanewayError) as caught:
        await signer.sign(PAYLOAD)
    witness.hears("error", caught.value)


def test_no_signer_lets_its_key_be_seen(house: House) -> None:
    witness = Witness(SECRET, PASSWORD)

    async def main() -> None:
        async with web3signer(SECRET) as fake:
            for uri in house.well(fake.url):
                signer = await open_signer(uri)
                await shown(witness, signer)
                await signer.close()
        kms = FakeKms(SECRET, s="high")
        stored = await open_signer("aws-kms:alias/hot", kms=kms)
        await shown(witness, stored)
        for answer in (b"", SECRET):
            kms.answer = answer
            await fails(witness, stored)

    with witness.logs():
        asyncio.run(main(), debug=True)
    witness.reads(house.folder, besides=house.given)
    witness.is_content()


def test_no_error_of_an_unusable_signer_shows_it(house: House) -> None:
    witness = Witness(SECRET, PASSWORD)

    def opened(uri: str, **given: str) -> None:
        with pytest.raises(SignerUnusable) as caught:
            asyncio.run(open_signer(uri, **given))  # type: ignore[arg-type]
        witness.hears(uri.partition(":")[0], caught.value)

    with witness.logs():
        for uri in house.badly():
            opened(uri)
        opened(f"keystore:{house.store}", password_file=str(house.wrong))
        opened(f"keystore:{house.store}", password_file=str(house.folder))
        body = json.loads(house.store.read_text())
        for part in ("address", "crypto", "version"):
            spoilt = {**body, part: SECRET.hex()}
            house.given.append(
                private(house.folder / f"spoilt-{part}", json.dumps(spoilt).encode())
            )
            opened(f"keystore:{house.given[-1]}")
    witness.reads(house.folder, besides=house.given)
    witness.is_content()


@pytest.mark.parametrize("status", [None, 302, 400, 401, 404, 429, 500])
def test_a_remote_signer_that_says_too_much_is_not_repeated(
    house: House, status: int | None
) -> None:
    witness = Witness(SECRET, PASSWORD)
    moods: tuple[Mood, ...] = ("wrong key", "garbage", "reset")

    async def main() -> None:
        async with web3signer(SECRET) as fake:
            fake.status = status
            signer = await open_signer(
                f"web3signer:{fake.url.replace('//', f'//ann:{PASSWORD.decode()}@')}#{ACCOUNT}"
            )
            for mood in moods:
                fake.mood = mood
                await fails(witness, signer)
            fake.keys = [SECRET.hex()]
            await fails(witness, signer)
            witness.hears("signer", signer)
            await signer.close()

    with witness.logs():
        asyncio.run(main(), debug=True)
    witness.is_content()


@contextmanager
def beside() -> Iterator[FakeWeb3Signer]:
    """A remote signer on a thread of its own, for commands that run a loop themselves."""
    told: list[FakeWeb3Signer] = []
    ready, over = threading.Event(), threading.Event()

    async def main() -> None:
        async with web3signer(SECRET) as fake:
            told.append(fake)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.01)

    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield told[0]
    finally:
        over.set()
        thread.join(10)


def test_no_command_lets_it_be_seen(
    house: House, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    witness = Witness(SECRET, PASSWORD)
    codes: list[int] = []

    def typed(*words: str, stdin: bytes = b"") -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        codes.append(run(["key", *words]))
        said = capfd.readouterr()
        witness.hears(f"stdout of {words[0]}", said.out)
        witness.hears(f"stderr of {words[0]}", said.err)

    quick = ("--dir", str(house.folder / "made"), "--scrypt-n", "1024")
    with witness.logs(), beside() as fake:
        for uri in house.well(fake.url):
            typed("check", uri, "--json")
        typed("import", *quick, stdin=SECRET.hex().encode())
        typed("list", "--dir", str(house.folder / "made"))
        assert set(codes) == {0}
        codes.clear()
        for uri in house.badly():
            typed("check", uri)
        typed("import", *quick, "--key-file", str(house.key))
        typed("import", *quick, "--key-file", str(house.open_key))
        typed("import", *quick, "--key-file", SECRET.hex())
        typed("import", *quick, stdin=SECRET.hex().encode() * 2)
        typed("import", *quick, stdin=SECRET)
        typed("import", SECRET.hex())
        typed(SECRET.hex().upper())
        typed("check", f"keystore:{house.store}", "--password-file", str(house.wrong))
        assert set(codes) == {2}
        fake.status = 500
        typed("check", f"web3signer:{fake.url}#{ACCOUNT}")
        assert codes[-1] == 75
    witness.reads(house.folder, besides=house.given)
    witness.is_content()


@pytest.mark.slow
def test_no_process_of_ours_lets_it_be_seen(house: House) -> None:
    """The whole program, as loud as Python can be, with an interpreter's own traces."""
    witness = Witness(SECRET, PASSWORD)
    environ = {**os.environ, "PYTHONDEVMODE": "1", "PYTHONASYNCIODEBUG": "1"}
    with beside() as fake:
        for uri in [*house.well(fake.url), *house.badly()]:
            ran = subprocess.run(
                [sys.executable, "-m", "laneway", "key", "check", uri],
                cwd=house.folder, env=environ, capture_output=True, timeout=60, check=False,
            )  # fmt: skip
            assert ran.returncode in (0, 2), ran.stderr
            witness.hears("stdout", ran.stdout)
            witness.hears("stderr", ran.stderr)
    witness.reads(house.folder, besides=house.given)
    witness.is_content()
