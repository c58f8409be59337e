"""From a signer's address in a configuration to the signer: SCHEME:PLACE.

| scheme | place |
|---|---|
| keystore | a file of Web3 secret storage 3; its password comes from a file or the environment |
| file | a file with 64 hex digits that only its owner may read |
| env | a variable with 64 hex digits |
| web3signer | http://HOST:PORT#ADDRESS |
| aws-kms | the id, alias or ARN of a key |

A key itself is never part of it.
"""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from laneway.ports import Signer
from laneway.signers.keystore import decrypt
from laneway.signers.kms import Kms, open_kms
from laneway.signers.limits import KEYSTORE_BYTES_MAX
from laneway.signers.local import LocalSigner
from laneway.signers.place import HELD, SignerUnusable, shown_signer, split
from laneway.signers.secrets import (
    PASSWORD_FILE_VARIABLE,
    PASSWORD_VARIABLE,
    find_password,
    parse_secret,
    read_key_file,
    read_limited,
    read_variable,
)
from laneway.signers.web3signer import Web3Signer


async def open_signer(
    uri: str,
    *,
    password_file: str | None = None,
    environ: Mapping[str, str] | None = None,
    kms: Kms | None = None,
) -> Signer:
    """Open the signer that `uri` names. SignerUnusable says what a person must fix;
    SignerUnreachable, from a key store alone, may be tried again.

    A keystore takes about a second, on a thread of its own.
    """
    environ = os.environ if environ is None else environ
    scheme, place = split(uri)
    if scheme in HELD:
        return LocalSigner(*await open_secret(uri, password_file=password_file, environ=environ))
    if scheme == "web3signer":
        url, _, holder = place.partition("#")
        return Web3Signer(url, holder)
    if kms is None:
        problem = "the program must bring the calls to AWS: open_signer(…, kms=…)"
        raise SignerUnusable(shown_signer(uri), problem)
    return await open_kms(place, kms)


async def open_secret(
    uri: str, *, password_file: str | None, environ: Mapping[str, str]
) -> tuple[str, bytes]:
    """A name that can be shown, and the secret that is held in this process."""
    scheme, place = split(uri)
    if scheme == "env":
        return from_environment(place, environ)
    if scheme == "file":
        return await asyncio.to_thread(from_file, place)
    if scheme == "keystore":
        return await asyncio.to_thread(from_keystore, place, password_file, environ)
    raise SignerUnusable(scheme, f"its key is not held here; there is {', '.join(HELD)}")


def from_environment(name: str, environ: Mapping[str, str]) -> tuple[str, bytes]:
    source, content = read_variable(name, environ)
    return source, parse_secret(source, content)


def from_file(place: str) -> tuple[str, bytes]:
    source, content = read_key_file(place)
    return source, parse_secret(source, content)


def from_keystore(
    place: str, password_file: str | None, environ: Mapping[str, str]
) -> tuple[str, bytes]:
    name = f"keystore:{place}"
    content = read_limited(str(Path(place).expanduser()), KEYSTORE_BYTES_MAX, private=False)
    password = find_password(password_file, environ)
    if password is None:
        problem = (
            f"no password; name a file that holds it in {PASSWORD_FILE_VARIABLE}, "
            f"or set {PASSWORD_VARIABLE}"
        )
        raise SignerUnusable(name, problem)
    return name, decrypt(name, content, password)
