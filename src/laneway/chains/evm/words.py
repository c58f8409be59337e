"""Reads a node's words: one table of data for each client, and the operator's own rows first.

Words nobody listed are UNKNOWN, which proves nothing and keeps the nonce.
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from msgspec import Struct

from laneway.core.errors import BadRequest
from laneway.core.facts import SendKind

ANY = "any"

CLIENTS = (
    # The first that occurs in web3_clientVersion; op-geth and nitro are built on geth.
    ("op", re.compile("op-?geth|op-?reth|op-?erigon|optimism", re.I)),
    ("arbitrum", re.compile("nitro|arbitrum", re.I)),
    ("zksync", re.compile("zksync", re.I)),
    ("anvil", re.compile("^anvil", re.I)),
    ("geth", re.compile("^geth|go-ethereum", re.I)),
    ("nethermind", re.compile("^nethermind", re.I)),
    ("besu", re.compile("^besu", re.I)),
    ("erigon", re.compile("^erigon", re.I)),
    ("reth", re.compile("^reth", re.I)),
)


class Row(Struct, frozen=True):
    kind: SendKind
    words: re.Pattern[str]
    code: int | None = None

    def fits(self, code: int, message: str) -> bool:
        return (self.code is None or self.code == code) and bool(self.words.search(message))


class Words:
    """The rows for one client, in the order in which they are asked."""

    def __init__(self, client: str = "", overrides: Sequence[Row] = ()) -> None:
        tables = shipped()
        others = [name for name in tables if name not in (client, ANY)]
        order = [client] * (client in tables) + [ANY, *others]
        rows = [row for name in order for row in tables[name]]
        # A final refusal frees the nonce, so it is believed only when no row reads it softer.
        self._rows = (*overrides, *sorted(rows, key=lambda row: row.kind.is_final()))

    def kind(self, code: int, message: str) -> SendKind:
        for row in self._rows:
            if row.fits(code, message):
                return row.kind
        return SendKind.UNKNOWN


@cache
def shipped() -> dict[str, tuple[Row, ...]]:
    """The tables that come with the package."""
    text = files("laneway.chains.evm").joinpath("words.toml").read_text()
    return {client: read_rows(rows, client) for client, rows in tomllib.loads(text).items()}


def read_rows(rows: Sequence[Sequence[object]], where: str = "words") -> tuple[Row, ...]:
    """Rows as a file has them, `[kind, words]` or `[kind, words, code]`."""
    return tuple(read_row(row, where) for row in rows)


def read_row(row: Sequence[object], where: str) -> Row:
    match row:
        case [str(kind), str(words)]:
            code = None
        case [str(kind), str(words), int(code)]:
            pass
        case _:
            raise BadRequest(where, f"{row!r} is not [kind, words] or [kind, words, code]")
    try:
        return Row(SendKind(kind), re.compile(words, re.I), code)
    except (ValueError, re.error) as error:
        raise BadRequest(where, f"{row!r}: {error}") from error


def client_of(version: str) -> str:
    """Whose words these are, from what web3_clientVersion says; "" when that is not known."""
    return next((client for client, words in CLIENTS if words.search(version)), "")
