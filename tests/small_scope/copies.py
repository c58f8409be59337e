"""Copies of whatever may change, so that one world can go two ways.

`copied` follows every value that can change and shares every value that cannot, whatever field a
later hand adds; a class that nobody thought of is an error, never silently shared. `exact` writes
down all that a value holds, so that equal values are found again.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from copy import copy
from enum import Enum
from types import FunctionType, NoneType
from typing import Any

from msgspec import Struct

PLAIN = frozenset((int, bool, str, bytes, NoneType))
"""Classes whose values neither change nor need another form."""

CONSTANT = frozenset(("fleet", "kind", "settings", "_kinds", "_windows", "refuses"))
"""Fields that are the same in a whole scope."""

Memo = dict[int, Any]
"""What was met already, by identity: two names of one thing stay two names of one thing."""

OWN = ("laneway.", "tests.small_scope.")
"""Modules whose objects are taken apart; all others are values."""


def copied(value: Any) -> Any:
    """A value that may be changed without changing the first, as if the world had split."""
    return _copy(value, {})


def _copy(value: Any, memo: Memo) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    try:
        copier = _copiers[kind]
    except KeyError:
        copier = _copiers[kind] = _copier(kind)
    if copier is None:
        return value
    found = memo.get(id(value))
    return copier(value, memo) if found is None else found


def _copier(kind: type) -> Callable[[Any, Memo], Any] | None:
    """How values of a class are copied; None where they are shared."""
    if issubclass(kind, Struct):
        return None if kind.__struct_config__.frozen else _copy_struct
    if issubclass(kind, Enum | FunctionType | Exception):
        return None
    if kind.__module__.startswith(OWN):
        return _copy_slots if slots(kind) else _copy_object
    raise TypeError(f"nobody said how a {kind.__qualname__} is copied")


def slots(kind: type) -> tuple[str, ...]:
    """The slots of a class and of those it stands on; none where values have a dictionary."""
    found = _slots.get(kind)
    if found is None:
        bases = [getattr(base, "__slots__", ()) for base in kind.__mro__]
        found = _slots[kind] = tuple(name for base in bases for name in base)
    return found


_slots: dict[type, tuple[str, ...]] = {}


def _copy_struct(value: Any, memo: Memo) -> Any:
    twin = memo[id(value)] = copy(value)
    for name in value.__struct_fields__:
        part = getattr(value, name)
        if type(part) not in PLAIN:
            setattr(twin, name, _copy(part, memo))
    return twin


def _copy_object(value: Any, memo: Memo) -> Any:
    twin: Any = object.__new__(type(value))
    memo[id(value)] = twin
    inside = twin.__dict__
    for name, part in value.__dict__.items():
        inside[name] = part if type(part) in PLAIN else _copy(part, memo)
    return twin


def _copy_slots(value: Any, memo: Memo) -> Any:
    twin = memo[id(value)] = object.__new__(type(value))
    for name in slots(type(value)):
        part = getattr(value, name)
        setattr(twin, name, part if type(part) in PLAIN else _copy(part, memo))
    return twin


def _copy_dict(value: Any, memo: Memo) -> Any:
    twin = memo[id(value)] = type(value)()
    for key, part in value.items():
        twin[key] = part if type(part) in PLAIN else _copy(part, memo)
    return twin


def _copy_list(value: Any, memo: Memo) -> Any:
    twin = memo[id(value)] = type(value)()
    twin.extend([_copy(part, memo) for part in value])
    return twin


def _copy_tuple(value: Any, memo: Memo) -> Any:
    return tuple([_copy(part, memo) for part in value])


def _copy_set(value: Any, _memo: Memo) -> Any:
    return set(value)  # What stands in a set has a hash, so it does not change.


_copiers: dict[type, Callable[[Any, Memo], Any] | None] = {
    dict: _copy_dict,
    OrderedDict: _copy_dict,
    list: _copy_list,
    deque: _copy_list,
    tuple: _copy_tuple,
    set: _copy_set,
}


def exact(value: Any) -> Any:
    """All that a value holds, to be encoded: only equal values are written alike."""
    return _exact(value, {})


def _exact(value: Any, memo: Memo) -> Any:
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is tuple or kind is list or kind is deque:
        return [_exact(part, memo) for part in value]
    if kind is dict or kind is OrderedDict:
        return [(key, _exact(part, memo)) for key, part in value.items()]
    if kind is set:
        return sorted(value)
    if issubclass(kind, Struct) and kind.__struct_config__.frozen:
        return (kind.__name__, value)  # It encodes itself.
    if id(value) in memo:
        return memo[id(value)]
    memo[id(value)] = (kind.__name__, len(memo))
    names = kind.__struct_fields__ if issubclass(kind, Struct) else slots(kind)
    written = []
    for name in names or value.__dict__:
        part = getattr(value, name)
        if type(part) in PLAIN:
            written.append(part)
        elif name not in CONSTANT:
            written.append(_exact(part, memo))
    return written
