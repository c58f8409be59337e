"""How a bundle lane behaves. The seeds' own numbers are the defaults where they are safe.

No setting makes a package land twice: whatever the timeouts say, a new version is built only when
the one before is dead on the chain.
"""

from typing import Final, Literal

import msgspec
from msgspec import Struct


class BundleSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    service: int = 0
    nodes: tuple[str, ...] = ("node",)
    """Whom every package is offered to; committed with each version."""
    cores: tuple[int, ...] = (0, 1)
    """Those that take the service's packages."""
    first_number: int = 1
    """Of the first block of a new lane; zero is what the service begins with."""
    keeps_records: bool = True
    """The service writes down which package brought which block, and takes each block once and on
    its parent. Without it an accumulation is all that is known, and of two versions both count."""

    max_queue_depth: int = 8
    """Blocks that wait to be submitted; with this many nothing is taken from the pool."""
    max_inflight: int = 3
    """Blocks that are in flight, as `inflight_counts` says."""
    inflight_counts: Literal["submitted", "submitted_and_guaranteed"] = "submitted"
    """Seed 000 counts the first, seed 001 the second."""
    core_reuse: Literal["expected", "ready", "guaranteed"] = "expected"
    """When a core is given the next package. `ready`: the chain says that its report is available
    or dropped. `expected`: also right after the block that reported it, for the next one makes it
    available before it takes new ones. `guaranteed`: once it is reported, as seed 000 has it."""
    order: Literal["chained", "parallel"] = "chained"
    """`chained`: each package names the one before it, and the chain keeps the order. `parallel`:
    they name none, and the service holds what comes early."""
    winner: Literal["first_guarantee_wins", "latest_version"] = "first_guarantee_wins"
    """Which version of a block may advance. What the service wrote down outranks both."""
    retention_window: int = 100
    """Finished blocks that are kept as rows."""

    block_interval_ms: int = 6_000
    """Between two blocks: a timeslot. 0: as soon as the one before is executed."""
    block_txs_max: int = 512
    """Transactions of one block."""
    block_bytes_max: int = 1 << 20
    """What one block takes from the pool; one transaction it always takes."""

    deferred_ms_max: int = 60_000
    """How long a transaction is kept that the builder puts off, because another has to come before
    it: ten slots since it was first put off. Then it is refused with the builder's reason."""

    slot_ms: int = 6_000
    """How long a timeslot is; other than 6 s on development chains only."""
    rotation_slots: int = 4
    """How long guarantors stay with a core: 4 on the tiny chain, 10 on the full one."""
    guarantee_margin_slots: int = 2
    """What the formula of `guarantee_timeout_ms` adds to the longest life of a guarantee."""
    guarantee_timeout_ms: int | None = None
    """Before another version of a package that was not reported; None: by the formula."""
    accumulate_timeout_ms: int = 60_000
    """A reported package that does not accumulate is overdue after each of these."""
    accumulate_timeouts_max: int = 3
    """Overdue so often it is given up, once the chain shows that it is dead."""
    submit_retry_ms: int = 6_000
    """Between two submissions of the same bytes."""
    max_submit_retries: int = 8
    """Submissions of the same bytes, the first one included."""
    max_version_retries: int = 5
    """Versions that ended by themselves before their block is dropped."""
    drops_max: int = 3
    """Blocks dropped one after the other before the lane halts."""

    build_from_ms: int = 3_000
    """The build window opens so long before the next timeslot."""
    build_until_ms: int = 2_000
    """And closes so long before it."""
    submit_from_ms: int = 3_000
    """The submission window opens so long before the next timeslot."""
    submit_until_ms: int = 1_000
    """And closes so long before it."""
    clock_skew_ms_max: int = 1_000
    """With a clock that is off by more nothing is built or submitted."""

    anchor_policy: Literal["freshest", "table", "formula"] = "freshest"
    """`freshest`: the parent of the best block. The others are seed 000's, by queue position."""
    anchor_age_blocks_max: int = 6
    """Bytes whose anchor is older are built again before they are submitted first."""
    recent_blocks: int = 8
    """H: a package can be reported in this many blocks after its anchor."""
    lookup_slots_max: int = 24
    """L: the greatest age of a lookup anchor; 24 on the tiny chain, 14,400 on the full one."""
    availability_slots: int = 5
    """U: after these a report that is not available is dropped from its core."""

    poll_ms: int = 1_000
    """Between looks at the chain while a block is open."""
    build_retry_ms: int = 1_000
    """Before a builder is asked again for what it could not build; each further time in a row twice
    as late, up to `2 ** RETRY_GROWTH_MAX` times."""
    tell_retry_ms: int = 1_000
    """Before a callback that failed is made again."""

    def guarantee_wait_ms(self) -> int:
        """Guarantors' signatures are good for the rotation they were made in and the one before it:
        4 to 7 slots on the tiny chain, by where in a rotation one stands. Two slots beyond the
        longest are 54 s. It bounds a guarantee's age and not a package's (facts §7.2), so by itself
        it proves nothing; it keeps a lane from hurrying."""
        if self.guarantee_timeout_ms is not None:
            return self.guarantee_timeout_ms
        longest = max(place + self.rotation_slots for place in range(self.rotation_slots))
        return (longest + self.guarantee_margin_slots) * self.slot_ms


PRESETS: Final[dict[str, BundleSettings]] = {
    "seed-000": BundleSettings(
        guarantee_timeout_ms=54_000,
        anchor_policy="table",
        core_reuse="guaranteed",
        order="parallel",
    ),
    "seed-001": BundleSettings(
        # Its SubmissionTimeout, and its GuaranteeTimeout, which is for what is guaranteed.
        guarantee_timeout_ms=30_000,
        accumulate_timeout_ms=18_000,
        accumulate_timeouts_max=1,
        inflight_counts="submitted_and_guaranteed",
        core_reuse="guaranteed",
        winner="latest_version",
    ),
}
"""What each seed says, as far as promise 1 allows."""


def preset(name: str, **fields: object) -> BundleSettings:
    """A seed's settings, with what is named set otherwise."""
    settings: BundleSettings = msgspec.structs.replace(PRESETS[name], **fields)
    return settings
