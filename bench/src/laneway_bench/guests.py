"""Whom a benchmark invites: the peers' environment and the servers they and we need."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from laneway_bench import anvil, node
from laneway_bench.child import BenchFailed
from laneway_bench.peers import environment, scripts, versions
from laneway_bench.postgres import Postgres, postgres
from laneway_bench.redis import Redis, redis

Need = Literal["anvil", "node", "peers", "postgres", "redis"]


class Guests(Struct, frozen=True):
    """What can be run here; None where it cannot, and who therefore stays away, and why."""

    python: Path | None = None
    postgres: Postgres | None = None
    redis: Redis | None = None
    anvil: str | None = None
    """Its program: every contestant has a node of its own."""
    modules: Path | None = None
    """The packages of contestants that run on Node."""
    missing: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    """Versions of contestants that run, and why the others do not."""

    def script(self, name: str) -> list[str]:
        if name.endswith(".cjs"):
            assert self.modules is not None
            return node.command(self.modules, name)
        return [str(self.python), str(scripts() / name)]


def invited(
    stack: ExitStack,
    folder: Path,
    environment_folder: Path,
    needs: Mapping[str, Sequence[Need]],
    packages: Sequence[str],
    *,
    quick: bool,
) -> Guests:
    """Set everything up. A quick run goes on without what cannot be had; a full one ends."""
    found = Guests()
    failures: dict[str, str] = {}
    for need in sorted({need for wanted in needs.values() for need in wanted}):
        try:
            found = with_one(found, need, stack, folder, environment_folder, packages)
        except BenchFailed as failure:
            failures[need] = str(failure)
    if failures and not quick:
        raise BenchFailed("; ".join(failures.values()))
    missing = {
        name: failures[need]
        for name, wanted in needs.items()
        for need in wanted
        if need in failures
    }
    return replace(found, missing=missing, words={**found.words, **missing})


def with_one(
    found: Guests,
    need: Need,
    stack: ExitStack,
    folder: Path,
    environment_folder: Path,
    packages: Sequence[str],
) -> Guests:
    """What was found, and one more; its version is among the words."""
    more: dict[str, object]
    words: dict[str, str]
    match need:
        case "anvil":
            more = {need: (program := anvil.program())}
            words = {need: anvil.version(program)}
        case "node":
            more = {"modules": (modules := node.modules(environment_folder))}
            words = node.words(modules)
        case "peers":
            more = {"python": (python := environment(environment_folder, packages))}
            words = versions(python, packages)
        case "postgres":
            more = {need: (database := stack.enter_context(postgres(folder)))}
            words = {"postgresql": database.version}
        case "redis":
            more = {need: (cells := stack.enter_context(redis(folder)))}
            words = {need: cells.version}
        case _:
            assert_never(need)
    return replace(found, words={**found.words, **words}, **more)
