"""A JAM chain inside this process, for trying out a rollup: what it is called, and what it says.

It goes on where it ended, as long as the database does: beside that stand the calls that made it.
"""

from msgspec.structs import replace

from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.journal import Journal
from laneway.devnets.jam.limits import LEDGER_SERVICE_DEV, SLOT_MS_DEFAULT
from laneway.wiring.config import Configuration, check_together
from laneway.wiring.schema_rollup import DEVNET, RollupSection

NAME = "ledger"
"""The word that `up --rollup` was given is the rollup's name."""
NODE_NAME = "dev"
"""It is committed with what is offered, so it stays."""
SERVER_DEFAULT = "http://127.0.0.1:8547"
"""Where commands look for a server unless told otherwise."""
FLAG = "--rollup"


def with_devnet(configuration: Configuration, slot_ms: int | None) -> Configuration:
    """The same configuration with a ledger on a chain inside this process."""
    table = RollupSection(
        name=NAME, service=LEDGER_SERVICE_DEV, nodes=(DEVNET,), kind="ledger", slot_ms=slot_ms
    )
    config = replace(configuration.config, rollup=(*configuration.config.rollup, table))
    found = replace(
        configuration, config=config, origins={**configuration.origins, "rollup": ("flag", FLAG)}
    )
    check_together(found)
    return found


def open_devnet(section: RollupSection, store_path: str) -> JamDevnet:
    """Its node is at any free port of this machine."""
    kept = None if store_path == ":memory:" else Journal(f"{store_path}-jam")
    slot_ms = SLOT_MS_DEFAULT if section.slot_ms is None else section.slot_ms
    return JamDevnet(slot_ms=slot_ms, journal=kept)


def devnet_lines(devnet: JamDevnet, server: str) -> list[str]:
    """What a person needs to try it out."""
    again = f", {devnet.replayed_count} slots and calls played again" * bool(devnet.replayed_count)
    lines = [f"JAM node    {devnet.url} ({devnet.model.spec.name} chain in this process{again})"]
    lines += ["accounts    and their keys, which everybody knows; a million million each:"]
    named = enumerate(devnet.accounts)
    lines += [f"  dev:{place}  {one.id.hex()}  {one.secret.hex()}" for place, one in named]
    where = "" if server == SERVER_DEFAULT else f" --url {server}"
    lines += [f"try         laneway rollup send --from dev:0 --to dev:1 --amount 5 --wait{where}"]
    return lines
