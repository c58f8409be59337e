"""`laneway apikey`: makes a token for its owner and the hash of it for the keys file."""

import os
import re

import click

from laneway.cli.options import moment
from laneway.console.printing import say, say_json

SCOPES = ("tx:read", "tx:write", "lane:operate", "lane:admin", "metrics:read")
"""Those of server.access, without importing a server for a line of help; a test compares them."""


@click.command()
@click.argument("name")
@click.option("--scope", type=click.Choice(SCOPES), multiple=True, help="Default: all. Repeat it.")
@click.option("--lane", metavar="GLOB", multiple=True, help="Default: all. For example contract:A*")
@click.option("--expires", metavar="TIME", help="RFC 3339; refused from then on.")
@click.option("--per-minute", type=click.IntRange(1), help="Requests; more are answered 429.")
@click.option("--token-file", metavar="FILE", help="Write the token there, readable by you alone.")
@click.option("--json", "as_json", is_flag=True, help="One object: the token, and the key.")
def apikey(
    name: str,
    scope: tuple[str, ...],
    lane: tuple[str, ...],
    expires: str | None,
    per_minute: int | None,
    *,
    token_file: str | None,
    as_json: bool,
) -> None:
    """Make an API key; only its hash is kept.

    Standard output has the lines for the file that `server.keys_file` names, so it can be appended
    to that file. The token itself is shown once, on standard error, or written to --token-file.
    NAME is its public part: small letters and digits.
    """
    if not re.fullmatch(r"[a-z0-9]{1,32}", name):
        raise click.UsageError("NAME has 1 to 32 small letters and digits")
    from laneway.wiring.keys import as_toml, new_key

    limits: dict[str, object] = {
        "scopes": scope or None,
        "lanes": lane or None,
        "expires": None if expires is None else moment("--expires", expires),
        "requests_per_minute": per_minute,
    }
    token, key = new_key(name, **{key: value for key, value in limits.items() if value is not None})
    if as_json:
        say_json({"token": token, "key": key, "toml": as_toml(key)})
        return
    if token_file is not None:
        write_token(token_file, token)
        say(f"# The token of {name} is in {token_file}; give it to its owner.", err=True)
    else:
        say(f"# Give this token to its owner; it is shown only now: {token}", err=True)
    for line in as_toml(key).splitlines():
        say(line)


def write_token(path: str, token: str) -> None:
    """Write the token where only its owner may read it; a file that is there stays as it is."""
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(opened, "w") as file:
        file.write(f"{token}\n")
