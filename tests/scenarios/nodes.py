"""Nodes that are of no use: a relay before a good one, which spoils what it says."""

from collections.abc import Callable
from random import Random
from typing import Any

from msgspec import Raw
from tests.jip2_relay import Jip2Relay, Json

Spoil = Callable[[Jip2Relay, Random], None]


def null(relay: Jip2Relay, _random: Random) -> None:
    """It answers null to everything, and its news are null too."""

    def write(message: Json) -> Json:
        if "id" in message:
            return {"jsonrpc": "2.0", "id": message["id"], "result": None}
        return {**message, "params": {**message["params"], "result": None}}

    relay.write = write


def garbage(relay: Jip2Relay, random: Random) -> None:
    """It answers with values of any shape, or with what is no JSON at all."""
    shapes: list[Any] = [
        0, -1, 1 << 70, 1.5, True, "", "garbage", "AAAA", [], {}, [[]], [None], {"header_hash": 7},
        {"header_hash": "AAAA", "slot": "x"}, {"header_hash": "A" * 43 + "=", "slot": 1 << 40},
    ]  # fmt: skip

    def write(message: Json) -> Any:
        if random.random() < 0.05:
            return Raw(random.choice([b"{{{", b"[]", b'"x"', b"null", b'{"id": []}', b"[1, 2"]))
        shape = random.choice(shapes)
        if "id" in message:
            return {"jsonrpc": "2.0", "id": message["id"], "result": shape}
        return {**message, "params": {**message["params"], "result": shape}}

    relay.write = write


def silent(relay: Jip2Relay, _random: Random) -> None:
    """It takes connections and calls, and answers none."""
    relay.swallows_all = True


FAULTS: dict[str, Spoil] = {"null": null, "garbage": garbage, "silent": silent}
