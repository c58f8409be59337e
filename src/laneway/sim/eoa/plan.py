"""What one seed decides before a world of accounts begins."""

from random import Random

import msgspec
from msgspec import Struct

from laneway.devnets.evm.model.rules import ANVIL, GETH, EvmRules
from laneway.lanes.eoa.fees import UNKNOWN_CHAIN_WEI
from laneway.lanes.eoa.settings import EoaSettings
from laneway.sim.plan import WorldPlan, crash_chances, unless_calm

GWEI = 10**9
NODES = ("n0", "n1")
THREE_NODES = ("n0", "n1", "n2")
"""Of worlds in which one of them lies."""
GAS = 60_000
"""What nodes estimate for every call: even a transfer that is too large needs less."""
SIZE_BYTES_MAX = 300
"""A transfer has 130 bytes; a caller sometimes wants one that no node takes."""


class EvmFaults(Struct, frozen=True, kw_only=True):
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


class EoaPlan(WorldPlan, frozen=True, kw_only=True):
    accounts: int
    settings: EoaSettings
    rules: EvmRules
    client: str
    """The client whose error messages the nodes use."""
    block_ms: int
    faults: EvmFaults
    refuse: float
    """Chance that a node refuses bytes for good which it would have taken at another time."""
    double: float
    """Chance that bytes arrive a second time, and late."""
    condemn: float
    """Chance that every node refuses an attempt for good."""
    sign: float
    """Chance that a signer elsewhere cannot be reached."""
    prompt: bool
    """Whether signing is part of the turn that orders it."""
    watch: float
    """Chance that a new block is announced to those who follow the chain."""
    poor: bool
    """Whether an account begins with money for a few attempts only."""
    slow: float
    """Chance that a question to a node takes time; otherwise only the whole look does."""
    outage: float
    """Chance that a look finds no node, nor does anything else for seconds."""
    fee_lie: float
    """Chance that a look returns a tip that nobody should pay."""
    lying: bool = False
    """Whether one node lies, while things go wrong."""
    caps_fees: bool = True
    """Whether, where one lies, honest nodes refuse some bytes by a rule of their own."""


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
    some = unless_calm(rng, calm=calm)
    planned = EoaPlan(
        seed=seed,
        accounts=rng.choice((1, 1, 2, 3)),
        intents=rng.randint(18, 30) if rng.random() < 0.1 else rng.randint(2, 9),
        settings=eoa_settings(rng, THREE_NODES if lying else NODES),
        lying=lying,
        rules=rules,
        client=client,
        block_ms=rng.choice((100, 250, 500)),
        faults=EvmFaults(
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
        condemn=some(0.0, 0.0, 0.3),
        sign=some(0.0, 0.1),
        prompt=rng.random() < 0.5,
        watch=rng.choice((0.0, 0.5)),
        poor=not calm and rng.random() < 0.15,
        **crash_chances(rng, some, shared=shared),
        foreign=0.1 if rng.random() < 0.2 else 0.0,
        operator=0.03 if rng.random() < 0.4 else 0.0,
        delay_ms=rng.choice((1, 20, 120)),
        processes=rng.choice((1, 1, 2, 3)) if shared else 1,
        slow=rng.choice((0.0, 0.0, 0.3)),
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
