"""What one seed decides before a world of rollups begins."""

from random import Random

from msgspec import Struct
from msgspec.structs import replace

from laneway.engine.limits import BUILD_TIMEOUT_MS
from laneway.lanes.bundle.settings import PRESETS, BundleSettings
from laneway.sim.bundle.maker import SERVICE
from laneway.sim.plan import WorldPlan, crash_chances, unless_calm

NODES = ("n0", "n1")


class JamFaults(Struct, frozen=True, kw_only=True):
    """How much goes wrong on the chain's side: chances for each timeslot."""

    withhold: float
    """Of cores whose guarantors hand out nothing for a while."""
    unavailable: float
    """Of cores whose reports nobody assures for a while."""
    stall: float
    """Of finality that stands still for a while."""
    lag: float
    """Of a node that sees blocks late."""
    hide: float
    """Of a node that does not see the blocks which report what waits."""
    down: float
    """Of a node that cannot be reached."""
    skew: float
    """Of a clock that is off by more than it may be."""
    late: float
    """Of guarantees that reach the authors late."""
    pair: float
    """Of guarantors that wait for a second version."""
    forgetful: float
    """Of guarantors that drop what they hold at a rotation."""
    censor: float
    """Of a package that is taken and never guaranteed."""
    mismatch: float
    """Of guarantees by the wrong guarantors."""
    part: float
    """Of a network that is cut in two."""
    skip: float
    """Of a slot without a block."""
    reorg: float
    """Of blocks that are replaced by others."""
    swing: float
    """Of a fork that was left and comes back."""
    stranger: float = 0.0
    """Of a block of the same rollup that somebody else brings."""
    restore: float = 0.0
    """Of a copy of the store that is put back."""
    second: float = 0.0
    """Of a second deployment that begins to build for some slots, whenever it paused."""
    doubt: float = 0.0
    """Of one node of two that shows something else than the other."""


class RollupPlan(WorldPlan, frozen=True, kw_only=True):
    is_calm: bool
    """Nothing goes wrong but what callers want, and processes that are frozen."""
    settings: BundleSettings
    slot_ms: int
    faults: JamFaults
    finality_lag: int
    look_limit: int
    """Blocks of one look."""
    tells_history: bool
    """Whether nodes serve the draft call by which the chain's own history is read."""
    keeps_reported: bool
    """Whether guarantors report again after a fork what they reported before it."""
    is_forking: bool = False
    """Whether forks are deep, and come back."""
    has_calendar: bool
    """Whether the chain has one, so that a clock can be known to be off."""
    refuse: float
    """Chance that a node refuses what it would have taken at another time."""
    condemn: float
    """Chance that nodes refuse a package for good."""
    mumble: float
    """Chance that a node answers with an error message that proves nothing."""
    double: float
    """Chance that bytes which a node may have arrive a second time, and late."""
    build: float
    """Chance that a builder fails."""
    hopeless: float
    """Chance that a builder says that there never will be a package of a block."""
    deaf: float
    """Chance that a callback fails."""
    slow: float = 0.0
    """Chance that a builder takes long before it begins with an order, perhaps longer than its lane
    waits."""
    overlong: float = 0.0
    """Chance that executing a block takes longer than it may."""
    help: float = 0.0
    """Chance that a builder lacks what only an operator can bring."""
    packing_ms: int = 0
    """How long a builder takes for each package."""
    build_timeout_ms: int = BUILD_TIMEOUT_MS
    """How long a lane waits for its builder."""
    priorities: bool
    swallows: bool = False
    """Whether one of two nodes takes every package and never passes one on, as long as the world
    lasts."""


def rollup_plan(seed: int, *, shared: bool = True) -> RollupPlan:
    """The plan of one seed. `shared` says whether two processes may use the store at once."""
    rng = Random(f"{seed}/rollup plan")
    calm = rng.random() < 0.12
    some = unless_calm(rng, calm=calm)
    slot_ms = rng.choice((400, 500, 600))
    delay_ms = rng.choice((1, 10, 40))
    plan = RollupPlan(
        seed=seed,
        is_calm=calm,
        intents=rng.randint(7, 12) if rng.random() < 0.1 else rng.randint(2, 6),
        settings=rollup_settings(rng, slot_ms),
        slot_ms=slot_ms,
        faults=faults_plan(rng, calm=calm),
        finality_lag=rng.choice((1, 2, 2, 3)),
        look_limit=rng.choice((1, 2, 64, 64)),
        tells_history=rng.random() < 0.7,
        keeps_reported=not calm and rng.random() < 0.2,
        has_calendar=rng.random() < 0.7,
        refuse=some(0.0, 0.0, 0.15),
        condemn=some(0.0, 0.0, 0.0, 0.15),
        mumble=some(0.0, 0.0, 0.1),
        double=some(0.0, 0.1),
        build=some(0.0, 0.0, 0.15),
        hopeless=some(0.0, 0.0, 0.0, 0.0, 0.1),
        deaf=some(0.0, 0.0, 0.2),
        priorities=rng.random() < 0.15,
        **crash_chances(rng, some, shared=shared),
        foreign=0.0,
        operator=0.04 if not calm and rng.random() < 0.4 else 0.0,
        delay_ms=delay_ms,
        processes=rng.choice((1, 1, 2, 3)) if shared else 1,
    )
    if not calm and rng.random() < 0.3:
        plan = forking(plan, rng)
    # Drawn last, so that the plans of worlds without strangers are what they were.
    stranger = rng.choice((0.03, 0.1, 0.3)) if not calm and rng.random() < 0.25 else 0.0
    restore = rng.choice((0.05, 0.1, 0.3)) if not calm and rng.random() < 0.25 else 0.0
    swallows = not calm and len(plan.settings.nodes) > 1 and rng.random() < 0.25
    faults = replace(plan.faults, stranger=stranger, restore=restore)
    return with_later_faults(replace(plan, faults=faults, swallows=swallows))


def with_later_faults(plan: RollupPlan) -> RollupPlan:
    """Faults that were thought of later, each in a share of the worlds. They have a stream of their
    own, so that all other worlds are what they were."""
    if plan.is_calm:
        return plan
    rng = plan.rng("later faults")
    jump = rng.choice((0.002, 0.01)) if rng.random() < 0.2 else 0.0
    clocks = plan.processes if rng.random() < 0.5 else 1
    slow = rng.choice((0.02, 0.1, 0.3)) if rng.random() < 0.15 else 0.0
    faults = plan.faults
    if len(plan.settings.nodes) > 1 and rng.random() < 0.2:
        faults = replace(faults, doubt=rng.choice((0.1, 0.5)))
    if rng.random() < 0.12:
        faults = replace(faults, second=rng.choice((0.4, 0.9)))
    return replace(
        plan,
        faults=faults,
        jump=jump,
        clocks=clocks,
        slow=slow,
        overlong=rng.choice((0.0, 0.02, 0.1)) if slow else 0.0,
        build_timeout_ms=rng.choice((3, 6)) * plan.slot_ms if slow else BUILD_TIMEOUT_MS,
        help=rng.choice((0.02, 0.1)) if rng.random() < 0.1 else 0.0,
        packing_ms=int(rng.choice((0.4, 0.7)) * plan.slot_ms) if rng.random() < 0.1 else 0,
    )


def forking(plan: RollupPlan, rng: Random) -> RollupPlan:
    """A world of forks that are left and come back, with anchors so deep that a package is good on
    both sides: only there two versions of a block can be guaranteed."""
    settings = replace(
        plan.settings,
        nodes=NODES[:1],
        winner=rng.choice(("first_guarantee_wins", "latest_version")),
        anchor_policy="formula",
        anchor_age_blocks_max=6,
        guarantee_timeout_ms=1,
        accumulate_timeout_ms=1,
        accumulate_timeouts_max=1,
        max_version_retries=5,
        poll_ms=plan.slot_ms // 4,
    )
    some = replace(faults_plan(rng, calm=True), reorg=0.2, swing=0.3)
    faults = replace(some, unavailable=rng.choice((0.0, 0.1)), part=rng.choice((0.0, 0.0, 0.1)))
    return replace(
        plan, settings=settings, faults=faults, keeps_reported=rng.random() < 0.7, is_forking=True
    )


def faults_plan(rng: Random, *, calm: bool) -> JamFaults:
    """Most worlds have a few troubles, and some of them have many."""
    some = unless_calm(rng, calm=calm)
    return JamFaults(
        withhold=some(0.0, 0.0, 0.06, 0.15),
        unavailable=some(0.0, 0.0, 0.0, 0.08),
        stall=some(0.0, 0.0, 0.05, 0.15),
        lag=some(0.0, 0.0, 0.1),
        hide=some(0.0, 0.0, 0.1),
        down=some(0.0, 0.0, 0.08),
        skew=some(0.0, 0.0, 0.0, 0.05),
        late=some(0.0, 0.0, 0.0, 0.1),
        pair=some(0.0, 0.0, 0.0, 0.08),
        forgetful=some(0.0, 0.0, 0.0, 0.1),
        censor=some(0.0, 0.0, 0.1),
        mismatch=some(0.0, 0.0, 0.0, 0.08),
        part=some(0.0, 0.0, 0.0, 0.05),
        skip=some(0.0, 0.05, 0.2),
        reorg=some(0.0, 0.0, 0.08, 0.2),
        swing=some(0.0, 0.0, 0.15),
    )


def rollup_settings(rng: Random, slot_ms: int) -> BundleSettings:
    """The defaults, or a seed's, with six seconds made into a slot of this world."""
    chosen = rng.random()
    base = BundleSettings()
    if chosen < 0.3:
        base = PRESETS["seed-000" if chosen < 0.15 else "seed-001"]
    else:
        base = replace(
            base,
            order=rng.choice(("chained", "chained", "parallel")),
            winner=rng.choice(("first_guarantee_wins", "first_guarantee_wins", "latest_version")),
            inflight_counts=rng.choice(("submitted", "submitted_and_guaranteed")),
            core_reuse=rng.choice(("expected", "ready", "guaranteed")),
            anchor_policy=rng.choice(("freshest", "freshest", "table", "formula")),
        )
    third, half = slot_ms // 3, slot_ms // 2
    is_wide = rng.random() < 0.4
    timeout_slots = rng.choice((None, 1, 3, 9))
    return replace(
        base,
        service=SERVICE,
        nodes=NODES if rng.random() < 0.8 else NODES[:1],
        cores=(0, 1) if rng.random() < 0.8 else (1,),
        max_queue_depth=rng.choice((1, 2, 8)),
        max_inflight=rng.choice((1, 2, 3, 5)),
        retention_window=rng.choice((1, 100)),
        block_interval_ms=rng.choice((half, slot_ms)),
        block_txs_max=rng.choice((1, 2, 2, 4)),
        slot_ms=slot_ms,
        guarantee_timeout_ms=None if timeout_slots is None else timeout_slots * slot_ms,
        accumulate_timeout_ms=rng.choice((3, 10)) * slot_ms,
        accumulate_timeouts_max=rng.choice((1, 3)),
        submit_retry_ms=rng.choice((half, slot_ms)),
        max_submit_retries=rng.choice((2, 8)),
        max_version_retries=rng.choice((2, 5)),
        drops_max=rng.choice((2, 3)),
        build_from_ms=slot_ms if is_wide else half,
        build_until_ms=0 if is_wide else third,
        submit_from_ms=slot_ms if is_wide else half,
        submit_until_ms=0 if is_wide else slot_ms // 6,
        # A block is received when the chain is looked at next, which may be a slot later.
        clock_skew_ms_max=slot_ms + half,
        # The seed's anchors are six blocks old from the start.
        anchor_age_blocks_max=rng.choice((2, 6)) if base.anchor_policy == "freshest" else 6,
        poll_ms=rng.choice((half, slot_ms)),
        build_retry_ms=rng.choice((20, 100)),
        tell_retry_ms=rng.choice((20, 100)),
    )
