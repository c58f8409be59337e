"""The authorizers that each core takes (Gray Paper 0.7.2, §8): used ones leave, queued ones enter.

How the queues themselves change is a privileged service's to say.
"""

from collections.abc import Iterable

from laneway.jam.report import WorkReport
from laneway.jam.spec import AUTHORIZER_POOL_COUNT_MAX


def next_pools(
    pools: tuple[tuple[bytes, ...], ...],
    queues: tuple[tuple[bytes, ...], ...],
    reports: Iterable[WorkReport],
    slot: int,
) -> tuple[tuple[bytes, ...], ...]:
    """α′: the pools after the block of this slot, with these reports in its guarantees.

    `queues` are φ′, from after the block's accumulation. Every block takes one authorizer from
    each queue, the next in turn by its slot, and the oldest of a full pool gives way."""
    used = {report.core_index: report.authorizer_hash for report in reports}
    return tuple(
        (*_without(pool, used.get(core)), queue[slot % len(queue)])[-AUTHORIZER_POOL_COUNT_MAX:]
        for core, (pool, queue) in enumerate(zip(pools, queues, strict=True))
    )


def _without(pool: tuple[bytes, ...], used: bytes | None) -> tuple[bytes, ...]:
    """The pool without one entry of the used authorizer, the oldest if there are several."""
    if used is None:
        return pool
    place = pool.index(used)
    return pool[:place] + pool[place + 1 :]
