"""What one seed decides before a world of Cosmos accounts begins."""

from random import Random

from msgspec import Struct
from msgspec.structs import replace

from laneway.devnets.cosmos.limits import GAS_PRICE_MICRO
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.lanes.sequence.settings import SequenceSettings
from laneway.sim.plan import WorldPlan, crash_chances, unless_calm

NODES = ("n0", "n1", "n2")
"""The third is there where one of them lies."""
LIES = (
    "height",
    "sequence",
    "inclusion",
    "network",
    "address",
    "number",
    "missing",
    "offer",
    "proof",
    "origin",
)
"""What a node may say that is not so."""
EXPIRY = "expiry"
"""A lie of its own worlds: what the node took it calls too late, and it never counts it. An honest
node that was away until then says the same, for it looks at the timeout before the sequence."""
TX_BYTES_MAX = 800
"""What a node takes at most: a transfer has 320 bytes, and a caller sometimes wants more."""


class CosmosFaults(Struct, frozen=True, kw_only=True):
    """How much goes wrong on the chain's side: chances for each block."""

    hold: float
    """Of proposers that leave everything out for a while."""
    evict: float
    """Of a mempool that drops one transaction."""
    restart: float
    """Of a node that comes back without its mempool and its memory."""
    stop: float
    """Of a node that is down for a while."""
    cut: float
    """Of a node that receives no transaction from the others, and of one that does again."""
    lag: float
    """Of a node that shows old blocks, and of one that catches up."""
    blind: float
    """Of a node that does not find what is in blocks, and of one that finds it again."""
    storm: float
    """Of a node that wants more for a unit of gas, or less again."""


class CosmosPlan(WorldPlan, frozen=True, kw_only=True):
    is_calm: bool
    """Nothing goes wrong but what callers want, and processes that are frozen."""
    accounts: int
    settings: SequenceSettings
    mempool: MempoolRules
    checks_signatures: bool
    block_ms: int
    faults: CosmosFaults
    refuse: float
    """Chance that a node refuses what it would have taken at another time."""
    mumble: float
    """Chance that a node answers with an error message that proves nothing."""
    double: float
    """Chance that bytes which a node may have arrive a second time, and late."""
    sign: float
    """Chance that bytes cannot be made now."""
    prompt: bool
    """Whether signing is part of the turn that orders it."""
    price_micro: int | None
    """What the operator pays for a unit of gas; None: what nodes ask for."""
    slow: float
    """Chance that a question about gas takes time."""
    proofs: bool
    """Whether nodes know who used a number; they need an index for it."""
    poor: bool
    """Whether an account begins with money for a few transactions only."""
    absent: bool
    """Whether an account does not exist before someone pays into it."""
    rewired: bool
    """Whether the operator changes the nodes that lanes are offered to."""
    priorities: bool
    names: tuple[str, ...] = NODES[:2]
    """The nodes of the chain."""
    liar: str = ""
    """The node that lies as long as there are faults; empty: none does."""
    lies: tuple[str, ...] = ()
    """What it lies about."""
    lie: float = 0.0
    """Chance that an answer of it is a lie."""
    ante: float = 0.0
    """Chance that a transaction fails in its block before its fee and its number are taken."""
    apart: float = 0.0
    """Chance for each block that all nodes but the liar cannot be reached until what is signed now
    is too late."""
    untold: bool
    """Whether the second node reports of a transaction only that it is in a block."""


def cosmos_plan(seed: int, *, shared: bool = True, lying: bool = False) -> CosmosPlan:
    """The plan of one seed. `shared` says whether two processes may use the store at once, and
    `lying` whether there are three nodes of which one lies."""
    plan = honest_plan(seed, shared=shared)
    return lying_plan(plan) if lying else plan


def lying_plan(plan: CosmosPlan) -> CosmosPlan:
    """The same with a third node, and one that lies. The others say nothing that is not so: of
    three nodes one may be false, and not two."""
    rng = Random(f"{plan.seed}/cosmos lies")
    lying = replace(
        plan,
        is_calm=False,
        names=NODES,
        settings=replace(plan.settings, nodes=NODES),
        liar=rng.choice(NODES),
        lies=tuple(rng.sample(LIES, rng.choice((1, 2, 3, len(LIES))))),
        lie=rng.choice((0.2, 0.6, 1.0)),
        ante=rng.choice((0.0, 0.1, 0.4)),
        rewired=False,
        refuse=0.0,
    )
    if rng.random() < 0.9:
        return lying
    # An intent that is signed once, in calm weather but for nodes that are away: a node that
    # calls its bytes too late says so of all that there is.
    once = replace(lying.settings, attempts_max=1)
    return replace(lying, settings=once, lies=(EXPIRY,), apart=0.2, mumble=0.0, lose=0.0)


def honest_plan(seed: int, *, shared: bool) -> CosmosPlan:
    """The plan of one seed, in which no node lies."""
    rng = Random(f"{seed}/cosmos plan")
    calm = rng.random() < 0.1
    some = unless_calm(rng, calm=calm)
    block_ms = rng.choice((100, 200, 400))
    delay_ms = rng.choice((1, 20, 120))
    plan = CosmosPlan(
        seed=seed,
        is_calm=calm,
        accounts=rng.choice((1, 1, 1, 2)),
        intents=rng.randint(12, 20) if rng.random() < 0.1 else rng.randint(2, 8),
        settings=cosmos_settings(rng, block_ms, delay_ms),
        mempool=mempool_rules(rng, calm=calm),
        checks_signatures=rng.random() < 0.3,
        block_ms=block_ms,
        faults=CosmosFaults(
            hold=some(0.0, 0.0, 0.05),
            evict=some(0.0, 0.05, 0.2),
            restart=some(0.0, 0.0, 0.04),
            stop=some(0.0, 0.0, 0.04),
            cut=some(0.0, 0.05),
            lag=some(0.0, 0.0, 0.1),
            blind=some(0.0, 0.0, 0.05),
            storm=some(0.0, 0.0, 0.1),
        ),
        refuse=some(0.0, 0.0, 0.1),
        mumble=some(0.0, 0.0, 0.1),
        double=some(0.0, 0.1),
        sign=some(0.0, 0.1),
        prompt=rng.random() < 0.5,
        proofs=calm or rng.random() < 0.7,
        poor=not calm and rng.random() < 0.12,
        absent=not calm and rng.random() < 0.12,
        rewired=not calm and rng.random() < 0.15,
        priorities=rng.random() < 0.15,
        **crash_chances(rng, some, shared=shared),
        foreign=0.15 if not calm and rng.random() < 0.25 else 0.0,
        operator=0.04 if not calm and rng.random() < 0.4 else 0.0,
        delay_ms=delay_ms,
        processes=rng.choice((1, 1, 2, 3)) if shared else 1,
        untold=rng.random() < 0.1,
        slow=rng.choice((0.0, 0.0, 0.3)),
        price_micro=rng.choice((None, GAS_PRICE_MICRO, 6 * GAS_PRICE_MICRO)),
    )
    if not plan.rewired:
        return plan
    # What a node that left holds, and nobody else has, is what can go wrong there.
    faults = replace(plan.faults, cut=0.3)
    return replace(plan, faults=faults, refuse=max(plan.refuse, 0.1))


def cosmos_settings(rng: Random, block_ms: int, delay_ms: int) -> SequenceSettings:
    """The defaults with their minutes made into seconds; between a look and the block that holds
    what was made upon it are a dozen messages, so bytes live longer than these take."""
    messages = 16 * delay_ms // block_ms
    return SequenceSettings(
        nodes=NODES[:2] if rng.random() < 0.8 else NODES[:1],
        inflight=rng.choice((1, 3, 8)),
        timeout_blocks=messages + rng.choice((4, 8, 20)),
        attempts_max=rng.choice((1, 2, 3)),
        poll_ms=rng.choice((block_ms // 2, block_ms, 2 * block_ms)),
        statuses=rng.choice((2, 100)),
        retry_ms=rng.choice((20, 100)),
        make_retry_ms=rng.choice((20, 100)),
        make_tries_max=rng.choice((1, 3)),
        rest_ms=rng.choice((300, 2_000)),
        account_ms=500,
        conflict_blocks=rng.choice((2, 6)),
        watch_blocks=rng.choice((5, 30)),
        block_ms=block_ms,
    )


def mempool_rules(rng: Random, *, calm: bool) -> MempoolRules:
    return MempoolRules(
        ttl_blocks=0 if calm else rng.choice((0, 3, 8)),
        count_max=100 if calm else rng.choice((2, 4, 100, 100)),
        tx_bytes_max=TX_BYTES_MAX,
        rejected_max=rng.choice((3, 1_000)),
        evicted_max=rng.choice((2, 1_000)),
    )
