"""What `laneway.toml` may say of rollups on JAM chains: tables, keys, ranges and defaults.

Times are those of a chain with slots of six seconds. On a quicker clock all of them shrink with
the slot (`scaled`); the chain's own sizes are never configured, for its nodes tell them.
"""

from typing import Annotated, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict, fields, replace

from laneway.core.jam import Parameters
from laneway.lanes.bundle.limits import SLOTS_OPEN_MAX
from laneway.lanes.bundle.settings import PRESETS, BundleSettings
from laneway.wiring.limits import CORES_MAX, COUNT_MAX, DURATION_MS_MAX, SLOT_MS_MIN

Duration = Annotated[int, Meta(ge=1, le=DURATION_MS_MAX)]
Interval = Annotated[int, Meta(ge=0, le=DURATION_MS_MAX)]
Window = Annotated[int, Meta(ge=0, le=6_000)]
"""Before the next timeslot begins."""
Blocks = Annotated[int, Meta(ge=1, le=SLOTS_OPEN_MAX)]
Text = Annotated[str, Meta(min_length=1)]
Name = Annotated[str, Meta(pattern=r"^[a-z][a-z0-9_-]{0,31}$")]
Hash = Annotated[str, Meta(pattern=r"^(0x)?[0-9a-fA-F]{64}$")]
Core = Annotated[int, Meta(ge=0, le=CORES_MAX - 1)]
Order: TypeAlias = Literal["chained", "parallel"]

D = BundleSettings()
DEVNET = "devnet"
"""In the place of a node's address: a chain inside this process."""


class BundleSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """BundleSettings with ranges, without what only the chain or the service knows. See there."""

    max_queue_depth: Blocks = D.max_queue_depth
    max_inflight: Blocks = D.max_inflight
    inflight_counts: Literal["submitted", "submitted_and_guaranteed"] = D.inflight_counts
    core_reuse: Literal["expected", "ready", "guaranteed"] = D.core_reuse
    order: Order = D.order
    winner: Literal["first_guarantee_wins", "latest_version"] = D.winner
    retention_window: Annotated[int, Meta(ge=0, le=10_000)] = D.retention_window
    block_interval_ms: Interval = D.block_interval_ms
    block_txs_max: Annotated[int, Meta(ge=1, le=4_096)] = D.block_txs_max
    block_bytes_max: Annotated[int, Meta(ge=1, le=COUNT_MAX)] = D.block_bytes_max
    deferred_ms_max: Interval = D.deferred_ms_max
    guarantee_margin_slots: Annotated[int, Meta(ge=0, le=1_000)] = D.guarantee_margin_slots
    guarantee_timeout_ms: Duration | None = D.guarantee_timeout_ms
    accumulate_timeout_ms: Duration = D.accumulate_timeout_ms
    accumulate_timeouts_max: Annotated[int, Meta(ge=1, le=100)] = D.accumulate_timeouts_max
    submit_retry_ms: Duration = D.submit_retry_ms
    max_submit_retries: Annotated[int, Meta(ge=1, le=1_000)] = D.max_submit_retries
    max_version_retries: Annotated[int, Meta(ge=1, le=1_000)] = D.max_version_retries
    drops_max: Annotated[int, Meta(ge=1, le=1_000)] = D.drops_max
    build_from_ms: Window = D.build_from_ms
    build_until_ms: Window = D.build_until_ms
    submit_from_ms: Window = D.submit_from_ms
    submit_until_ms: Window = D.submit_until_ms
    clock_skew_ms_max: Duration = D.clock_skew_ms_max
    anchor_policy: Literal["freshest", "table", "formula"] = D.anchor_policy
    anchor_age_blocks_max: Annotated[int, Meta(ge=1, le=7)] = D.anchor_age_blocks_max
    poll_ms: Duration = D.poll_ms
    build_retry_ms: Duration = D.build_retry_ms
    tell_retry_ms: Duration = D.tell_retry_ms


class RollupNodeSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One node of a JAM chain."""

    url: Text
    """JIP-2 over WebSocket: ws:// or wss://."""
    name: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.:-]{0,64}$")] = ""
    """Shown, and committed with what is offered to it; unset: its host and port."""
    calls_per_s: Annotated[float, Meta(ge=0)] = 0.0
    """What a hosted node allows. 0: no bound."""
    client: str = ""
    """Whose words it speaks (polkajam, typeberry …); unset: all that are known are tried."""
    takes_packages: bool = True
    """False: it is only read from; PolkaJam's validators refuse every package."""


class RollupSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One rollup: a service on a JAM chain. Its lane is `rollup:SERVICE`."""

    name: Name
    kind: Literal["ledger"] = "ledger"
    """What executes its transactions."""
    service: Annotated[int, Meta(ge=0, le=(1 << 32) - 1)]
    """Its number on the chain."""
    nodes: Annotated[tuple[Text | RollupNodeSection, ...], Meta(min_length=1, max_length=8)]
    """Addresses like ws://127.0.0.1:19800, or tables that say more. The one word "devnet" is a
    chain inside this process, whose calls stand beside the database, in a file with -jam."""
    genesis: Hash | None = None
    """The hash of the chain's first header, for which its transactions are signed; the service's
    code is compared with it. Unset: found, while the chain is young, and kept by the builder."""
    calendar: bool | Annotated[int, Meta(ge=0, le=(1 << 53) - 1)] = False
    """Whether slots are counted from the JAM era's begin, or from which millisecond since 1970;
    with it this machine's clock is compared with the chain's. Development chains count from their
    own beginning."""
    slot_ms: Annotated[int, Meta(ge=SLOT_MS_MIN, le=DURATION_MS_MAX)] | None = None
    """For development chains whose slots are shorter than they say; all times shrink with it."""
    cores: Annotated[tuple[Core, ...], Meta(max_length=CORES_MAX)] = ()
    """Those that take its packages; unset: all that the chain has."""
    builder: Text | None = None
    """The file of its builder; unset: beside the database, with -rollup- and the service."""
    words: tuple[tuple[str | int, ...], ...] = ()
    """Rows of one's own for its nodes' error words: [kind, words] or [kind, words, code]."""
    max_queue_depth: Blocks | UnsetType = UNSET
    max_inflight: Blocks | UnsetType = UNSET
    order: Order | UnsetType = UNSET
    block_interval_ms: Interval | UnsetType = UNSET
    block_txs_max: Annotated[int, Meta(ge=1, le=4_096)] | UnsetType = UNSET
    block_bytes_max: Annotated[int, Meta(ge=1, le=COUNT_MAX)] | UnsetType = UNSET
    clock_skew_ms_max: Duration | UnsetType = UNSET
    poll_ms: Duration | UnsetType = UNSET

    def is_embedded(self) -> bool:
        """Whether its chain is inside this process."""
        return self.nodes == (DEVNET,)


def rollup_nodes(rollup: RollupSection) -> list[RollupNodeSection]:
    return [RollupNodeSection(url=one) if isinstance(one, str) else one for one in rollup.nodes]


def preset_of(name: str) -> dict[str, object]:
    """A seed's settings as a layer: all of them, also where the defaults are the same today."""
    chosen = asdict(PRESETS[name])
    found = {field.name: chosen[field.name] for field in fields(BundleSection)}
    return {key: value for key, value in found.items() if value is not None}


TIMES = tuple(
    field.name for field in fields(BundleSettings) if field.name.endswith(("_ms", "_ms_max"))
)
"""The settings that are times, and shrink with the slot."""


def scaled(settings: BundleSettings, slot_ms: int) -> BundleSettings:
    """The same settings on a clock whose slots have so many milliseconds: every time keeps its
    share of a slot, none but zero falls below one millisecond, and a window that is open stays
    so."""
    if slot_ms == settings.slot_ms:
        return settings
    found = {name: getattr(settings, name) for name in TIMES}
    times = {
        name: max(1, value * slot_ms // settings.slot_ms) for name, value in found.items() if value
    }
    for window in ("build", "submit"):
        begin, end = f"{window}_from_ms", f"{window}_until_ms"
        times[begin] = max(times[begin], times.get(end, 0) + 1)
    return replace(settings, **times)


def bundle_settings(
    section: BundleSection, rollup: RollupSection, nodes: tuple[str, ...], sizes: Parameters
) -> BundleSettings:
    """What holds for one rollup: its own word, else that for all; what the chain says of itself;
    and all times on the chain's clock."""
    chosen = asdict(section)
    own = asdict(rollup)
    chosen |= {key: own[key] for key in chosen if own.get(key, UNSET) is not UNSET}
    settings = BundleSettings(
        **chosen,
        service=rollup.service,
        nodes=nodes,
        cores=rollup.cores or tuple(range(sizes.core_count)),
        rotation_slots=sizes.rotation_slots,
        recent_blocks=sizes.recent_block_count,
        lookup_slots_max=sizes.lookup_anchor_slots_max,
        availability_slots=sizes.availability_timeout_slots,
    )
    return scaled(settings, sizes.slot_ms)
