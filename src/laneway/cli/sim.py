"""`laneway sim`: simulated worlds, each from one seed."""

import click

from laneway.console.late import find


@click.command()
@click.option("--seed", type=int, help="Repeat one world and print it as a story.")
@click.option("--seeds", type=click.IntRange(1), default=100, show_default=True, help="How many.")
@click.option(
    "--layer",
    type=click.Choice(["s1", "s2", "s3"], case_sensitive=False),
    default="s1",
    show_default=True,
    help="s1: memory store; s2: SQLite on a disk that loses writes; s3: the asyncio shell.",
)
@click.option(
    "--kind",
    metavar="[contract|eoa|cosmos|rollup|…]",
    default="contract",
    show_default=True,
    help="Of the lanes: contracts, EVM accounts, Cosmos accounts, rollups, or a kind that is "
    "installed.",
)
@click.option("--lying", is_flag=True, help="One node of three lies (EVM and Cosmos accounts).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def sim(seed: int | None, seeds: int, layer: str, kind: str, lying: bool, as_json: bool) -> int:
    """Run simulated worlds, each from one seed.

    Crashes, lost answers, slow quorums and reorgs are part of every world.
    """
    find("sim", "laneway.kinds.worlds", "register_worlds")()
    code: int = find("sim", "laneway.sim.cli", "main")(
        seed=seed, seeds=seeds, layer=layer, kind=kind.lower(), lying=lying, json=as_json
    )
    return code
