"""Signers of Cosmos accounts: keys held in this process, from the places that EVM keys come from,
or derived from a mnemonic.

| scheme | place |
|---|---|
| keystore, file, env | as for EVM accounts: the same secret is another account there |
| mnemonic | a file of 12 to 24 words that only its owner may read, and perhaps #PATH (BIP-32) |
"""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from laneway.cosmos.errors import InvalidCosmos
from laneway.cosmos.keys import COSMOS_PATH, HeldCosmosKey, derived, seed_of
from laneway.signers.opening import open_secret
from laneway.signers.place import SignerUnusable, is_like_a_key
from laneway.signers.secrets import read_secret

MNEMONIC = "mnemonic:"


class LocalCosmosSigner:
    def __init__(self, name: str, secret: bytes) -> None:
        self.name = name
        self._secret = secret
        self._key = HeldCosmosKey(secret)
        self.public_key = self._key.public_key

    def worker(self, number: int) -> "LocalCosmosSigner":
        """The key of a worker account, derived from this one: it can be made again at any time."""
        secret = derived(self._secret, f"m/44'/118'/0'/0/{number}")
        return LocalCosmosSigner(f"{self.name}/{number}", secret)

    def sign_now(self, payload: bytes) -> bytes:
        return self._key.sign(payload)

    async def sign(self, payload: bytes) -> bytes:
        return self.sign_now(payload)

    async def close(self) -> None:
        """Nothing is open."""

    def __repr__(self) -> str:
        return f"LocalCosmosSigner({self.name}, {self.public_key.hex()})"


async def open_cosmos_signer(
    uri: str, *, password_file: str | None = None, environ: Mapping[str, str] | None = None
) -> LocalCosmosSigner:
    """Open the signer that `uri` names; SignerUnusable says what a person must fix."""
    if uri.startswith(MNEMONIC):
        return await asyncio.to_thread(from_mnemonic, uri.removeprefix(MNEMONIC))
    environ = os.environ if environ is None else environ
    name, secret = await open_secret(uri, password_file=password_file, environ=environ)
    return LocalCosmosSigner(name, secret)


def from_mnemonic(place: str) -> LocalCosmosSigner:
    file, _, path = place.partition("#")
    if not file or is_like_a_key(file) or len(file.split()) > 1:
        # Not shown: it may be the words themselves.
        problem = "after the colon belongs the name of a file that holds the words"
        raise SignerUnusable("mnemonic", problem)
    content = read_secret(str(Path(file).expanduser()))
    name = f"{MNEMONIC}{file}"
    try:
        return LocalCosmosSigner(name, derived(seed_of(content.decode()), path or COSMOS_PATH))
    except InvalidCosmos as error:
        raise SignerUnusable(name, str(error)) from None
    except ValueError:
        raise SignerUnusable(name, "it does not hold words") from None
