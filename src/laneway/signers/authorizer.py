"""The key that signs a rollup's packages for the authorizer that asks for it, held in this process.

| scheme | place |
|---|---|
| file | a file with 64 hex digits, the seed of an Ed25519 key, that only its owner may read |
| env | a variable with 64 hex digits |
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from laneway.engine.files import sync_folder
from laneway.jam.ed25519 import SEED_BYTES, HeldEd25519Key
from laneway.signers.place import PACKAGE_SCHEMES, split
from laneway.signers.secrets import parse_digits, read_key_file, read_variable


def open_package_key(uri: str, environ: Mapping[str, str] | None = None) -> HeldEd25519Key:
    """The key that `uri` names; SignerUnusable says what a person must fix."""
    environ = os.environ if environ is None else environ
    scheme, place = split(uri, PACKAGE_SCHEMES)
    source, content = read_variable(place, environ) if scheme == "env" else read_key_file(place)
    return HeldEd25519Key(parse_digits(source, content))


def make_package_key(path: str) -> None:
    """Write a new key into a file for its owner alone. It is whole and on the disk when this
    returns: a chain that lists it is of no use without it."""
    draft = f"{path}.part"
    with suppress(FileNotFoundError):
        os.unlink(draft)  # Of a start that was cut short; it may be open to others.
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(opened, "wb") as file:
        file.write(os.urandom(SEED_BYTES).hex().encode() + b"\n")
        file.flush()
        os.fsync(opened)
    os.replace(draft, path)
    sync_folder(Path(path).parent)
