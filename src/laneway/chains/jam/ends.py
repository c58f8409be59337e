"""Ends of packages, as two nodes show them."""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from laneway.core.jam import (
    Accumulated,
    Failed,
    JamBlockRef,
    JamBlockSeen,
    PackageFact,
    ServiceRefused,
)

Facts: TypeAlias = dict[bytes, PackageFact]
"""What is known of packages, by their hashes."""

ENDS = (Accumulated, ServiceRefused, Failed)


def ends_of(seen: JamBlockSeen) -> Facts:
    return {one.package_hash: one.fact for one in seen.seen if isinstance(one.fact, ENDS)}


def first_shown(blocks: Iterable[JamBlockSeen]) -> Iterator[tuple[JamBlockRef, Facts]]:
    """Each block that is the first of several to show an end, with the ends that are new in it."""
    known: Facts = {}
    for seen in blocks:
        ends = ends_of(seen)
        fresh = {name: fact for name, fact in ends.items() if known.get(name) != fact}
        known = ends
        if fresh:
            yield seen.block, fresh


def are_same(mine: Facts, theirs: Facts) -> bool:
    return all(is_same(fact, theirs.get(name)) for name, fact in mine.items())


def is_same(mine: PackageFact, theirs: PackageFact | None) -> bool:
    """Whether another node shows the same end. That a package failed is contradicted by anything
    that it can still do; that it is done, by everything else."""
    if isinstance(mine, Failed):
        return theirs is None or isinstance(theirs, Failed)
    if isinstance(mine, Accumulated) and isinstance(theirs, Accumulated):
        return mine.number == theirs.number or None in (mine.number, theirs.number)
    return mine == theirs
