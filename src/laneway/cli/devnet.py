"""`laneway devnet`: a chain of one's own to try things on."""

import click

from laneway.devnets.cosmos.limits import BLOCK_MS_DEV
from laneway.devnets.cosmos.limits import PORT_DEFAULT as COSMOS_PORT
from laneway.devnets.evm.limits import BLOCK_MS_MAX, PORT_DEFAULT


@click.group()
def devnet() -> None:
    """A chain of your own to try things on."""


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
    from laneway.devnets.cosmos.run import run_devnet

    return run_devnet(port=port, block_ms=block_ms, chain_id=chain_id, as_json=as_json)
