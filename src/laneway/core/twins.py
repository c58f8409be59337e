"""Blocking twins: classes with the methods of an asynchronous one, each of which waits.

    class HandleSync(Twin, of=Handle):
        id: IntentId
        result = waited(Handle.result)

A twin has every coroutine and asynchronous iterator of the class that it is a twin of, and the
attributes that its body annotates. Methods that its body names are known to type checkers and
editors too, with their signatures. What a method returns is replaced by its own twin, where it has
one.
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import update_wrapper
from inspect import (
    get_annotations,
    isasyncgen,
    isasyncgenfunction,
    iscoroutine,
    iscoroutinefunction,
)
from operator import attrgetter
from typing import Any, ClassVar, Concatenate, ParamSpec, Protocol, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Portal(Protocol):
    """Runs a coroutine and waits for its result."""

    def call(self, work: Coroutine[Any, Any, T]) -> T: ...


class Twin:
    """A blocking object over the asynchronous one that does its work."""

    TWINS: ClassVar[dict[type, type["Twin"]]] = {}

    def __init__(self, caller: Portal, other: Any) -> None:
        self._caller = caller
        self._made_of = other

    def __init_subclass__(cls, of: type) -> None:
        Twin.TWINS[of] = cls
        for name in get_annotations(cls):
            if not name.startswith("_"):
                setattr(cls, name, property(attrgetter(f"_made_of.{name}")))
        for name in dir(of):
            method = getattr(of, name)
            is_work = iscoroutinefunction(method) or isasyncgenfunction(method)
            if is_work and not name.startswith("_") and not hasattr(cls, name):
                setattr(cls, name, waited(method))

    def _other(self) -> Any:
        return self._made_of


def waited(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Any, P], T]:
    """The same method, whose answer is waited for."""

    def wait(twin: Any, /, *arguments: P.args, **named: P.kwargs) -> Any:
        answer: Any = method(twin._other(), *arguments, **named)
        if isasyncgen(answer):
            return one_by_one(twin._caller, answer)
        return twin_of(twin._caller, twin._caller.call(answer) if iscoroutine(answer) else answer)

    return update_wrapper(wait, method)


def one_by_one(caller: Portal, found: Any) -> Iterator[Any]:
    """What an asynchronous iterator yields; a caller who stops early ends it."""
    try:
        while (one := caller.call(next_of(found))) is not END:
            yield one
    finally:
        caller.call(found.aclose())


async def next_of(found: AsyncIterator[Any]) -> Any:
    return await anext(found, END)


END = object()
"""The end of an iterator."""


def twin_of(caller: Portal, answer: Any) -> Any:
    """The answer, or its twin if it has one; for a list, a list of these."""
    if isinstance(answer, list):
        return [twin_of(caller, one) for one in answer]
    twin = Twin.TWINS.get(type(answer))
    return answer if twin is None else twin(caller, answer)


# The same at run time; they differ in the types of their methods.

Made = TypeVar("Made", bound=Twin)


def unwaited(method: Callable[Concatenate[Any, P], T]) -> Callable[Concatenate[Any, P], T]:
    """A method that is no coroutine."""
    return waited(method)  # type: ignore[arg-type]


def iterated(
    method: Callable[Concatenate[Any, P], AsyncIterator[T]],
) -> Callable[Concatenate[Any, P], Iterator[T]]:
    """A method that returns an asynchronous iterator."""
    return waited(method)  # type: ignore[arg-type]


def making(
    _twin: type[Made], method: Callable[Concatenate[Any, P], Any]
) -> Callable[Concatenate[Any, P], Made]:
    """A method whose answer has a twin."""
    return waited(method)


def making_many(
    _twin: type[Made], method: Callable[Concatenate[Any, P], Any]
) -> Callable[Concatenate[Any, P], list[Made]]:
    """A method whose answers have twins."""
    return waited(method)
