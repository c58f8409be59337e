"""`laneway apikey`: a token for a person, a hash for the file."""

import re

import click

from laneway.cli.options import moment

SCOPES = ("tx:read", "tx:write", "lane:operate", "lane:admin", "metrics:read")
"""Those of server.access, without importing a server for a line of help; a test compares them."""


@click.command()
@click.argument("name")
@click.option("--scope", type=click.Choice(SCOPES), multiple=True, help="Default: all. Repeat it.")
@click.option("--lane", metavar="GLOB", multiple=True, help="Default: all. For example contract:A*")
@click.option("--expires", metavar="TIME", help="RFC 3339; refused from then on.")
@click.option("--per-minute", type=click.IntRange(1), help="Requests; more are answered 429.")
@click.option("--json", "as_json", is_flag=True, help="One object: the token, and the key.")
def apikey(
    name: str,
    scope: tuple[str, ...],
    lane: tuple[str, ...],
    expires: str | None,
    per_minute: int | None,
    *,
    as_json: bool,
) -> None:
    """Make an API key; only its hash is kept.

    Prints the token once, and the lines for the file that `server.keys_file` names. NAME is its
    public part: small letters and digits.
    """
    if not re.fullmatch(r"[a-z0-9]{1,32}", name):
        raise click.UsageError("NAME has 1 to 32 small letters and digits")
    from laneway.wiring.keys import as_toml, new_key

    limits: dict[str, object] = {}
    if scope:
        limits["scopes"] = scope
    if lane:
        limits["lanes"] = lane
    if expires is not None:
        limits["expires"] = moment("--expires", expires)
    if per_minute is not None:
        limits["requests_per_minute"] = per_minute
    token, key = new_key(name, **limits)
    if as_json:
        from msgspec import json

        click.echo(json.encode({"token": token, "key": key, "toml": as_toml(key)}))
        return
    click.echo(f"# Give this to its owner; it is shown only now: {token}")
    click.echo(as_toml(key), nl=False)
