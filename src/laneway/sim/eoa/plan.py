"""What one seed decides before a world of accounts begins."""

from random import Random

import msgspec
from msgspec import Struct

from laneway.devnets.evm.rules import ANVIL, GETH, Rules
from laneway.engine.windows import Windows
from laneway.lanes.eoa.ceilings import UNKNOWN_CHAIN_WEI
from laneway.lanes.eoa.settings import EoaSettings
from laneway.sim.plan import Weather

GWEI = 10**9
NODES = ("n0", "n1")
THREE_NODES = ("n0", "n1", "n2")
"""Of worlds in which one of them lies."""
GAS = 60_000
"""Of every attempt: even a transfer that is too large needs less."""
SIZE_BYTES_MAX = 300
"""A transfer has 130 bytes; a caller sometimes wants one that no node takes."""


class Sky(Struct, frozen=True, kw_only=True):
    """How much goes wrong on the chain's side: chances for each block."""

    reorg: float
    storm: float
    """Of a base fee that jumps."""
    drop: float
    """Of a pool that forgets one transaction."""
    restart: float
    """Of a node that dies and comes back without its pool."""
    trail: float
    """Of a node that falls behind, or stands still, and of one that catches up."""
    gossip: float
    """Of a node that passes on what its pool holds."""
    skip: float
    """Of a transaction that is left for a later block."""


class EoaPlan(Weather, frozen=True, kw_only=True):
    accounts: int
    settings: EoaSettings
    rules: Rules
    client: str
    """Whose words the nodes speak."""
    block_ms: int
    sky: Sky
    refuse: float
    """Chance that a node refuses bytes for good which it would have taken at another time."""
    double: float
    """Chance that bytes arrive a second time, and late."""
    gas: float
    """Chance that an attempt is made with too little gas, so that every node refuses it."""
    sign: float
    """Chance that an attempt cannot be made now."""
    prompt: bool
    """Whether signing is part of the turn that orders it."""
    watch: float
    """Chance that the processes hear of a new block."""
    poor: bool
    """Whether an account begins with money for a few attempts only."""
    gather_ms: int
    """For how long answers are gathered before the lane hears them together; 0: one by one."""
    outage: float
    """Chance that a look finds no node, nor does anything else for seconds."""
    fee_lie: float
    """Chance that a look is told a tip that nobody should pay."""
    lying: bool = False
    """Whether one node lies, while things go wrong."""


def eoa_plan(seed: int, *, shared: bool = True, lying: bool = False) -> EoaPlan:
    """The plan of one seed. `shared` says whether two processes may use the store at once, `lying`
    whether there are three nodes of which one lies."""
    rng = Random(f"{seed}/eoa plan")
    calm = rng.random() < 0.1
    client, rules = rng.choice((("geth", GETH), ("anvil", ANVIL)))
    rules = msgspec.structs.replace(
        rules,
        size_bytes_max=SIZE_BYTES_MAX,
        pool_count_max=rng.choice((None, None, 4)),
    )

    def some(*chances: float) -> float:
        return 0.0 if calm else rng.choice(chances)

    planned = EoaPlan(
        seed=seed,
        accounts=rng.choice((1, 1, 2, 3)),
        intents=rng.randint(18, 30) if rng.random() < 0.1 else rng.randint(2, 9),
        settings=eoa_settings(rng, THREE_NODES if lying else NODES),
        lying=lying,
        rules=rules,
        client=client,
        block_ms=rng.choice((100, 250, 500)),
        sky=Sky(
            reorg=some(0.0, 0.05, 0.2),
            storm=some(0.0, 0.0, 0.05),
            drop=some(0.0, 0.05),
            restart=some(0.0, 0.0, 0.05),
            trail=some(0.0, 0.0, 0.1),
            gossip=rng.choice((0.2, 0.7)),
            skip=some(0.0, 0.2, 0.6),
        ),
        refuse=some(0.0, 0.0, 0.15),
        double=some(0.0, 0.1),
        gas=some(0.0, 0.0, 0.3),
        sign=some(0.0, 0.1),
        prompt=rng.random() < 0.5,
        watch=rng.choice((0.0, 0.5)),
        poor=not calm and rng.random() < 0.15,
        windows=Windows(
            backlog_page=rng.choice((1, 2, 12)),
            events_per_turn=rng.choice((1, 2, 256)),
            idle_lanes=rng.choice((0, 1, 100)),
        ),
        crash=some(0.0, 0.004, 0.02),
        freeze=0.005 if shared and rng.random() < 0.3 else 0.0,
        lose=some(0.0, 0.03, 0.15),
        foreign=0.1 if rng.random() < 0.2 else 0.0,
        operator=0.03 if rng.random() < 0.4 else 0.0,
        delay_ms=rng.choice((1, 20, 120)),
        processes=rng.choice((1, 1, 2, 3)) if shared else 1,
        gather_ms=rng.choice((0, 0, 150)),
        fee_lie=some(0.0, 0.0, 0.1),
        outage=some(0.0, 0.0, 0.03),
    )
    timed = msgspec.structs.replace(planned.settings, block_ms=planned.block_ms)
    return msgspec.structs.replace(planned, settings=timed)


def eoa_settings(rng: Random, nodes: tuple[str, ...] = NODES) -> EoaSettings:
    """Seed 002's numbers, with hours made into seconds."""
    bound = rng.randrange(8)
    return EoaSettings(
        nodes=nodes,
        target_tps=1,
        finality_depth_blocks=rng.choice((1, 2, 3)),
        bump_after_ms=rng.choice((400, 1_500)),
        recycled_max=rng.choice((1, 5)),
        recycled="any" if rng.random() < 0.2 else "returned",
        fee_wei_max=5 * GWEI if bound == 0 else UNKNOWN_CHAIN_WEI,
        fee_by_base=bound != 0,
        cost_wei_max=5 * GWEI * GAS if bound == 1 else None,
        spend_wei_max=12 * GWEI * GAS if bound == 2 else None,
        look_ms_min=rng.choice((10, 100)),
        rest_ms=rng.choice((400, 2_000)),
        poll_ms=rng.choice((60, 200)),
        resend_ms=rng.choice((150, 500)),
        make_retry_ms=rng.choice((20, 100)),
        funds_check_ms=1_000,
        funds_retry_ms=300,
    )
