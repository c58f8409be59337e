"""`laneway devnet`: a chain of one's own to try things on."""

import click

from laneway.devnets.contract.limits import PORT_DEFAULT as CONTRACT_PORT
from laneway.devnets.contract.limits import ROUND_MS, ROUND_MS_DEV
from laneway.devnets.cosmos.limits import BLOCK_MS_DEV
from laneway.devnets.cosmos.limits import PORT_DEFAULT as COSMOS_PORT
from laneway.devnets.evm.limits import BLOCK_MS_MAX, PORT_DEFAULT
from laneway.devnets.jam.limits import NODES_COUNT_MAX, SLOT_MS_DEFAULT, SLOT_MS_MAX
from laneway.devnets.jam.limits import PORT_DEFAULT as JAM_PORT
from laneway.wiring.extras import needs


@click.group()
def devnet() -> None:
    """A chain of your own to try things on."""


@devnet.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=CONTRACT_PORT,
    show_default=True,
    help="Where it listens on this machine; 0 takes a free one.",
)
@click.option(
    "--round-ms",
    type=click.IntRange(1, ROUND_MS),
    default=ROUND_MS_DEV,
    show_default=True,
    help="One consensus round, which makes a block.",
)
@click.option("--json", "as_json", is_flag=True, help="Tell where it is, as JSON.")
def contract(port: int, round_ms: int, as_json: bool) -> int:
    """A contract node that many processes can share, until you end it.

    It executes nothing and makes a block for every execution; nothing is kept. It answers
    the node's own REST calls, so host.kind = "rest" reaches it.
    """
    from laneway.devnets.contract.run import run_devnet

    return run_devnet(port=port, round_ms=round_ms, as_json=as_json)


@devnet.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=PORT_DEFAULT,
    show_default=True,
    help="Where it listens on this machine; 0 takes a free one.",
)
@click.option(
    "--block-ms",
    type=click.IntRange(0, BLOCK_MS_MAX),
    default=0,
    show_default=True,
    help="Between two blocks; 0 makes one for every send.",
)
@click.option("--chain-id", type=click.IntRange(min=1), default=31_337, show_default=True)
@click.option(
    "--json", "as_json", is_flag=True, help="Tell where it is, and its accounts, as JSON."
)
def evm(port: int, block_ms: int, chain_id: int, as_json: bool) -> int:
    """An EVM chain with the accounts everybody knows, until you end it.

    It moves value and executes no contract; nothing is kept. It answers JSON-RPC and
    new heads over WebSocket, and is moved by anvil's calls (evm_mine, anvil_reorg …).
    """
    with needs("evm"):
        from laneway.devnets.evm.run import run_devnet

    return run_devnet(port=port, block_ms=block_ms, chain_id=chain_id, as_json=as_json)


@devnet.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=COSMOS_PORT,
    show_default=True,
    help="Where it listens on this machine; 0 takes a free one.",
)
@click.option(
    "--block-ms",
    type=click.IntRange(1, BLOCK_MS_MAX),
    default=BLOCK_MS_DEV,
    show_default=True,
    help="Between two blocks.",
)
@click.option("--chain-id", default="laneway-dev", show_default=True)
@click.option(
    "--json", "as_json", is_flag=True, help="Tell where it is, and its accounts, as JSON."
)
def cosmos(port: int, block_ms: int, chain_id: str, as_json: bool) -> int:
    """A Cosmos chain with Celestia's blobs and mempool, until you end it.

    It checks signatures, fees and sequences, takes sends, fee grants and blobs, and keeps
    nothing. It answers CometBFT's JSON-RPC and the SDK's REST on one port.
    """
    with needs("cosmos"):
        from laneway.devnets.cosmos.run import run_devnet

    return run_devnet(port=port, block_ms=block_ms, chain_id=chain_id, as_json=as_json)


@devnet.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=JAM_PORT,
    show_default=True,
    help="Where its first node listens on this machine; 0 takes a free one.",
)
@click.option(
    "--slot-ms",
    type=click.IntRange(0, SLOT_MS_MAX),
    default=SLOT_MS_DEFAULT,
    show_default=True,
    help="A timeslot; 0 makes a block only when it is told to (dev_produce).",
)
@click.option(
    "--spec",
    type=click.Choice(["tiny", "full"]),
    default="tiny",
    show_default=True,
    help="6 validators and 2 cores, or 1,023 and 341.",
)
@click.option(
    "--service",
    type=click.Choice(["ledger"]),
    default="ledger",
    show_default=True,
    help="What it refines and accumulates for.",
)
@click.option(
    "--nodes",
    type=click.IntRange(1, NODES_COUNT_MAX),
    default=1,
    show_default=True,
    help="Each has a socket and a view of its own; all but the first are at free ports.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Tell where it is, and its accounts, as JSON."
)
def jam(port: int, slot_ms: int, spec: str, service: str, nodes: int, as_json: bool) -> int:
    """A JAM chain with a ledger service, until you end it.

    Packages are refined, guaranteed, made available, accumulated and voted final, with
    real rules, bytes and signatures; nothing is kept. It answers JIP-2 over WebSocket, and
    is moved by calls that begin with dev_.
    """
    with needs("rollup"):
        from laneway.devnets.jam.run import run_devnet

    assert service == "ledger"
    return run_devnet(port=port, slot_ms=slot_ms, spec=spec, nodes=nodes, as_json=as_json)
