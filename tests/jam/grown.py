"""Every codec of the JAM package, found by looking, and encodings that are grown for it.

An encoding is grown by reading from a source that never ends and writes down what it gave: what the
codec took without a complaint is an encoding. So a codec need not be known here to be tried.
"""

import pkgutil
import typing
from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import signature
from random import Random
from types import ModuleType
from typing import Any

from tests.jam.components import component_codecs

import laneway.jam
from laneway.jam.codec import ByteReader, Codec
from laneway.jam.errors import InvalidJam
from laneway.jam.spec import FULL, TINY, ChainSpec

TRIES_MAX = 60
"""Some codecs refuse most of what they are offered: their items must ascend."""
LEFT_BYTES = 64
"""What a growing encoding pretends to have left: no longer sequence is begun."""
GROWN_BYTES_MAX = 1 << 20
"""The largest parts of a full chain's state need most of this."""


class Giver(ByteReader):
    """Gives any number of bytes and keeps them; mostly low ones, which are short lengths."""

    __slots__ = ("_source", "_wild", "given")

    def __init__(self, source: Random, wild: float) -> None:
        super().__init__(b"")
        self._source = source
        self._wild = wild
        self.given = bytearray()

    @property
    def left(self) -> int:
        return LEFT_BYTES

    def take(self, count: int) -> bytes:
        if self.at + count > GROWN_BYTES_MAX:
            raise self.trouble("it grows too large")
        if count in (2, 4, 8) and self._source.random() < 0.8:
            # A number of fixed width may be a length further on.
            return self._kept(bytes((self._source.randrange(4), *bytes(count - 1))))
        return self._kept(self._source.randbytes(count))

    def byte(self) -> int:
        low = (0, 1, 2) if self._wild else (0, 0, 0, 1)
        wild = self._source.random() < self._wild
        return self._kept(bytes((self._source.choice(range(256) if wild else low),)))[0]

    def _kept(self, given: bytes) -> bytes:
        self.given += given
        self.at += len(given)
        return given


def grow(codec: Codec[Any], source: Random) -> bytes | None:
    """An encoding that the codec takes; None where none was found."""
    for number in range(TRIES_MAX):
        # What has thousands of parts survives no wild byte.
        giver = Giver(source, wild=0.0 if number % 2 else 0.02)
        try:
            codec.read(giver)
        except InvalidJam:
            continue
        return bytes(giver.given)
    return None


def codecs() -> Iterator[tuple[str, Codec[Any]]]:
    """Every codec that a module of the package shows, each once, by its name."""
    seen: list[Codec[Any]] = []
    for module in modules():
        for name, codec in shown(module):
            if not any(codec is other for other in seen):
                seen.append(codec)
                yield f"{module.__name__.removeprefix('laneway.jam.')}.{name}", codec
    for spec in (TINY, FULL):
        for key, codec in component_codecs(spec).items():
            yield f"{spec.name} state {key.hex()[:2]}", codec


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(laneway.jam.__path__, "laneway.jam."):
        yield import_module(found.name)


def shown(module: ModuleType) -> Iterator[tuple[str, Codec[Any]]]:
    """Those that stand in the module, and those that it makes for a chain."""
    for name, thing in sorted(vars(module).items()):
        if name.startswith("_"):
            continue
        if isinstance(thing, Codec):
            yield name, thing
        elif name.endswith("_codec") and makes_for_a_chain(thing):
            for spec in (TINY, FULL):
                yield f"{name}({spec.name})", thing(spec)


def makes_for_a_chain(thing: Callable[..., Any]) -> bool:
    hints = typing.get_type_hints(getattr(thing, "__wrapped__", thing))
    asked = [hints.get(name) for name in signature(thing).parameters]
    return asked == [ChainSpec]
