"""Rollups on the command lines that all kinds share; `commands.py` has their own."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from laneway.devnets.jam.limits import (
    NODES_COUNT_MAX,
    PORT_DEFAULT,
    SLOT_MS_DEFAULT,
    SLOT_MS_MAX,
)
from laneway.kinds import command_line as shared
from laneway.kinds.extras import needs
from laneway.kinds.limits import SLOT_MS_MIN
from laneway.kinds.rollup.registry import rollup_kinds
from laneway.rollups.default import DEFAULT

if TYPE_CHECKING:
    from laneway.wire.values import Lane, LaneHealth, Tx


@click.command()
@shared.at_port(PORT_DEFAULT, "its first node")
@shared.setting(
    "--slot-ms",
    click.IntRange(0, SLOT_MS_MAX),
    SLOT_MS_DEFAULT,
    "A timeslot; 0 makes a block only when it is told to (dev_produce).",
)
@shared.setting(
    "--spec",
    click.Choice(["tiny", "full"]),
    "tiny",
    "6 validators and 2 cores, or 1,023 and 341.",
)
@shared.setting(
    "--service",
    click.Choice(list(rollup_kinds())),
    DEFAULT.name,
    "What it refines and accumulates for.",
)
@shared.setting(
    "--nodes",
    click.IntRange(1, NODES_COUNT_MAX),
    1,
    "Each has a socket and a view of its own; all but the first are at free ports.",
)
@shared.accounts_as_json
def jam(port: int, slot_ms: int, spec: str, service: str, nodes: int, as_json: bool) -> int:
    """A JAM chain with the service of a rollup, until you end it.

    Packages are refined, guaranteed, made available, accumulated and voted final, with
    real rules, bytes and signatures; nothing is kept. It answers JIP-2 over WebSocket, and
    is moved by calls that begin with dev_.
    """
    with needs("rollup"):
        from laneway.devnets.jam.devnet import run_devnet

    rollup = rollup_kinds()[service]
    return run_devnet(rollup, port=port, slot_ms=slot_ms, spec=spec, nodes=nodes, as_json=as_json)


class RollupCommandLine(shared.CommandLine):
    verbs = {"devnet": (jam,)}
    up_options = (
        shared.option(
            "--rollup",
            "A rollup on a JAM chain inside this process, to try it out.",
            type=click.Choice(list(rollup_kinds())),
        ),
        shared.option(
            "--slot-ms",
            "With --rollup: a timeslot of that chain, if not six seconds.",
            type=click.IntRange(SLOT_MS_MIN, SLOT_MS_MAX),
        ),
    )

    def prepare(self, configuration: Any, options: Mapping[str, Any]) -> Any:
        if options["rollup"] is None:
            if options["slot_ms"] is not None:
                raise click.UsageError("--slot-ms is for the chain of --rollup")
            return configuration
        with needs("rollup"):
            from laneway.kinds.rollup.section import with_devnet

        return with_devnet(configuration, options["rollup"], options["slot_ms"])

    def tx_facts(self, tx: "Tx") -> shared.Facts:
        rollup = tx.rollup
        if rollup is None:
            return super().tx_facts(tx)
        landed = rollup.accumulated_in
        version = rollup.package and f"v{rollup.package_version}  {rollup.package}"
        return [
            *shared.where(tx),
            ("hash", tx.hash),
            ("bundle", rollup.bundle),
            ("block", rollup.number),
            ("which is", rollup.state),
            ("verdict", rollup.verdict),
            ("package", version),
            ("accumulated", landed and f"slot {landed.slot}  {landed.hash}"),
            *shared.whence(tx),
            ("raw", rollup.raw),
        ]

    def lane_facts(self, lane: "Lane | LaneHealth") -> shared.Facts:
        rollup = lane.rollup
        if rollup is None:
            return []
        return [
            ("rollup", f"rollup:{rollup.service} ({rollup.name}): {rollup.kind}"),
            ("held here", "yes" if rollup.held else "no"),
            ("open blocks", rollup.open),
            ("queued", rollup.queued),
            ("returned", rollup.returned or None),
            ("final", rollup.finalised),
            ("dropped", rollup.drops or None),
            ("clock skew", None if rollup.skew_ms is None else f"{rollup.skew_ms} ms"),
        ]
