"""API keys: a file with their hashes, and how a new one is made."""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from laneway.kinds.config import ConfigError
from laneway.server.access import SCOPES, Key, digest
from laneway.wiring.config import toml_value
from laneway.wiring.limits import CONFIG_BYTES_MAX

SECRET_BYTES = 32


class KeysFile(Struct, frozen=True, forbid_unknown_fields=True):
    keys: tuple[Key, ...]


def read_keys(path: str) -> tuple[Key, ...]:
    try:
        with Path(path).open("rb") as opened:
            raw = opened.read(CONFIG_BYTES_MAX)
        keys = msgspec.toml.decode(raw, type=KeysFile).keys
    except OSError as error:
        problem = f"cannot be read: {error.strerror} - at `$.server.keys_file`"
        raise ConfigError(path, problem) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ConfigError(path, str(error)) from error
    if not keys:
        raise ConfigError(path, "it has no keys; 'laneway apikey' makes one")
    if len({key.id for key in keys}) < len(keys):
        raise ConfigError(path, "two keys have the same id")
    return keys


def new_key(name: str, **limits: object) -> tuple[str, Key]:
    """A token for its owner, and what is stored of it; `limits` are fields of Key."""
    token = f"lw_{name}_{os.urandom(SECRET_BYTES).hex()}"
    return token, msgspec.convert({"id": name, "sha256": digest(token), **limits}, Key)


def as_toml(key: Key) -> str:
    scopes = ", ".join(f'"{scope}"' for scope in SCOPES if scope in key.scopes)
    lanes = ", ".join(toml_value(lane) for lane in key.lanes)
    text = (
        f'[[keys]]\nid = "{key.id}"\nsha256 = "{key.sha256}"\n'
        f"scopes = [{scopes}]\nlanes = [{lanes}]\n"
    )
    if key.expires is not None:
        text += f"expires = {key.expires.isoformat()}\n"
    if key.requests_per_minute is not None:
        text += f"requests_per_minute = {key.requests_per_minute}\n"
    return text
