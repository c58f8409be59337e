"""What one seed decides before its world begins: sizes, settings and how much goes wrong."""

from random import Random

from msgspec import Struct

from laneway.engine.windows import Windows
from laneway.lanes.contract import ContractSettings


class Weather(Struct, frozen=True, kw_only=True):
    """What every world's plan says, whatever its lanes are."""

    seed: int
    intents: int
    windows: Windows
    crash: float
    """Chance that a step kills the process it belongs to."""
    freeze: float
    """Chance that a step freezes it past its lease; only where two processes can share a store."""
    lose: float
    """Chance that an answer is lost, and that a host cannot be reached."""
    foreign: float
    """Chance that someone else writes to a contract, or uses an account."""
    operator: float
    """Chance of an operator's word."""
    delay_ms: int
    """The longest way of a message."""
    processes: int = 1
    """How many share the store from the start."""

    def rng(self, actor: str) -> Random:
        """One stream an actor: what one does leaves the others' dice alone."""
        return Random(f"{self.seed}/{actor}")


class Plan(Weather, frozen=True, kw_only=True):
    """Everything about a world of contracts that does not depend on what happens in it."""

    contracts: int
    settings: ContractSettings
    round_ms: int
    fault: float
    """Chance that an execution goes wrong on the host."""


def plan(seed: int, *, shared: bool = True) -> Plan:
    """The plan of one seed. `shared` says whether two processes may use the store at once."""
    rng = Random(f"{seed}/plan")
    takes_parent = rng.random() < 0.75
    calm = rng.random() < 0.1
    limited = rng.random() < 0.1
    settings = ContractSettings(
        fast_size=rng.choice((1, 2, 5)),
        execution_ms_max=rng.choice((600, 1_500, 4_000)),
        search_ms=rng.choice((50, 300)),
        retry_ms_min=rng.choice((20, 100)),
        retry_ms_max=400,
        stale_retries_max=rng.choice((2, 5, 50)),
        exhausted=rng.choice(("halt", "skip")),
        breaker_failures=rng.choice((1, 2, 4)),
        breaker_open_ms=rng.choice((200, 1_000)),
        priorities=rng.random() < 0.2,
        count_max=3 if limited else None,
        limit_policy="reject" if limited else "spill",
        takes_parent=takes_parent,
    )
    return Plan(
        seed=seed,
        contracts=rng.choice((1, 1, 2, 3)),
        intents=rng.randint(2, 9),
        settings=settings,
        round_ms=rng.choice((5, 100, 250)),
        windows=Windows(
            backlog_page=rng.choice((1, 2, 12)),
            events_per_turn=rng.choice((1, 2, 256)),
            idle_lanes=rng.choice((0, 1, 100)),
        ),
        crash=0.0 if calm else rng.choice((0.0, 0.01, 0.04)),
        freeze=0.01 if shared and rng.random() < 0.3 else 0.0,
        lose=0.0 if calm else rng.choice((0.0, 0.03, 0.15)),
        fault=0.0 if calm else rng.choice((0.0, 0.2, 0.5)),
        foreign=0.1 if rng.random() < 0.2 else 0.0,
        operator=0.03 if rng.random() < 0.3 else 0.0,
        delay_ms=rng.choice((1, 20, 120)),
        processes=rng.choice((1, 1, 2, 3)) if shared else 1,
    )
