"""The kinds of worlds that the simulator can run: a table, to which anyone may add a kind.

A kind hands in its plan, its world with its faults, its laws and the rare states that many seeds
together must have met; the simulator runs them.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Protocol

from msgspec import Struct

from laneway.sim.plan import WorldPlan
from laneway.sim.shell_world import ShellWorld
from laneway.sim.world import Disk, Observer, World


class Laws(Observer, Protocol):
    def account(self) -> None:
        """At the end: every accepted wish has one final answer, and it is true."""


class WorldKind(Struct, frozen=True, kw_only=True):
    """One kind of lanes, as the simulator needs it."""

    name: str
    plan: Callable[..., WorldPlan]
    """What one seed decides: `plan(seed, shared=...)`, with `lying=...` where nodes can lie."""
    world: Callable[[Any, Disk], World]
    """Layers S1 and S2, from a plan."""
    laws: Callable[[Any], Laws]
    """They observe a world from its beginning."""
    shell: Callable[[Any], ShellWorld]
    """Layer S3, from a plan."""
    has_liars: bool = False
    """Whether worlds can have three nodes of which one lies."""
    sometimes: Mapping[str, tuple[str, ...]] = {}
    """States so rare that they are easily missed, by layer, or layer and `lying` or `bugs`: many
    seeds together must have met each."""

    def planned(self, seed: int, *, shared: bool, lying: bool) -> WorldPlan:
        liars = {"lying": lying} if self.has_liars else {}
        return self.plan(seed, shared=shared, **liars)


def states(text: str) -> tuple[str, ...]:
    """The names of states from a text that separates them by semicolons."""
    return tuple(" ".join(name.split()) for name in text.split(";"))


BUILT_IN = {
    "contract": "laneway.sim.contract.kind",
    "eoa": "laneway.sim.eoa.kind",
    "cosmos": "laneway.sim.sequence.kind",
    "rollup": "laneway.sim.bundle.kind",
}
"""Modules that are imported when their worlds are wanted: the curve is an extra, and worlds of
contracts need none of it."""

_registered: dict[str, WorldKind] = {}


def register(kind: WorldKind) -> None:
    """Let the simulator run worlds of this kind under its name."""
    _registered[kind.name] = kind


def names() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*BUILT_IN, *_registered)))


def world_kind(name: str) -> WorldKind:
    if name not in _registered:
        found: WorldKind = import_module(BUILT_IN[name]).KIND
        register(found)
    return _registered[name]
