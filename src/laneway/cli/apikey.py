"""`laneway apikey`: a token for a person, a hash for the file."""

import re

import click


@click.command()
@click.argument("name")
def apikey(name: str) -> None:
    """Make an API key; only its hash is kept.

    Prints the token once, and the lines for the file that `server.keys_file` names. NAME is its
    public part: small letters and digits.
    """
    if not re.fullmatch(r"[a-z0-9]{1,32}", name):
        raise click.UsageError("NAME has 1 to 32 small letters and digits")
    from laneway.wiring.keys import as_toml, new_key

    token, key = new_key(name)
    click.echo(f"# Give this to its owner; it is shown only now: {token}")
    click.echo(as_toml(key), nl=False)
