"""What `laneway.toml` may say of rollups on JAM chains: tables, keys, ranges and defaults.

Times are those of a chain with slots of six seconds. On a quicker clock all of them shrink with
the slot (`scaled`); the chain's own sizes are never configured, for its nodes report them.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, to_builtins
from msgspec.structs import asdict, fields, replace

from laneway.builder.limits import BLOCKS_KEPT_DEFAULT
from laneway.core.jam import Parameters
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.jam.spec import RECENT_BLOCK_COUNT
from laneway.kinds.common.tables import ENVIRONMENT
from laneway.kinds.config import (
    ConfigPart,
    Conflict,
    Duration,
    FreeTexts,
    Name,
    NodeName,
    Text,
    is_socket_url,
    layered,
)
from laneway.kinds.limits import (
    AUTHORIZER_CHARS_MAX,
    CORES_MAX,
    COUNT_MAX,
    DURATION_MS_MAX,
    SLOT_MS_MIN,
)
from laneway.kinds.rollup.registry import rollup_kinds
from laneway.lanes.bundle.limits import SLOTS_OPEN_MAX
from laneway.lanes.bundle.packages import anchor_offset
from laneway.lanes.bundle.settings import PRESETS, BundleSettings
from laneway.rollups.default import DEFAULT
from laneway.signers.place import PACKAGE_SCHEMES, SignerUnusable, split
from laneway.stores.address import is_shared

Interval = Annotated[int, Meta(ge=0, le=DURATION_MS_MAX)]
Window = Annotated[int, Meta(ge=0, le=6_000)]
"""Before the next timeslot begins."""
Blocks = Annotated[int, Meta(ge=1, le=SLOTS_OPEN_MAX)]
Hash = Annotated[str, Meta(pattern=r"^(0x)?[0-9a-fA-F]{64}$")]
Octets = Annotated[str, Meta(pattern=r"^(0x)?([0-9a-fA-F]{2})*$", max_length=AUTHORIZER_CHARS_MAX)]
Service = Annotated[int, Meta(ge=0, le=(1 << 32) - 1)]
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
    name: NodeName = ""
    """Shown, and committed with what is offered to it; unset: its host and port."""
    calls_per_s: Annotated[float, Meta(ge=0)] = 0.0
    """What a hosted node allows. 0: no bound."""
    client: str = ""
    """Whose error messages it has (polkajam, typeberry …); unset: all that are known are tried."""
    takes_packages: bool = True
    """False: it is only read from; PolkaJam's validators refuse every package."""


class AuthorizerSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """By whose leave the packages of a rollup are refined."""

    host: Service | None = None
    """The service that holds its code; unset: the rollup's own."""
    code_hash: Hash | None = None
    """The hash of its code; unset: that of the authorizer for which `signer` signs."""
    config: Octets = ""
    """What it is configured with, as hexadecimal digits; unset: with `signer` the public key."""
    authorization: Octets = ""
    """What each package carries for it, as hexadecimal digits. Everybody can read it on the
    chain, so it keeps no stranger out."""
    signer: Text | None = None
    """Where the Ed25519 key is that signs each package: file:PATH, env:NAME. Only who has it can
    make packages that pass."""


class RollupSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One rollup: a service on a JAM chain. Its lane is `rollup:SERVICE`."""

    name: Name
    kind: Name = DEFAULT.name
    """What executes its transactions: a kind of rollup that is installed."""
    service: Service
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
    blocks_kept: Annotated[int, Meta(ge=1, le=COUNT_MAX)] = BLOCKS_KEPT_DEFAULT
    """Final blocks that its builder keeps with their receipts."""
    latest_is_safe: bool = False
    """Whether an account is shown as the newest accumulated block leaves it, and not as the newest
    that was built does."""
    authorizer: AuthorizerSection | None = None
    """Who lets its packages be refined; unset: the authorizer of development networks, which lets
    everything pass, and on a chain inside this process a key that is made with it."""
    words: tuple[tuple[str | int, ...], ...] = ()
    """Rows of one's own for its nodes' error messages: [kind, words] or [kind, words, code]."""
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


def table_conflicts(rollups: Sequence[RollupSection]) -> Iterator[str]:
    """Kinds that are not installed, and cores that two rollups of one chain claim."""
    for place, rollup in enumerate(rollups):
        if rollup.kind not in rollup_kinds():
            known = ", ".join(rollup_kinds())
            yield f"{rollup.name}: there is no kind of rollup {rollup.kind} here, but {known}"
        for other in rollups[:place]:
            if is_one_chain(other, rollup) and (
                claimed := claimed_twice(other.cores, rollup.cores)
            ):
                yield shared_core(other.name, rollup.name, claimed)


def shared_core(one: str, other: str, claimed: str) -> str:
    both = f"{one} and {other} are on one chain, and both claim {claimed}"
    return f"{both}; give each of them `cores` of its own"


def is_one_chain(one: RollupSection, other: RollupSection) -> bool:
    """Whether two rollups name a node in common, or the same genesis."""
    urls = [node.url for node in rollup_nodes(one)]
    if any(node.url in urls for node in rollup_nodes(other)):
        return True
    genesis = genesis_of(one)
    return genesis is not None and genesis == genesis_of(other)


def claimed_twice(one: Sequence[int], other: Sequence[int]) -> str:
    """The first core that both claim; a rollup without `cores` claims all of them. Empty if there
    is none."""
    if not one and not other:
        return "all its cores"
    claimed = [core for core in one or other if core in (other or one)]
    return f"core {min(claimed)}" if claimed else ""


def genesis_of(rollup: RollupSection) -> bytes | None:
    return None if rollup.genesis is None else bytes.fromhex(rollup.genesis[-64:])


def preset_of(name: str) -> dict[str, object]:
    """A seed's settings as a layer: all of them, also where the defaults are the same today."""
    chosen = asdict(PRESETS[name])
    found = {field.name: chosen[field.name] for field in fields(BundleSection)}
    return {key: value for key, value in found.items() if value is not None}


def bundle_conflicts(bundle: BundleSection) -> Iterator[Conflict]:
    for window in ("build", "submit"):
        begin, end = f"{window}_from_ms", f"{window}_until_ms"
        if getattr(bundle, begin) <= getattr(bundle, end):
            problem = f"the window is over {getattr(bundle, end)} ms before the slot, and not open"
            yield f"bundle.{begin}", f"bundle.{end}", f"{problem} before that; `{end}` is smaller"
    # The seed's anchors are that old from the start.
    age = anchor_offset(bundle.anchor_policy, 0, 1, RECENT_BLOCK_COUNT)
    if bundle.anchor_age_blocks_max < age:
        problem = f"with the policy '{bundle.anchor_policy}' an anchor is {age} blocks old when"
        path, because = "bundle.anchor_age_blocks_max", "bundle.anchor_policy"
        yield path, because, f"{problem} its package is built, which then is never submitted"


def rollup_conflicts(rollups: Sequence[RollupSection], store_path: str) -> Iterator[str]:
    for place, rollup in enumerate(rollups):
        for other in rollups[:place]:
            if other.name == rollup.name:
                yield f"two rollups are called {rollup.name}"
            if other.service == rollup.service:
                named = f"{other.name} and {rollup.name}"
                yield f"{named} are both service {rollup.service}, and a lane is named by that"
        if rollup.is_embedded():
            yield from embedded_conflicts(rollup, store_path)
        elif not all(is_socket_url(node.url) for node in rollup_nodes(rollup)):
            yield f"{rollup.name}: a node needs an address like ws://127.0.0.1:19800"
        if rollup.authorizer is not None:
            for problem in authorizer_conflicts(rollup.authorizer):
                yield f"{rollup.name}: {problem}"
    yield from table_conflicts(rollups)


def authorizer_conflicts(chosen: AuthorizerSection) -> Iterator[str]:
    """What contradicts itself in a rollup's authorizer, as far as no key is needed to see it."""
    if chosen.signer is None:
        if chosen.code_hash is None:
            yield "its authorizer needs a `signer`, or a `code_hash`"
        return
    try:
        split(chosen.signer, PACKAGE_SCHEMES)
    except SignerUnusable as error:
        yield f"the signer of its authorizer: {error.problem}"
    if chosen.authorization:
        yield "its packages carry a signature by `signer`, and no other `authorization`"


def embedded_conflicts(rollup: RollupSection, store_path: str) -> Iterator[str]:
    if is_shared(store_path):
        problem = "a chain inside this process needs a database of its own: a file"
        yield f"{rollup.name}: {problem}, or durability memory"
    if rollup.service != ROLLUP_SERVICE_DEV:
        problem = f"the rollup of a chain inside this process is service {ROLLUP_SERVICE_DEV}"
        yield f"{rollup.name}: {problem}"


def with_devnet(configuration: Any, kind: str, slot_ms: int | None) -> Any:
    """The configuration of `up --rollup`: the same with a rollup of this kind, called as it is, on
    a chain inside this process."""
    table = RollupSection(
        name=kind, kind=kind, service=ROLLUP_SERVICE_DEV, nodes=(DEVNET,), slot_ms=slot_ms
    )
    return configuration.with_table("rollup", table, "--rollup")


TIMES = tuple(
    field.name for field in fields(BundleSettings) if field.name.endswith(("_ms", "_ms_max"))
)
"""The settings that are times, and shrink with the slot."""


def scaled(settings: BundleSettings, slot_ms: int) -> BundleSettings:
    """The same settings on a clock whose slots have this many milliseconds: every time keeps its
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
    """What holds for one rollup: its own setting, else that for all; what the chain says of itself;
    and all times on the chain's clock."""
    settings = BundleSettings(
        **layered(section, rollup),
        service=rollup.service,
        nodes=nodes,
        cores=rollup.cores or tuple(range(sizes.core_count)),
        rotation_slots=sizes.rotation_slots,
        recent_blocks=sizes.recent_block_count,
        lookup_slots_max=sizes.lookup_anchor_slots_max,
        availability_slots=sizes.availability_timeout_slots,
    )
    return scaled(settings, sizes.slot_ms)


class RollupConfig(ConfigPart):
    sections = {"bundle": BundleSection}
    tables = {"rollup": RollupSection}
    presets = {
        # The seed's own numbers and choices: 54 s to a guarantee, anchors by its table, a core
        # given on once it reported, packages that name none before them. That a version's time is
        # over ends nothing by itself: another one is built only when all before it are dead on the
        # chain.
        "seed-000": {"bundle": preset_of("seed-000")},
        # The same of the second seed: what is guaranteed counts as in flight too, 30 s to a
        # guarantee and once 18 s to an accumulation, the newest version wins. After these times the
        # seed takes a version for failed, which is not to be had, since it may still land; and what
        # the service wrote down outranks the newest version.
        "seed-001": {"bundle": preset_of("seed-001")},
    }
    free_texts = FreeTexts(
        signers=frozenset(("rollup.authorizer.signer",)),
        addresses=frozenset(("rollup.nodes", "rollup.nodes.url")),
        harmless=frozenset(("rollup.words", "rollup.nodes.client", "rollup.builder")),
    )

    def conflicts(self, config: Any) -> Iterator[Conflict]:
        yield from bundle_conflicts(config.bundle)
        for problem in rollup_conflicts(config.rollup, config.store.path):
            yield "rollup", "rollup", problem

    def variables(self, config: Any) -> Iterator[str]:
        for rollup in config.rollup:
            chosen = None if rollup.authorizer is None else rollup.authorizer.signer
            if chosen is not None and chosen.startswith(ENVIRONMENT):
                yield chosen.removeprefix(ENVIRONMENT)

    def plain_table(self, table: RollupSection) -> dict[str, Any]:
        plain = super().plain_table(table)
        if table.is_embedded():
            return plain  # Its chain has no address.
        return {**plain, "nodes": to_builtins(rollup_nodes(table))}
