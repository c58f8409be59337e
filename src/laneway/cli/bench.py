"""`laneway bench`: numbers, and the same work done by other queues.

The benchmarks are a distribution of their own, `laneway-bench`, in `bench/` of a checkout.
"""

from pathlib import Path

import click

from laneway.console.late import find

HOW_TO_GET_IT = (
    "the benchmarks come with a checkout of laneway alone: run make setup there, "
    "or pip install -e bench"
)

BENCHES = {
    "contract": "Durable no-op executions per second over 1, 100 and 10,000 contracts.",
    "door": "Requests per second over HTTP, PostgreSQL and Redis, a fleet, and a thousand readers.",
    "eoa": "Transfers per second from one account on a real node, "
    "against viem, ethers and web3.py.",
    "evm": "EVM transactions per second of one core, against EELS, py-evm and ethereumjs.",
    "jam": "The JAM formats: erasure code against npm's WASM, votes, state proofs, "
    "the chain model.",
    "rollup": "A rollup's lane: what a block costs and leaves, how soon it is final, "
    "how full 341 cores.",
    "rollup-front": "What stands before and behind a rollup's queue: the unified binary tree.",
    "sequence": "Transfers per second from one Cosmos account, against cosmjs and cosmpy; "
    "blobs and memory.",
}
DIVISIBLE = {
    "eoa": "Contestants",
    "evm": "Workloads or contestants",
    "jam": "Parts",
    "rollup": "Parts",
    "rollup-front": "Parts",
    "sequence": "Contestants",
}
"""Benchmarks of which some can be left out, and what these are called."""


@click.group()
def bench() -> None:
    """Measure, and compare with other queues."""


def add(name: str, purpose: str) -> None:
    @bench.command(name, help=purpose)
    @click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
    @click.option("--quick", is_flag=True, help="Fewer jobs: a look, not a measurement.")
    @click.option(
        "--out",
        type=click.Path(file_okay=False, path_type=Path),
        default=Path("bench/results"),
        show_default=True,
        help="Where the table and the plot go.",
    )
    def run(as_json: bool, quick: bool, out: Path, **chosen: str) -> int:
        main = find("bench", f"laneway_bench.{name.replace('-', '_')}.bench", "main", HOW_TO_GET_IT)
        code: int = main(json=as_json, quick=quick, out=out, **chosen)
        return code

    if name in DIVISIBLE:
        some = f"{DIVISIBLE[name]}, separated by commas; all by default."
        run.params.append(click.Option(["--only"], default="", help=some))


for _name, _purpose in BENCHES.items():
    add(_name, _purpose)
