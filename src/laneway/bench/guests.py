"""Whom a benchmark invites: the peers' environment and the servers they and we need."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from laneway.bench.child import BenchFailed
from laneway.bench.peers import environment, scripts, versions
from laneway.bench.postgres import Postgres, postgres
from laneway.bench.redis import Redis, redis

Need = Literal["peers", "postgres", "redis"]


class Guests(Struct, frozen=True):
    """What can be run here; None where it cannot, and who therefore stays away, and why."""

    python: Path | None = None
    postgres: Postgres | None = None
    redis: Redis | None = None
    missing: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    """Versions of those that run, and why the others do not."""

    def script(self, name: str) -> list[str]:
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
    python: Path | None = None
    database: Postgres | None = None
    cells: Redis | None = None
    failures: dict[str, str] = {}
    words: dict[str, str] = {}
    for need in sorted({need for wanted in needs.values() for need in wanted}):
        try:
            if need == "peers":
                python = environment(environment_folder, packages)
                words.update(versions(python, packages))
            elif need == "postgres":
                database = stack.enter_context(postgres(folder))
                words["postgresql"] = database.version
            else:
                cells = stack.enter_context(redis(folder))
                words["redis"] = cells.version
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
    return Guests(python, database, cells, missing, {**words, **missing})
