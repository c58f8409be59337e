"""Laws of blocking twins: the same methods, the same answers, and nothing but the public ones."""

import inspect
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

import pytest

from laneway.core.twins import Twin, iterated, making, making_many, unwaited, waited

T = TypeVar("T")


class AtOnce:
    def __init__(self) -> None:
        self.calls = 0

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        self.calls += 1
        with pytest.raises(StopIteration) as done:
            work.send(None)
        result: T = done.value.value
        return result


class Leaf:
    def __init__(self, name: str) -> None:
        self.name = name

    async def shout(self, times: int = 1) -> str:
        return self.name.upper() * times


class Tree:
    def __init__(self) -> None:
        self.height = 3
        self.ended = False

    async def grow(self, by: int, *, twice: bool = False) -> int:
        """Higher."""
        self.height += 2 * by if twice else by
        return self.height

    async def leaf(self, name: str) -> Leaf:
        return Leaf(name)

    async def leaves(self, *names: str) -> list[Leaf]:
        return [Leaf(name) for name in names]

    async def rings(self, count: int) -> AsyncIterator[int]:
        try:
            for number in range(count):
                yield number
        finally:
            self.ended = True

    async def fell(self) -> str:
        return "it fell"

    async def _rot(self) -> None: ...

    def is_high(self) -> bool:
        return self.height > 3

    def unnamed(self) -> None: ...


class LeafSync(Twin, of=Leaf):
    name: str

    shout = waited(Leaf.shout)


class TreeSync(Twin, of=Tree):
    _hidden: int
    height: int

    grow = waited(Tree.grow)
    leaf = making(LeafSync, Tree.leaf)
    leaves = making_many(LeafSync, Tree.leaves)
    rings = iterated(Tree.rings)
    is_high = unwaited(Tree.is_high)


@pytest.fixture
def tree() -> TreeSync:
    return TreeSync(AtOnce(), Tree())


def test_a_method_waits_for_its_answer_and_keeps_its_signature(tree: TreeSync) -> None:
    assert tree.grow(2, twice=True) == 7
    assert inspect.signature(TreeSync.grow) == inspect.signature(Tree.grow)
    assert TreeSync.grow.__doc__ == "Higher."


def test_an_attribute_is_read_where_it_is(tree: TreeSync) -> None:
    assert tree.height == 3
    tree.grow(1)
    assert (tree.height, tree.is_high()) == (4, True)
    assert not hasattr(tree, "_hidden")


def test_what_has_a_twin_is_handed_out_as_one(tree: TreeSync) -> None:
    leaf = tree.leaf("oak")
    assert (type(leaf), leaf.name, leaf.shout(times=2)) == (LeafSync, "oak", "OAKOAK")
    assert [one.name for one in tree.leaves("ash", "elm")] == ["ash", "elm"]


def test_an_iterator_that_is_left_early_is_ended(tree: TreeSync) -> None:
    assert list(tree.rings(3)) == [0, 1, 2]
    tree._made_of.ended = False
    for ring in tree.rings(3):
        if ring == 1:
            break
    assert tree._made_of.ended


def test_a_method_that_waits_for_nothing_needs_no_caller(tree: TreeSync) -> None:
    assert not tree.is_high()
    assert isinstance(tree._caller, AtOnce)
    assert tree._caller.calls == 0


def test_public_coroutines_that_the_body_does_not_name_are_there_too(tree: TreeSync) -> None:
    assert getattr(tree, "fell")() == "it fell"  # noqa: B009  No type checker knows of it.
    assert not hasattr(TreeSync, "_rot")
    assert not hasattr(TreeSync, "unnamed")
