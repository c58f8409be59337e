"""What the error messages of EVM nodes mean: one table for each client, the operator's rows first.

Messages that nobody listed are UNKNOWN, which proves nothing and keeps the nonce.
"""

import re
from collections.abc import Sequence
from functools import cache, partial

from laneway.chains import phrases
from laneway.core.facts import SendKind

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


Row = phrases.Phrase[SendKind]
read_rows = partial(phrases.read_rows, SendKind)
"""Rows as a file has them: `[kind, pattern]` or `[kind, pattern, code]`."""


class EvmPhrases(phrases.ClientPhrases[SendKind]):
    def __init__(self, client: str = "", overrides: Sequence[Row] = ()) -> None:
        super().__init__(shipped(), client, overrides, SendKind.is_final, SendKind.UNKNOWN)


@cache
def shipped() -> dict[str, tuple[Row, ...]]:
    """The tables that come with the package."""
    tables = phrases.shipped_toml("laneway.chains.evm")
    return {client: read_rows(rows, client) for client, rows in tables.items()}


def client_of(version: str) -> str:
    """The client that web3_clientVersion names; "" when it is not known."""
    return next((client for client, pattern in CLIENTS if pattern.search(version)), "")
