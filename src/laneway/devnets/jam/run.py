"""The JAM devnet as a process, and what it says of itself."""

import asyncio

from msgspec import json

from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.limits import LEDGER_SERVICE_DEV, SLOT_MS_DEFAULT
from laneway.devnets.serving import serve
from laneway.jam.spec import FULL, TINY

SPECS = {spec.name: spec for spec in (TINY, FULL)}


def run_devnet(*, port: int, slot_ms: int, spec: str, nodes: int, as_json: bool) -> int:
    devnet = JamDevnet(port=port, slot_ms=slot_ms, spec=SPECS[spec], nodes=nodes)
    return asyncio.run(serve(devnet, place_of if as_json else lines_of))


def place_of(devnet: JamDevnet) -> str:
    place = {
        "url": devnet.url,
        "urls": devnet.urls,
        "genesis": devnet.model.genesis.hex(),
        "spec": devnet.model.spec.name,
        "service": LEDGER_SERVICE_DEV,
        "toml": table_of(devnet),
        "accounts": [
            {"id": account.id.hex(), "key": account.secret.hex()} for account in devnet.accounts
        ],
    }
    return json.encode(place).decode()


def lines_of(devnet: JamDevnet) -> str:
    accounts = [f"  {account.id.hex()}  {account.secret.hex()}" for account in devnet.accounts]
    return "\n".join(
        [
            f"listening on {' '.join(devnet.urls)}",
            f"{devnet.model.spec.name} chain, genesis {devnet.model.genesis.hex()}",
            f"the ledger is service {LEDGER_SERVICE_DEV}; its accounts and their keys, which "
            "everybody knows, a million million each:",
            *accounts,
            "",
            "in a laneway.toml:",
            "",
            table_of(devnet),
        ]
    )


def table_of(devnet: JamDevnet) -> str:
    """A rollup on it, as it is configured."""
    nodes = ", ".join(f'"{url}"' for url in devnet.urls)
    lines = [
        "[[rollup]]",
        'name = "pay"',
        f"service = {LEDGER_SERVICE_DEV}",
        f"nodes = [{nodes}]",
        f'genesis = "{devnet.model.genesis.hex()}"',
    ]
    # It says of itself that a slot has six seconds, and one that is stepped has no pace at all.
    if devnet.slot_ms not in (0, SLOT_MS_DEFAULT):
        lines.append(f"slot_ms = {devnet.slot_ms}")
    return "\n".join(lines)
