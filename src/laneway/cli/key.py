"""`laneway key`: keystores, and a look at any signer. A key is never read from the command line."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from laneway.console.printing import say, say_json
from laneway.core.errors import BadRequest

if TYPE_CHECKING:
    from laneway.signers.folder import KeptKeystore

HIDE_CHARS_MIN = 32
"""Arguments this long may be a key in some notation, and are not repeated in an error."""

PASSWORD_HELP = "Its only line is the password. Default: LANEWAY_PASSWORD_FILE, else it is asked."
CHECK_PAYLOAD = b"\x19laneway: key check"
"""What a check signs: no transaction begins with this byte (EIP-191)."""

folder_option = click.option("--dir", "folder", metavar="DIR", help="Default: ~/.laneway/keystore")
password_option = click.option("--password-file", metavar="FILE", help=PASSWORD_HELP)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
scrypt_option = click.option(
    "--scrypt-n", type=int, metavar="N", help="Work for one guess of the password. Default: 262144"
)


class DiscreetGroup(click.Group):
    """Repeats no long argument of a mistyped command: it may be a key."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.obj = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            message = error.message
            for word in ctx.obj:
                if len(word) >= HIDE_CHARS_MIN:
                    message = message.replace(word, "(not shown)")
            raise click.UsageError(message, error.ctx) from None


@click.group(cls=DiscreetGroup)
def key() -> None:
    """Make, import and list keystores; check a signer.

    Keystores are Web3 secret storage 3, which geth and Foundry read too.
    """


@key.command()
@folder_option
@password_option
@scrypt_option
@json_option
def new(
    folder: str | None, password_file: str | None, scrypt_n: int | None, *, as_json: bool
) -> None:
    """Make a new key and write its keystore.

    Keep a copy of the file and of the password: nobody can make either again.
    """
    import os

    from laneway.evm.secp256k1 import N

    password = new_password(password_file)
    # Uniform over all keys of the curve: what is out of range is drawn again.
    secret = os.urandom(32)
    while not 0 < int.from_bytes(secret, "big") < N:  # pragma: no cover - once in 2^128 times.
        secret = os.urandom(32)
    show(kept(folder, secret, password, scrypt_n), as_json=as_json)


@key.command("import")
@click.option("--key-file", metavar="FILE", help="Holds the key as 64 hex digits, mode 0600.")
@folder_option
@password_option
@scrypt_option
@json_option
def import_key(
    key_file: str | None,
    folder: str | None,
    password_file: str | None,
    scrypt_n: int | None,
    *,
    as_json: bool,
) -> None:
    """Write a keystore of a key that you have.

    The key is read from a file, from stdin, or asked for; never from the command line, which
    others can read and shells remember.
    """
    from laneway.signers.place import shown_place
    from laneway.signers.secrets import parse_secret, read_secret

    if key_file is not None:
        secret = parse_secret(shown_place(key_file), read_secret(key_file))
    else:
        secret = parse_secret("stdin", typed_key())
    show(kept(folder, secret, new_password(password_file), scrypt_n), as_json=as_json)


@key.command("list")
@folder_option
@json_option
def list_keys(folder: str | None, *, as_json: bool) -> None:
    """List keystores and their addresses; needs no password."""
    from laneway.signers.folder import listed

    for found in listed(place_of(folder)):
        show(found, as_json=as_json)


@key.command()
@click.argument("signer", metavar="SIGNER")
@password_option
@json_option
def check(signer: str, password_file: str | None, *, as_json: bool) -> None:
    """Open a signer as the engine does, and sign something that is no transaction.

    SIGNER is keystore:PATH, file:PATH, env:NAME or web3signer:URL#ADDRESS.
    """
    from laneway.signers.addresses import checksummed
    from laneway.signers.opening import open_signer
    from laneway.wiring.process import run

    async def sign() -> bytes:
        opened = await open_signer(signer, password_file=password_file)
        try:
            await opened.sign(CHECK_PAYLOAD)
        finally:
            await opened.close()
        return opened.address

    address = checksummed(run(sign()))
    if as_json:
        say_json({"ok": True, "address": address})
        return
    say(f"{address} signs")


def place_of(folder: str | None) -> Path:
    from laneway.signers.folder import default_folder

    return default_folder() if folder is None else Path(folder)


def kept(
    folder: str | None, secret: bytes, password: bytes, scrypt_n: int | None
) -> "KeptKeystore":
    import time

    from laneway.signers.folder import keep
    from laneway.signers.limits import SCRYPT_N, SCRYPT_N_MIN

    work = SCRYPT_N if scrypt_n is None else scrypt_n
    if not SCRYPT_N_MIN <= work <= SCRYPT_N or work & (work - 1):
        raise BadRequest("--scrypt-n", f"a power of two from {SCRYPT_N_MIN} to {SCRYPT_N}")
    return keep(place_of(folder), secret, password, now_ns=time.time_ns(), scrypt_n=work)


def new_password(password_file: str | None) -> bytes:
    """A password for a new keystore: from a file, the environment or, twice alike, a person."""
    import os

    from laneway.signers.secrets import PASSWORD_FILE_VARIABLE, find_password

    password = find_password(password_file, os.environ)
    if password is None:
        if not sys.stdin.isatty():
            problem = f"nobody is here to be asked; name a file, or set {PASSWORD_FILE_VARIABLE}"
            raise BadRequest("--password-file", problem)
        typed = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        password = os.fsencode(typed)
    if not password:
        raise BadRequest("password", "it is empty, which protects nothing")
    return password


def typed_key() -> bytes:
    from laneway.signers.limits import SECRET_BYTES_MAX

    if sys.stdin.isatty():
        typed: str = click.prompt("Key (64 hex digits, not shown)", hide_input=True, err=True)
        return typed.encode()
    return sys.stdin.buffer.read(SECRET_BYTES_MAX)


def show(found: "KeptKeystore", *, as_json: bool) -> None:
    from laneway.signers.addresses import checksummed

    address = None if found.address is None else checksummed(found.address)
    if as_json:
        say_json({"address": address, "path": str(found.path)})
        return
    say(f"{address or '(not named)':<42} {found.path}")
