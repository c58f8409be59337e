"""A directory of keystores, with geth's file names: either program reads what the other wrote."""

import os
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from laneway.engine.files import sync_folder
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.signers.addresses import checksummed
from laneway.signers.keystore import address_in, encrypt
from laneway.signers.limits import KEYSTORE_BYTES_MAX, KEYSTORES_MAX, SCRYPT_N
from laneway.signers.place import SignerUnusable
from laneway.signers.secrets import read_limited


class KeptKeystore(Struct, frozen=True):
    """One keystore of a directory."""

    address: bytes | None
    """None where the file does not say; its password would."""
    path: Path


def default_folder() -> Path:
    return Path.home() / ".laneway" / "keystore"


def keep(
    folder: Path, secret: bytes, password: bytes, *, now_ns: int, scrypt_n: int = SCRYPT_N
) -> KeptKeystore:
    """Write a keystore of this key. It is whole and on the disk when this returns: anyone who sees
    an address may pay to it at once."""
    address = HeldEvmKey(secret).address
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for kept in listed(folder):
        if kept.address == address:
            raise SignerUnusable(str(kept.path), f"it holds {checksummed(address)} already")
    content = encrypt(secret, password, scrypt_n=scrypt_n)
    path = folder / file_name(address, now_ns)
    draft = folder / f".{path.name}.tmp"
    write_new(draft, content)
    draft.rename(path)
    sync_folder(folder)
    return KeptKeystore(address, path)


def listed(folder: Path) -> list[KeptKeystore]:
    """The keystores of a directory by name; files that are none are passed over."""
    found: list[KeptKeystore] = []
    if not folder.is_dir():
        return found
    for path in sorted(folder.iterdir())[:KEYSTORES_MAX]:
        if path.name.startswith(".") or not path.is_file():
            continue
        try:
            content = read_limited(str(path), KEYSTORE_BYTES_MAX, private=False)
            found.append(KeptKeystore(address_in(str(path), content), path))
        except SignerUnusable:
            continue
    return found


def file_name(address: bytes, now_ns: int) -> str:
    """As geth has it: UTC--2016-03-22T12-57-55.920751759Z--ADDRESS."""
    seconds, nanos = divmod(now_ns, 1_000_000_000)
    moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H-%M-%S")
    return f"UTC--{moment}.{nanos:09d}Z--{address.hex()}"


def write_new(path: Path, content: bytes) -> None:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(opened, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(opened)
