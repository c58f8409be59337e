"""What docs/rollup-lane.md shows of the machine: states, what keeps a core, which signal moves a
block, parameters. Scenes of the lane's own tests are played, and the machine is asked."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import fields, replace
from tests.lanes.bundle.scenes import reported, show
from tests.lanes.bundle.stage import SLOT_MS, Stage, queued, submitted

from laneway.core.jam import PackageKind, Ready, ServiceRefused
from laneway.core.rows import Touched
from laneway.kinds.rollup.section import BundleSection
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.limits import RETRY_GROWTH_MAX
from laneway.lanes.bundle.records import BlockDropped, BlockUnmade, StatusChanged
from laneway.lanes.bundle.rows import SAME_BLOCK_APPLIED, BlockState
from laneway.lanes.bundle.settings import PRESETS, BundleSettings
from laneway.lanes.bundle.standing import current, engaged_cores, inflight, status_of
from laneway.lanes.kind import LaneKind
from laneway.sim.bundle.plan import rollup_plan
from laneway.sim.bundle.world import RollupWorld
from laneway.sim.disks import MemoryDisk

# States.

WORLDS = range(60)

DROPPED, UNMADE = "dropped", "unmade"
ARROWS = (
    ("building", "queued", "executed and sealed"),
    ("building", UNMADE, "nothing would be in it"),
    ("building", DROPPED, "with the block below it"),
    ("queued", "submitted", "offered to nodes"),
    ("queued", "guaranteed", "an earlier version landed"),
    ("queued", "accumulated", "an earlier version landed"),
    ("queued", "finalised", "an earlier version landed"),
    ("queued", DROPPED, "with the block below it, or no package can be made"),
    ("submitted", "queued", "all versions dead and their time over, or a fork"),
    ("submitted", "guaranteed", "reported"),
    ("submitted", "accumulated", "one look showed both"),
    ("submitted", "finalised", "one look showed all"),
    ("submitted", DROPPED, "dead for good, the fifth version or for every version"),
    ("guaranteed", "queued", "the report came to nothing"),
    ("guaranteed", "submitted", "a fork"),
    ("guaranteed", "accumulated", "the service's record"),
    ("guaranteed", "finalised", "one look showed both"),
    ("guaranteed", DROPPED, "with the block below it"),
    ("accumulated", "queued", "a fork"),
    ("accumulated", "submitted", "a fork"),
    ("accumulated", "guaranteed", "a fork"),
    ("accumulated", "finalised", "its JAM block is final"),
)
"""All that 1,500 worlds took. A world that takes another one ends the drawing."""


def watched(kind: LaneKind, seen: set[tuple[str, str]]) -> LaneKind:
    evolve = kind.evolve

    def see(lane: BundleLane, record: Any) -> Touched:
        if isinstance(record, StatusChanged):
            seen.add((record.before, record.word))
        elif isinstance(record, BlockDropped):
            seen.add((lane.slots[record.slot].word, DROPPED))
        elif isinstance(record, BlockUnmade):
            seen.add((lane.slots[record.slot].word, UNMADE))
        return evolve(lane, record)

    return replace(kind, evolve=see)


def states() -> list[str]:
    seen: set[tuple[str, str]] = set()
    for seed in WORLDS:
        world = RollupWorld(rollup_plan(seed), MemoryDisk())
        world.kinds = {name: watched(kind, seen) for name, kind in world.kinds.items()}
        world.run()
    unknown = seen - {(here, there) for here, there, _ in ARROWS}
    if unknown:
        raise SystemExit(f"the chart of blocks has no arrow for {sorted(unknown)}")
    lines = ["```mermaid", "stateDiagram-v2", "  [*] --> building: transactions from the pool"]
    lines += [f"  {here} --> {there}: {words}" for here, there, words in ARROWS]
    ends = ("finalised", DROPPED, UNMADE)
    return [*lines, *(f"  {end} --> [*]" for end in ends), "```"]


# What keeps a core from others.


def popped(**settings: Any) -> Stage:
    stage = queued(**settings)
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - 2_500
    stage.tick()
    return stage


def made(**settings: Any) -> Stage:
    """Its bytes are durable, and the window was over before they could be submitted."""
    stage = popped(**settings)
    stage.now_ms += 2_000
    stage.make()
    return stage


def guaranteed(**settings: Any) -> Stage:
    stage = submitted(**settings)
    report(stage)
    return stage


def dead(**settings: Any) -> Stage:
    stage = submitted(**settings)
    age(stage)
    return stage


def unavailable(slots: int) -> Callable[..., Stage]:
    """Reported, and for so many blocks nobody assures it."""

    def scene(**settings: Any) -> Stage:
        stage = guaranteed(**settings)
        for _ in range(slots):
            stage.slot(ready=())
        return stage

    return scene


def ready(**settings: Any) -> Stage:
    """Available, and not accumulated."""
    stage = submitted(**settings)
    told = reported(stage)
    show(stage, (1, 1, told))
    newest = stage.chain.best.ref
    show(stage, (1, 1, Ready(told.reported_in, 0, b"", newest)))
    return stage


def accumulated(**settings: Any) -> Stage:
    stage = guaranteed(**settings)
    stage.slot()
    return stage


def finalised(**settings: Any) -> Stage:
    stage = accumulated(**settings)
    finalise(stage)
    return stage


MOMENTS: tuple[tuple[str, str, Callable[..., Stage]], ...] = (
    ("queued, it waits for a version", "no", queued),
    ("queued, its version is being made", "–", popped),
    ("queued, its version waits to be submitted", "–", made),
    ("submitted", "**yes**", submitted),
    ("submitted, and dead", "–", dead),
    ("guaranteed, in the newest block", "no", guaranteed),
    ("guaranteed, a block later and not available", "–", unavailable(1)),
    ("guaranteed, five slots later and not available", "–", unavailable(5)),
    ("guaranteed, and its report is available", "–", ready),
    ("accumulated", "no", accumulated),
    ("finalised", "no", finalised),
)
REUSES = ("expected", "ready", "guaranteed")
COUNTS = ("submitted", "submitted_and_guaranteed")


def cores() -> list[str]:
    """What the machine says of one block on one core, under each setting."""
    head = ["where it is", "seed 000", *(f"`{one}`" for one in REUSES), "in flight", "seed 001's"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, seed, scene in MOMENTS:
        cells = [name, seed]
        for reuse in REUSES:
            engaged = list(engaged_cores(scene(cores=(0,), core_reuse=reuse).lane))
            cells.append("**yes**" if engaged else "no")
        cells += [str(inflight(scene(cores=(0,), inflight_counts=one).lane)) for one in COUNTS]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


# What moves a block.


def place(stage: Stage) -> str:
    """Where block 1 is."""
    found = stage.lane.numbers.get(1)
    if found is None:
        assert 1 in stage.lane.finished
        return f"`{BlockState.FINALISED}`"
    slot = stage.lane.slots[found]
    word = f"`{status_of(stage.lane, slot)}`"
    if slot.id in stage.lane.over:
        return f"{word}, dead"
    if not slot.queued:
        return word
    is_made = current(stage.lane, slot) is not None
    return f"{word}, v{slot.version} made" if is_made else f"{word}, v{slot.version + 1} to be made"


def report(stage: Stage) -> None:
    stage.slot(stage.hash_of(1))


def assure(stage: Stage) -> None:
    newest = stage.chain.best.ref
    show(stage, (1, 1, Ready(newest, 0, b"", newest)))


def pass_slot(stage: Stage) -> None:
    stage.slot()


def lose(stage: Stage) -> None:
    stage.slot(lose=(stage.hash_of(1),))


def finalise(stage: Stage) -> None:
    stage.slot_all(finality=1)


def silence(stage: Stage) -> None:
    """Two minutes pass, and no block comes."""
    stage.until(stage.now_ms + 120_000)


def age(stage: Stage) -> None:
    """Its anchor leaves the recent blocks, before the time is over."""
    while not stage.version(1).is_dead():
        stage.slot()


def age_and_wait(stage: Stage) -> None:
    age(stage)
    first_ms = stage.version(1).first_ms
    assert first_ms is not None
    stage.now_ms = first_ms + stage.settings.guarantee_wait_ms()
    stage.tick()


def grow_old(stage: Stage) -> None:
    """Bytes that nobody heard of miss their windows."""
    for _ in range(7):
        stage.chain.produce()
    stage.now_ms = (stage.chain.best.ref.slot) * SLOT_MS + 1_000
    stage.look()
    stage.now_ms = (stage.chain.best.ref.slot + 1) * SLOT_MS - 1_500
    stage.tick()


def sealed() -> Stage:
    stage = popped()
    stage.make()
    return stage


def refuse_by_all(stage: Stage) -> None:
    stage.send(PackageKind.BAD_CONTEXT, final=True)


def keep_silent(stage: Stage) -> None:
    stage.send(PackageKind.SILENT, reaches=False)


def fork_by(blocks: int) -> Callable[[Stage], None]:
    """Another branch, longer by one, on which nothing is reported or assured."""

    def away(stage: Stage) -> None:
        parent = stage.chain.best
        for _ in range(blocks):
            parent = stage.chain.states[parent.parent]
        for _ in range(blocks + 1):
            parent = stage.chain.produce(ready=(), parent=parent)
        stage.look()

    return away


def refuse_as(reason: str) -> Callable[[Stage], None]:
    def refused(stage: Stage) -> None:
        show(stage, (1, 1, ServiceRefused(reason, 1)))

    return refused


SIGNALS: tuple[tuple[str, str, Callable[[], Stage], Callable[[Stage], None]], ...] = (
    ("E_G: a block has its guarantee", "Submitted → Guaranteed", submitted, report),
    ("two thirds assure the report", "–", guaranteed, assure),
    ("E_A: the service's record of it", "Guaranteed → Accumulated", guaranteed, pass_slot),
    ("the JAM block of that record is final", "001: → Finalized", accumulated, finalise),
    ("every node refuses the bytes for good", "001: back to Queued", sealed, refuse_by_all),
    ("no node answers", "000: submit again", sealed, keep_silent),
    ("two minutes of silence on the chain", "000: requeue; 001: failed", submitted, silence),
    ("eight blocks behind its anchor", "–", submitted, age),
    ("the same, and 54 s", "000: requeue", submitted, age_and_wait),
    ("more than six blocks behind it, not submitted", "000: rebuild", made, grow_old),
    ("its report is dropped after five slots", "001: failed after 18 s", guaranteed, lose),
    (
        "the service refuses it: `SAME_BLOCK_APPLIED`",
        "–",
        guaranteed,
        refuse_as(SAME_BLOCK_APPLIED),
    ),
    ("a fork without the guarantee", "–", guaranteed, fork_by(1)),
    ("a fork without the accumulation", "–", accumulated, fork_by(1)),
    ("a fork without either", "–", accumulated, fork_by(2)),
)


def signals() -> list[str]:
    lines = ["| signal | in the seeds | before | after |", "|---|---|---|---|"]
    for name, seed, scene, signal in SIGNALS:
        stage = scene()
        before = place(stage)
        signal(stage)
        lines.append(f"| {name} | {seed} | {before} | {place(stage)} |")
    return lines


# Parameters.

SEED_NAMES = {
    "max_queue_depth": "`MaxQueueDepth`",
    "max_inflight": "`MaxInflight`",
    "inflight_counts": "`inflight()`",
    "core_reuse": "Core Blocked?",
    "winner": "`WinningVer`; 001: `CurrentVer`",
    "retention_window": "`RetentionWindow`",
    "block_interval_ms": "every 6 seconds",
    "guarantee_timeout_ms": "`GuaranteeTimeout`; 001: `SubmissionTimeout`",
    "accumulate_timeout_ms": "`AccumulateTimeout`; 001: `GuaranteeTimeout`",
    "submit_retry_ms": "`SubmitRetryInterval`",
    "max_submit_retries": "`MaxSubmitRetries`",
    "max_version_retries": "`MaxVersionRetries`",
    "build_from_ms": "Bundle Build Window",
    "submit_from_ms": "Submission Window",
    "anchor_policy": "`anchorOffset`",
    "anchor_age_blocks_max": "Stale Anchor",
    "recent_blocks": "`RecentHistorySize`",
    "cores": "`TotalCores`",
}
TOLD = {
    "inflight_counts": "What is in flight; see the table of cores.",
    "block_txs_max": "Transactions that one block takes from the pool.",
    "block_bytes_max": "And their bytes; one transaction it always takes.",
    "guarantee_margin_slots": "Beyond the longest rotation, in the formula.",
    "guarantee_timeout_ms": "Before another version of a package that was not reported.",
    "accumulate_timeout_ms": "From the guarantee on; then the block is overdue.",
    "accumulate_timeouts_max": "After so many it is left to the chain.",
    "submit_retry_ms": "Between two submissions of the same bytes.",
    "build_from_ms": "The build window opens so long before the next timeslot,",
    "build_until_ms": "and closes then.",
    "submit_from_ms": "The submission window opens so long before the next timeslot,",
    "submit_until_ms": "and closes then.",
    "slot_ms": "A timeslot; all times shrink with it.",
    "build_retry_ms": "Before a builder is asked again for what it could not build; twice as late "
    f"each further time, up to {2**RETRY_GROWTH_MAX} times.",
}
"""Meanings of those that the code explains together with their neighbours."""
NAMED = ("service", "nodes", "first_number")
"""Of one rollup, and shown elsewhere."""


def parameters(meanings: dict[str, str]) -> list[str]:
    """Those that may be set, and then what only the chain and the service know."""
    own = [field.name for field in fields(BundleSection)]
    others = [field.name for field in fields(BundleSettings) if field.name not in own]
    default, first, second = BundleSettings(), PRESETS["seed-000"], PRESETS["seed-001"]
    lines = ["| `[bundle]` | seeds | default | seed-000 | seed-001 | meaning |", "|---" * 6 + "|"]
    for name in own:
        value = shown(name, default)
        cells = [shown(name, one) for one in (first, second)]
        cells = ["" if cell == value else f"**{cell}**" for cell in cells]
        told = TOLD.get(name) or meanings[name]
        seed = SEED_NAMES.get(name, "")
        lines.append(f"| `{name}` | {seed} | {value} | {' | '.join(cells)} | {told} |")
    lines += [
        "",
        "| told by the chain, or fixed | seeds | tiny chain | meaning |",
        "|---" * 4 + "|",
    ]
    for name in others:
        if name not in NAMED:
            told = TOLD.get(name) or meanings[name]
            seed = SEED_NAMES.get(name, "")
            lines.append(f"| `{name}` | {seed} | {shown(name, default)} | {told} |")
    return lines


def shown(name: str, settings: BundleSettings) -> str:
    value = getattr(settings, name)
    if value is None:
        return f"{settings.guarantee_wait_ms():,}, by the formula"
    if isinstance(value, bool | str):
        return f"`{str(value).lower()}`"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else f"{value:,}"


# The page.

BEGIN, END = "<!-- drawn: {name} -->", "<!-- /drawn -->"


def filled(page: str, parts: dict[str, list[str]]) -> str:
    """The page with each part drawn anew between its marks."""
    for name, lines in parts.items():
        mark = BEGIN.format(name=name)
        before, found, rest = page.partition(mark)
        _, closed, after = rest.partition(END)
        if not found or not closed:
            raise SystemExit(f"the page has no place for {name}: {mark} … {END}")
        page = "\n".join([before + mark, "", *lines, "", closed + after])
    return page
