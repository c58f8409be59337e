"""Secrets as people hand them over: files that nobody else may read, variables, hex keys.

What is wrong with one is reported without showing any of it, so foreign errors end here.
"""

import os
import re
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path

from laneway.signers.limits import SECRET_BYTES_MAX
from laneway.signers.place import SignerUnusable, shown_place

PASSWORD_FILE_VARIABLE = "LANEWAY_PASSWORD_FILE"
PASSWORD_VARIABLE = "LANEWAY_PASSWORD"


def read_limited(path: str, bytes_max: int, *, private: bool) -> bytes:
    """A file's bytes; with `private`, only if its owner alone may read it."""
    place = shown_place(path)
    try:
        # Nobody writes into a pipe given by mistake: opening one must not wait for ever.
        opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        problem = error.strerror if isinstance(error, OSError) else "its name has a null byte"
        raise SignerUnusable(place, f"cannot be read: {problem}") from None
    try:
        content = read_open(opened, place, bytes_max, private=private)
    except OSError as error:
        raise SignerUnusable(place, f"cannot be read: {error.strerror}") from None
    finally:
        os.close(opened)
    if len(content) > bytes_max:
        raise SignerUnusable(place, f"it has more than {bytes_max} bytes; is it the right file?")
    return content


def read_open(opened: int, place: str, bytes_max: int, *, private: bool) -> bytes:
    """Its mode is asked of the open file, so that nobody can change it in between."""
    mode = os.fstat(opened).st_mode
    if not stat.S_ISREG(mode):
        raise SignerUnusable(place, "it is not a file")
    if private and mode & 0o077:
        raise SignerUnusable(
            place,
            f"others may read or write it (mode {stat.S_IMODE(mode):04o}); "
            f"run: chmod 600 {shlex.quote(place)}",
        )
    # A regular file gives all it has, up to this many bytes.
    return os.read(opened, bytes_max + 1)


def read_secret(path: str) -> bytes:
    return read_limited(path, SECRET_BYTES_MAX, private=True)


def read_variable(name: str, environ: Mapping[str, str]) -> tuple[str, bytes]:
    """What a variable of the environment is called in errors, and its content."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise SignerUnusable("env", "after the colon belongs the name of a variable")
    value = environ.get(name)
    if value is None:
        raise SignerUnusable(f"env:{name}", "there is no such variable")
    return f"env:{name}", os.fsencode(value)


def read_key_file(place: str) -> tuple[str, bytes]:
    """What a file with a key is called in errors, and its content."""
    return f"file:{place}", read_secret(str(Path(place).expanduser()))


def parse_digits(source: str, content: bytes) -> bytes:
    """The 32 bytes of a key of any kind, written as 64 hex digits, with or without 0x."""
    found = re.fullmatch(rb"\s*(?:0x)?([0-9a-fA-F]{64})\s*", content)
    if found is None:
        raise SignerUnusable(source, "it does not hold a key: 64 hex digits, with or without 0x")
    return bytes.fromhex(found[1].decode())


def parse_secret(source: str, content: bytes) -> bytes:
    """The same of a key of the curve that EVM and Cosmos accounts have."""
    # Imported late: other kinds of keys do without that curve's library.
    from laneway.evm.secp256k1 import HeldEvmKey

    secret = parse_digits(source, content)
    try:
        HeldEvmKey(secret)
    except ValueError:
        raise SignerUnusable(source, "its number is no key of the curve: 0, or too large") from None
    return secret


def read_password(path: str) -> bytes:
    """One line; its end is no part of the password (as geth and Foundry read it)."""
    content = read_secret(path)
    password = content.removesuffix(b"\n").removesuffix(b"\r")
    if b"\n" in password:
        raise SignerUnusable(shown_place(path), "it has more than one line; a password has one")
    return password


def find_password(file: str | None, environ: Mapping[str, str]) -> bytes | None:
    """From the file that was named, else the environment's file, else the environment itself."""
    named = file or environ.get(PASSWORD_FILE_VARIABLE)
    if named:
        return read_password(named)
    given = environ.get(PASSWORD_VARIABLE)
    return None if given is None else os.fsencode(given)
