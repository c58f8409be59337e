"""Runs worlds by their seeds, and tells what became of them."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from laneway.core.errors import LanewayError
from laneway.sim.bugs import Bugs
from laneway.sim.contract_world import ContractWorld
from laneway.sim.laws import Laws
from laneway.sim.plan import plan
from laneway.sim.shelves import DiskShelf, MemoryShelf
from laneway.sim.world import Shelf, World

if TYPE_CHECKING:
    from laneway.sim.shell_world import ShellWorld


class Verdict(Struct, frozen=True):
    """What one world showed."""

    seed: int
    kind: str
    layer: str
    broken: str | None
    steps: int
    trace: str
    seen: dict[str, int]
    story: tuple[str, ...]


LAYERS = ("s1", "s2", "s3")
KINDS = ("contract", "eoa", "cosmos", "rollup")
LYING_KINDS = ("eoa", "cosmos")
"""Kinds whose worlds can have three nodes of which one lies."""


def run_world(
    seed: int,
    layer: str = "s1",
    kind: str = "contract",
    *,
    bugs: bool = False,
    lying: bool = False,
) -> Verdict:
    """One world from its seed, to its end or to the first broken law; `bugs`: with some planted in
    its machines, in the layers s1 and s2; `lying`: with three nodes of which one lies, if the kind
    has such worlds."""
    if layer == "s3":
        return run_shell(seed, kind, lying=lying)
    shelf: Shelf = MemoryShelf() if layer == "s1" else DiskShelf(seed)
    world, account = furnished(seed, shelf, kind, shared=layer == "s1", lying=lying)
    if bugs:
        Bugs(world)
    broken = None
    try:
        world.run()
        account()
    except (AssertionError, LanewayError) as error:
        broken = str(error) or repr(error)
    finally:
        shelf.close()
    return Verdict(
        seed=seed,
        kind=kind,
        layer=layer,
        broken=broken,
        steps=world.steps,
        trace=world.trace(),
        seen=dict(world.seen),
        story=tuple(world.story),
    )


def furnished(
    seed: int, shelf: Shelf, kind: str, *, shared: bool, lying: bool = False
) -> tuple[World, Callable[[], None]]:
    """A world of one kind of lanes under its laws, and the account to take at its end."""
    if kind == "contract":
        contracts = ContractWorld(plan(seed, shared=shared), shelf)
        return contracts, Laws(contracts).account
    # The curve is an extra; worlds of contracts need none of it.
    if kind == "cosmos":
        from laneway.sim.sequence.laws import SequenceLaws
        from laneway.sim.sequence.plan import cosmos_plan
        from laneway.sim.sequence.world import CosmosWorld

        sequences = CosmosWorld(cosmos_plan(seed, shared=shared, lying=lying), shelf)
        return sequences, SequenceLaws(sequences).account
    if kind == "rollup":
        from laneway.sim.bundle.laws import RollupLaws
        from laneway.sim.bundle.plan import rollup_plan
        from laneway.sim.bundle.world import RollupWorld

        rollups = RollupWorld(rollup_plan(seed, shared=shared), shelf)
        return rollups, RollupLaws(rollups).account
    from laneway.sim.eoa.laws import EoaLaws
    from laneway.sim.eoa.plan import eoa_plan
    from laneway.sim.eoa.world import EoaWorld

    accounts = EoaWorld(eoa_plan(seed, shared=shared, lying=lying), shelf)
    return accounts, EoaLaws(accounts).account


def run_shell(seed: int, kind: str, *, lying: bool = False) -> Verdict:
    """One world of the asyncio shell, several lives long."""
    world = furnished_shell(seed, kind, lying=lying)
    broken = None
    try:
        world.run()
    except (AssertionError, LanewayError) as error:
        broken = str(error) or repr(error)
    return Verdict(
        seed=seed,
        kind=kind,
        layer="s3",
        broken=broken,
        steps=world.callbacks,
        trace=world.trace(),
        seen=dict(world.seen),
        story=tuple(world.story),
    )


def furnished_shell(seed: int, kind: str, *, lying: bool = False) -> "ShellWorld":
    from laneway.sim.shell_world import ContractShell

    if kind == "contract":
        return ContractShell(plan(seed, shared=False))
    if kind == "cosmos":
        from laneway.sim.sequence.plan import cosmos_plan
        from laneway.sim.sequence.shell import CosmosShell

        return CosmosShell(cosmos_plan(seed, shared=False, lying=lying))
    if kind == "rollup":
        from laneway.sim.bundle.plan import rollup_plan
        from laneway.sim.bundle.shell import RollupShell

        return RollupShell(rollup_plan(seed, shared=False))
    from laneway.sim.eoa.plan import eoa_plan
    from laneway.sim.eoa.shell import EoaShell

    return EoaShell(eoa_plan(seed, shared=False, lying=lying))


def run_worlds(
    seeds: Iterable[int], layer: str = "s1", kind: str = "contract", *, lying: bool = False
) -> tuple[list[Verdict], Counter[str], int]:
    """Many worlds: those that broke a law, what was seen, and the steps in all."""
    broken: list[Verdict] = []
    seen: Counter[str] = Counter()
    steps = 0
    for seed in seeds:
        verdict = run_world(seed, layer, kind, lying=lying)
        seen.update(verdict.seen)
        steps += verdict.steps
        if verdict.broken is not None:
            broken.append(verdict)
    return broken, seen, steps
