"""`laneway bench`: numbers, and the same work done by other queues."""

from collections.abc import Callable
from pathlib import Path

import click

from laneway.cli.late import find


@click.group()
def bench() -> None:
    """Measure, and compare with other queues."""


def measured(command: Callable[..., int]) -> Callable[..., int]:
    """The options that every benchmark has."""
    options = (
        click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout."),
        click.option("--quick", is_flag=True, help="Fewer jobs: a look, not a measurement."),
        click.option(
            "--out",
            type=click.Path(file_okay=False, path_type=Path),
            default=Path("bench/results"),
            show_default=True,
            help="Where the table and the plot go.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@bench.command()
@measured
def contract(as_json: bool, quick: bool, out: Path) -> int:
    """Durable no-op executions per second over 1, 100 and 10,000 contracts."""
    code: int = find("bench", "laneway.bench.contract", "main")(json=as_json, quick=quick, out=out)
    return code


@bench.command()
@measured
def door(as_json: bool, quick: bool, out: Path) -> int:
    """Requests per second over HTTP, PostgreSQL and Redis, a fleet, and a thousand readers."""
    code: int = find("bench", "laneway.bench.door", "main")(json=as_json, quick=quick, out=out)
    return code


@bench.command()
@measured
@click.option("--only", default="", help="Contestants, separated by commas; all by default.")
def eoa(as_json: bool, quick: bool, out: Path, only: str) -> int:
    """Transfers per second from one account on a real node, against viem, ethers and web3.py."""
    main = find("bench", "laneway.bench.eoa", "main")
    code: int = main(json=as_json, quick=quick, out=out, only=only)
    return code


@bench.command()
@measured
@click.option("--only", default="", help="Parts, separated by commas; all by default.")
def jam(as_json: bool, quick: bool, out: Path, only: str) -> int:
    """The JAM formats: erasure code against npm's WASM, votes, state proofs, the chain model."""
    main = find("bench", "laneway.bench.jam", "main")
    code: int = main(json=as_json, quick=quick, out=out, only=only)
    return code


@bench.command()
@measured
@click.option("--only", default="", help="Parts, separated by commas; all by default.")
def rollup(as_json: bool, quick: bool, out: Path, only: str) -> int:
    """A rollup's lane: what a block costs and leaves, how soon it is final, how full 341 cores."""
    main = find("bench", "laneway.bench.rollup", "main")
    code: int = main(json=as_json, quick=quick, out=out, only=only)
    return code


@bench.command()
@measured
@click.option("--only", default="", help="Contestants, separated by commas; all by default.")
def sequence(as_json: bool, quick: bool, out: Path, only: str) -> int:
    """Transfers per second from one Cosmos account, against cosmjs and cosmpy; blobs and memory."""
    main = find("bench", "laneway.bench.sequence", "main")
    code: int = main(json=as_json, quick=quick, out=out, only=only)
    return code
