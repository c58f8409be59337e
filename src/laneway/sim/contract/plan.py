"""What one seed decides before a world of contracts begins."""

from random import Random

from laneway.lanes.contract import ContractSettings
from laneway.sim.plan import WorldPlan, crash_chances, unless_calm


class ContractPlan(WorldPlan, frozen=True, kw_only=True):
    contracts: int
    settings: ContractSettings
    round_ms: int
    fault: float
    """Chance that an execution goes wrong on the host."""


def contract_plan(seed: int, *, shared: bool = True) -> ContractPlan:
    """The plan of one seed. `shared` says whether two processes may use the store at once."""
    rng = Random(f"{seed}/plan")
    takes_parent = rng.random() < 0.75
    some = unless_calm(rng, calm=rng.random() < 0.1)
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
    return ContractPlan(
        seed=seed,
        contracts=rng.choice((1, 1, 2, 3)),
        intents=rng.randint(2, 9),
        settings=settings,
        round_ms=rng.choice((5, 100, 250)),
        **crash_chances(rng, some, shared=shared, freeze=0.01, crash=(0.0, 0.01, 0.04)),
        fault=some(0.0, 0.2, 0.5),
        foreign=0.1 if rng.random() < 0.2 else 0.0,
        operator=0.03 if rng.random() < 0.3 else 0.0,
        delay_ms=rng.choice((1, 20, 120)),
        processes=rng.choice((1, 1, 2, 3)) if shared else 1,
    )
