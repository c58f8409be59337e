"""Nodes that are of no use: a relay before a good one, which spoils what it says."""

from collections.abc import Callable
from random import Random
from typing import Any

from msgspec import Raw
from tests.jip2_relay import Jip2Relay, Json

from laneway.wire.jip2 import blob

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
        made_up(random, 7), made_up(random, (1 << 32) - 1), blob(random.randbytes(32)),
    ]  # fmt: skip

    def write(message: Json) -> Any:
        if random.random() < 0.05:
            return Raw(random.choice([b"{{{", b"[]", b'"x"', b"null", b'{"id": []}', b"[1, 2"]))
        shape = random.choice(shapes)
        if "id" in message:
            return {"jsonrpc": "2.0", "id": message["id"], "result": shape}
        return {**message, "params": {**message["params"], "result": shape}}

    relay.write = write


def lying(relay: Jip2Relay, random: Random) -> None:
    """Much of what it says has the right shape and is not true."""
    newest: Json = {"header_hash": blob(bytes(32)), "slot": 0}

    def spoil(method: str, result: Any) -> Any:
        nonlocal newest
        if method == "bestBlock":
            newest = result
            later = {**result, "slot": result["slot"] + 1}
            ahead = made_up(random, result["slot"] + 1)
            return random.choice([later, ahead, made_up(random, (1 << 32) - 1)])
        if method == "finalizedBlock":
            return random.choice([newest, made_up(random, newest["slot"]), result])
        if method == "parent":
            return random.choice([made_up(random, 1), result, result])
        if method in ("stateRoot", "beefyRoot"):
            return blob(random.randbytes(32))
        if method == "serviceValue":
            return random.choice([None, blob((1).to_bytes(8, "little")), result])
        if method == "workPackageStatus":
            return random.choice([{"Failed": "the anchor is not recent"}, result])
        if method == "parameters":
            return {"V1": {**result["V1"], "core_count": 341}} if "V1" in result else result
        return result

    def rewrite(method: str, message: Json) -> Json:
        if "id" in message:
            told = message.get("result")
            return {**message, "result": told if told is None else spoil(method, told)}
        return {**message, "params": {**message["params"], "result": made_up(random, 1 << 31)}}

    relay.rewrite = rewrite


def blind(relay: Jip2Relay, _random: Random) -> None:
    """It has lost what services keep, and knows all else."""

    def rewrite(method: str, message: Json) -> Json:
        return {**message, "result": None} if method == "serviceValue" else message

    relay.rewrite = rewrite


def made_up(random: Random, slot: int) -> Json:
    """A block that nobody has."""
    return {"header_hash": blob(random.randbytes(32)), "slot": slot}


def silent(relay: Jip2Relay, _random: Random) -> None:
    """It takes connections and calls, and answers none."""
    relay.swallows_all = True


FAULTS: dict[str, Spoil] = {
    "null": null,
    "garbage": garbage,
    "silent": silent,
    "lying": lying,
    "blind": blind,
}
