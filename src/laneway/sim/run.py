"""Runs worlds by their seeds, and returns a verdict on each."""

from collections import Counter
from collections.abc import Callable, Iterable

from msgspec import Struct

from laneway.core.errors import LanewayError
from laneway.sim.bugs import Bugs
from laneway.sim.disks import MemoryDisk, SqliteDisk
from laneway.sim.kinds import world_kind
from laneway.sim.shell_world import ShellWorld
from laneway.sim.world import Disk, World


class WorldVerdict(Struct, frozen=True):
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


def run_world(
    seed: int,
    layer: str = "s1",
    kind: str = "contract",
    *,
    bugs: bool = False,
    lying: bool = False,
    on_broken: Callable[[Exception], None] | None = None,
) -> WorldVerdict:
    """One world from its seed, to its end or to the first broken law; `bugs`: with some planted in
    its machines, in the layers s1 and s2; `lying`: with three nodes of which one lies, if the kind
    has such worlds; `on_broken`: is called with the exception that broke it."""
    kind_ = world_kind(kind)
    plan = kind_.planned(seed, shared=layer == "s1", lying=lying)
    disk: Disk = SqliteDisk(seed) if layer == "s2" else MemoryDisk()
    world: World | ShellWorld
    account: Callable[[], None] | None = None
    if layer == "s3":
        world = kind_.shell(plan)
    else:
        world = kind_.world(plan, disk)
        laws = kind_.laws(world)
        world.observers.append(laws)
        account = laws.account
        if bugs:
            Bugs(world)
    broken = None
    try:
        world.run()
        if account is not None:
            account()
    except (AssertionError, LanewayError) as error:
        broken = str(error) or repr(error)
        if on_broken is not None:
            on_broken(error)
    finally:
        disk.close()
    return WorldVerdict(
        seed=seed,
        kind=kind,
        layer=layer,
        broken=broken,
        steps=world.steps,
        trace=world.trace(),
        seen=dict(world.seen),
        story=tuple(world.story),
    )


def run_worlds(
    seeds: Iterable[int],
    layer: str = "s1",
    kind: str = "contract",
    *,
    lying: bool = False,
    on_verdict: Callable[[WorldVerdict, int], None] = lambda _verdict, _broken: None,
) -> tuple[list[WorldVerdict], Counter[str], int]:
    """Many worlds: those that broke a law, what was seen, and the steps in all; `on_verdict` is
    called after each world with the number of broken ones so far."""
    broken: list[WorldVerdict] = []
    seen: Counter[str] = Counter()
    steps = 0
    for seed in seeds:
        verdict = run_world(seed, layer, kind, lying=lying)
        seen.update(verdict.seen)
        steps += verdict.steps
        if verdict.broken is not None:
            broken.append(verdict)
        on_verdict(verdict, len(broken))
    return broken, seen, steps
