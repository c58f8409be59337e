"""Ends of packages, as two nodes show them."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from laneway.chains.jam.ends import Facts, are_same, first_shown
from laneway.chains.jam.verdicts import Verdicts
from laneway.core.errors import ChainUnreadable
from laneway.core.jam import (
    Accumulated,
    Failed,
    JamBlockRef,
    JamBlockSeen,
    PackageFact,
    PackageKind,
    PackageSeen,
    Reportable,
    Watched,
)

FIRST, SECOND = b"\x01" * 32, b"\x02" * 32
DEAD = Failed(PackageKind.ANCHOR_NOT_RECENT, "too old")
DONE = Accumulated(7)


def ref(slot: int) -> JamBlockRef:
    return JamBlockRef(slot.to_bytes(32, "big"), slot)


def seen(slot: int, **facts: PackageFact) -> JamBlockSeen:
    names = {"first": FIRST, "second": SECOND}
    found = [PackageSeen(names[name], ref(slot), fact, (), "node") for name, fact in facts.items()]
    return JamBlockSeen(ref(slot), ref(slot - 1).header_hash, tuple(found))


def test_an_end_begins_where_it_is_first_shown() -> None:
    blocks = [
        seen(1, first=Reportable(2)),
        seen(2, first=DEAD),
        seen(3, first=DEAD, second=DONE),
        seen(4, first=DEAD, second=DONE),
        seen(5, first=DONE, second=DONE),
    ]
    assert list(first_shown(blocks)) == [
        (ref(2), {FIRST: DEAD}),
        (ref(3), {SECOND: DONE}),
        (ref(5), {FIRST: DONE}),
    ]


class Truth:
    """What the other node shows: its facts by block."""

    def __init__(self, *blocks: JamBlockSeen) -> None:
        self._blocks = {one.block: one.seen for one in blocks}

    async def read(self, at: Any, packages: Any) -> tuple[PackageSeen, ...]:
        return self._blocks[at.block]

    async def confirmed(
        self,
        node: Any,
        what: str,
        found: Facts,
        ask: Callable[[Any], Awaitable[Facts | None]],
        agrees: Callable[[Facts, Facts], bool],
    ) -> Facts:
        theirs = await ask(node)
        if theirs is not None and not agrees(found, theirs):
            raise ChainUnreadable("node", what)
        return found


def check(shown: list[JamBlockSeen], truth: list[JamBlockSeen]) -> None:
    other = Truth(*truth)
    verdicts = Verdicts(cast(Any, other), cast(Any, other))
    watched = [
        Watched(package_hash=name, anchor=ref(0), service=1, keeps_records=False)
        for name in (FIRST, SECOND)
    ]
    asyncio.run(verdicts.check(cast(Any, None), shown, watched, cast(Any, None)))


def test_a_death_is_compared_at_the_block_that_it_is_said_to_begin_at() -> None:
    """Said to be dead a block too early, it would be dead for good while a fork can bring it."""
    truth = [seen(1, first=Reportable(1)), seen(2, first=DEAD)]
    check([seen(1, first=Reportable(1)), seen(2, first=DEAD)], truth)
    with pytest.raises(ChainUnreadable, match=ref(1).header_hash.hex()):
        check([seen(1, first=DEAD), seen(2, first=DEAD)], truth)


def test_what_has_no_end_is_not_compared() -> None:
    check([seen(1, first=Reportable(1))], [])


def test_an_end_is_the_same_if_nothing_else_is_shown_or_the_same_number() -> None:
    assert are_same({FIRST: DEAD}, {})
    assert not are_same({FIRST: DEAD}, {FIRST: Reportable(1)})
    assert are_same({FIRST: DONE}, {FIRST: Accumulated(None)})
    assert not are_same({FIRST: DONE}, {})
