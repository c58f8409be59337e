"""`laneway bench door`: the HTTP door, the shared stores and the fleet, in one run.

What is measured and why it is fair stands in docs/benchmarks.md.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from laneway_bench import contest
from laneway_bench.child import BenchFailed, Child, module
from laneway_bench.contest import Contest
from laneway_bench.frame import Goal, Sample, ratio, rounded
from laneway_bench.guests import Need
from laneway_bench.limits import (
    ARQ_CONCURRENCY,
    BATCH,
    CONNECTIONS,
    HEARD_S_MAX,
    PROCRASTINATE_CONCURRENCY,
    SAQ_CONCURRENCY,
)
from laneway_bench.service import ENDS_AT_ONCE, NEVER_ENDS, laneway_up

PACKAGES = ("arq", "saq", "procrastinate", "psycopg", "psycopg-pool", "uvloop")
"""Of the peers' environment."""

NEEDS: dict[str, tuple[Need, ...]] = {
    "arq": ("peers", "redis"),
    "saq": ("peers", "redis"),
    "laneway_redis": ("redis",),
    "laneway_postgres": ("postgres",),
    "procrastinate": ("peers", "postgres"),
    "fleet_1": ("postgres",),
    "fleet_3": ("postgres",),
    "takeover_postgres": ("postgres",),
    "takeover_redis": ("redis",),
}

GOALS = (
    Goal("http_enqueue_vs_bare_aiohttp_group_commit", 0.5),
    Goal("redis_contracts_100_vs_arq", 5),
    Goal("redis_vs_sqlite_contracts_100", 0.4),
    Goal("postgres_contracts_100_vs_procrastinate", 10),
    Goal("fleet_3_vs_1_process", None),
    Goal("takeover_s", 15, at_least=False),
    Goal("sse_1000_clients_throughput_loss", 0.15, at_least=False),
)

RATIOS = {
    "http_enqueue_vs_bare_aiohttp_group_commit": ("http_enqueue", "bare_aiohttp"),
    "redis_contracts_100_vs_arq": ("laneway_redis", "arq"),
    "redis_contracts_100_vs_saq": ("laneway_redis", "saq"),
    "redis_vs_sqlite_contracts_100": ("laneway_redis", "laneway_sqlite"),
    "postgres_contracts_100_vs_procrastinate": ("laneway_postgres", "procrastinate"),
    "postgres_vs_sqlite_contracts_100": ("laneway_postgres", "laneway_sqlite"),
    "fleet_3_vs_1_process": ("fleet_3", "fleet_1"),
    "http_execute_with_1000_sse_vs_without": ("http_execute_sse", "http_execute"),
}
"""Which contestant is divided by which. What is no goal is there for honesty."""

STORES = ("laneway_sqlite", "laneway_redis", "laneway_postgres")
HTTP = ("http_enqueue", "http_execute", "http_execute_sse")
FLEETS = {"fleet_1": 1, "fleet_3": 3}
CONTRACTS = 100


class DoorBenchPlan(contest.ContestPlan, frozen=True, kw_only=True):
    readers: int
    takeovers: int


FULL = DoorBenchPlan(
    rounds=5,
    jobs={
        "bare_aiohttp": 20_000,
        "http_enqueue": 20_000,
        "http_execute": 15_000,
        "http_execute_sse": 15_000,
        "arq": 2_000,
        "laneway_redis": 20_000,
        "laneway_sqlite": 20_000,
        "saq": 3_000,
        "laneway_postgres": 10_000,
        "procrastinate": 1_000,
        "fleet_1": 6_000,
        "fleet_3": 6_000,
    },
    readers=1_000,
    takeovers=2,
)

QUICK = DoorBenchPlan(
    rounds=1,
    jobs=dict.fromkeys(FULL.jobs, 300),
    readers=50,
    takeovers=1,
)


class DoorBench(Contest[DoorBenchPlan]):
    """One run."""

    name = "door"
    full, quick = FULL, QUICK
    goals, needs, packages, ratios = GOALS, NEEDS, PACKAGES, RATIOS
    seconds = {
        "bare_aiohttp": 6.0,
        "http_enqueue": 10.0,
        "http_execute": 10.0,
        "http_execute_sse": 12.0,
        "arq": 6.0,
        "laneway_redis": 6.0,
        "procrastinate": 5.0,
        "fleet_1": 6.0,
        "fleet_3": 8.0,
        "takeover": 25.0,
        "takeover_postgres": 50.0,
        "takeover_redis": 50.0,
    }
    is_divisible = False

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.events: list[int] = []
        """How many each round's audience received."""

    def measure(self, name: str, place: Path) -> Sample:
        if name in STORES:
            return self._store(name, place)
        if name in FLEETS:
            return self._fleet(name, place)
        if name == "bare_aiohttp":
            return self._bare(name, place)
        if name in HTTP:
            return self._http(name, place)
        return self._peer(name)

    # The door.

    def _bare(self, name: str, place: Path) -> Sample:
        with module("door.bare_web") as web:
            port = web.ask({"folder": str(place)})["port"]
            begun_s = web.cpu_s()
            seconds = self._press(port, name, CONTRACTS, settle=False)
            return Sample(self.plan.jobs[name], seconds, web.cpu_s() - begun_s)

    def _http(self, name: str, place: Path) -> Sample:
        work = NEVER_ENDS if name == "http_enqueue" else ENDS_AT_ONCE
        # With readers or without them, as many contracts as there could be readers.
        contracts = CONTRACTS if name == "http_enqueue" else self.plan.readers
        with ExitStack() as stack:
            up = stack.enter_context(laneway_up(place, work))
            audience: Child | None = None
            if name == "http_execute_sse":
                audience = stack.enter_context(module("door.audience"))
                question = {"port": up.port, "contracts": contracts, "readers": self.plan.readers}
                audience.ask(question, self.tick)
            begun_s = up.cpu_s()
            settle = name != "http_enqueue"
            seconds = self._press(up.port, name, contracts, settle=settle)
            spent_s = up.cpu_s() - begun_s
            if audience is not None:
                self.events.append(self._heard(audience, self.plan.jobs[name]))
        return Sample(self.plan.jobs[name], seconds, spent_s)

    def _press(self, port: int, name: str, contracts: int, *, settle: bool) -> float:
        question = {"port": port, "jobs": self.plan.jobs[name], "contracts": contracts}
        # The last execution of each contract is part of the count, and is waited for.
        settled = contracts if settle else 0
        question |= {"jobs": self.plan.jobs[name] - settled, "settle": settle}
        with module("door.pressure") as crowd:
            spent = crowd.ask({**question, "connections": CONNECTIONS}, self.tick)
        seconds: float = spent["seconds"]
        return seconds

    def _heard(self, audience: Child, jobs: int) -> int:
        """Every final answer reaches the one who follows its contract."""
        until_s = time.monotonic() + HEARD_S_MAX
        while (events := audience.ask({})["events"]) < jobs:
            if time.monotonic() > until_s:
                raise BenchFailed(f"the audience received {events} events of {jobs} executions")
        heard: int = events
        return heard

    # The stores.

    def _store(self, name: str, place: Path) -> Sample:
        jobs = self.plan.jobs[name]
        with self._engine(self._address(name, place)) as engine:
            spent = engine.ask({"do": "run", "jobs": jobs, "contracts": CONTRACTS}, self.tick)
            executed = engine.ask({"do": "close"})["executed"]
            if executed != jobs:
                raise BenchFailed(f"{name}: the store holds {executed} of {jobs} executions")
        return Sample(jobs, spent["seconds"], spent["cpu_s"])

    def _address(self, name: str, place: Path) -> str:
        """An empty store."""
        if name.endswith("redis"):
            assert self.guests.redis is not None
            self.guests.redis.clear()
            return self.guests.redis.url()
        if name.endswith("sqlite"):
            return str(place / "laneway.db")
        assert self.guests.postgres is not None
        self.guests.postgres.clear()
        return self.guests.postgres.url()

    @contextmanager
    def _engine(self, store: str, host: str = "inline") -> Iterator[Child]:
        with module("contract.driver") as engine:
            engine.ask({"store": store, "host": host})
            yield engine

    def _peer(self, name: str) -> Sample:
        jobs = self.plan.jobs[name]
        question: dict[str, object] = {"jobs": jobs, "batch": BATCH, "keys": CONTRACTS}
        if name == "procrastinate":
            assert self.guests.postgres is not None
            question["conninfo"] = self.guests.postgres.conninfo
            question["concurrency"] = PROCRASTINATE_CONCURRENCY
        else:
            assert self.guests.redis is not None
            self.guests.redis.clear()
            question["port"] = self.guests.redis.port
            question["concurrency"] = ARQ_CONCURRENCY if name == "arq" else SAQ_CONCURRENCY
        with Child(self.guests.script(f"{name}_noop.py")) as child:
            spent = child.ask(question, self.tick)
        return Sample(jobs, spent["seconds"], spent["cpu_s"])

    # The fleet.

    def _fleet(self, name: str, place: Path) -> Sample:
        """N processes offer and execute side by side on one PostgreSQL."""
        count = FLEETS[name]
        jobs = self.plan.jobs[name] // count
        store = self._address("postgres", place)
        with ExitStack() as stack:
            engines = [stack.enter_context(self._engine(store)) for _ in range(count)]
            self._share(engines, CONTRACTS)  # Until the lanes are spread.
            begun_s = time.perf_counter()
            cpu_s = self._share(engines, jobs)
            seconds = time.perf_counter() - begun_s
            for engine in engines:
                engine.ask({"do": "close"})
        return Sample(jobs * count, seconds, cpu_s)

    def _share(self, engines: list[Child], jobs: int) -> float:
        for engine in engines:
            engine.tell({"do": "share", "jobs": jobs, "contracts": CONTRACTS})
        total: float = sum(engine.hear(self.tick)["cpu_s"] for engine in engines)
        return total

    def run_takeovers(self, name: str) -> list[float]:
        """Seconds from a kill -9 until every contract of three processes executed again."""
        found = []
        for number in range(self.plan.takeovers):
            self.step(f"{name}, {number + 1} of {self.plan.takeovers}", "takeover")
            found.append(rounded(self._takeover(name)))
        return found

    def _takeover(self, name: str) -> float:
        store = self._address(name.removeprefix("takeover_"), Path())
        with ExitStack() as stack:
            engines = [stack.enter_context(self._engine(store)) for _ in range(3)]
            self._share(engines, CONTRACTS)
            self._share(engines, CONTRACTS)
            dead, *alive = engines
            dead.kill()
            begun_s = time.perf_counter()
            self._share(alive, CONTRACTS)
            seconds = time.perf_counter() - begun_s
            alive[0].ask({"do": "close"})
            executed = alive[1].ask({"do": "close"})["executed"]
            if executed != 8 * CONTRACTS:
                raise BenchFailed(f"{name}: {executed} of {8 * CONTRACTS} executions")
        return seconds

    parts = {
        "takeover_postgres": lambda self: self.run_takeovers("takeover_postgres"),
        "takeover_redis": lambda self: self.run_takeovers("takeover_redis"),
    }

    def results_of(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        readers = {"readers": self.plan.readers, "events_heard": self.events}
        return {"takeovers_s": dict(parts), "sse": readers}

    def values_of(self, parts: Mapping[str, Any]) -> dict[str, float | None]:
        kept = ratio(self.rounds, "http_execute_sse", "http_execute")
        return {
            "takeover_s": max([one for found in parts.values() for one in found], default=None),
            "sse_1000_clients_throughput_loss": None if kept is None else 1 - kept,
        }


main = DoorBench.main
