"""`laneway evm`: the EVM by itself."""

from pathlib import Path

import click

from laneway.console.printing import say, say_json
from laneway.core.errors import BadRequest

FORKS = ("cancun", "prague", "osaka")


@click.group()
def evm() -> None:
    """The EVM by itself: see what its fast path makes of code."""


@evm.command("compile")
@click.argument("code")
@click.option("--fork", type=click.Choice(FORKS), default=FORKS[-1], show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a function.")
def compile_code(code: str, fork: str, as_json: bool) -> None:
    """Print the Python functions that hot CODE becomes: hex, or a file that holds hex or bytes."""
    from laneway.evm.compiled.listing import listing
    from laneway.evm.fork import Fork

    for begin, text in listing(code_of(code), Fork[fork.upper()]).items():
        if as_json:
            say_json({"begin": begin, "text": text})
            continue
        for line in text.splitlines():
            say(line)


def code_of(argument: str) -> bytes:
    """The code that an argument is, or that the file has which it names."""
    text = argument
    if Path(argument).is_file():
        raw = Path(argument).read_bytes()
        try:
            text = raw.decode("ascii").strip()
        except UnicodeDecodeError:
            return raw
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise BadRequest("CODE", "is neither hex nor a file that holds code") from None
