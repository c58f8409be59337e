"""Whatever is asked for with whatever parameters: there is an answer, and the chain goes on."""

from random import Random
from typing import Any

import pytest
from msgspec import json
from tests.devnets.calls import now
from tests.devnets.jam.wire_stage import UNKNOWN, text

from laneway.devnets.jam.model.values import ModelSetup
from laneway.devnets.jam.node.caller import JamCaller
from laneway.devnets.jam.node.control import CONTROLS
from laneway.devnets.jam.node.host import JamHost
from laneway.devnets.jam.node.methods import METHODS
from laneway.devnets.jam.node.rpc import JamRpc
from laneway.devnets.jam.node.switches import SWITCHES

CODES = (-32700, -32600, -32601, -32602, 0, 1, 2, 3)
NAMES = sorted({*METHODS, *CONTROLS} - {"dev_reset"})
NODES = 2


def some_value(chance: Random, host: JamHost, depth: int = 0) -> Any:
    """Often a thing that some method takes, and else anything."""
    best = text(host.model.best(0).header_hash)
    likely = [best, text(host.model.genesis), UNKNOWN, 0, 1, 2, True, False, "", "AA==", [], {}]
    others = [None, -1, 2**16, 2**32, 2**64, 0.5, "freeze", text(bytes(31)), "\ud7ff", "=" * 9]
    if depth < 3 and chance.random() < 0.3:
        if chance.random() < 0.3:
            names = ["slot", "parent", "noGuarantee", "noAssure", "variant", "wish"]
            chosen = chance.sample(names, chance.randrange(3))
            return {name: some_value(chance, host, depth + 1) for name in chosen}
        return [some_value(chance, host, depth + 1) for _ in range(chance.randrange(4))]
    return chance.choice(likely if chance.random() < 0.7 else [*others, *SWITCHES])


@pytest.mark.parametrize("seed", range(8))
def test_every_call_has_an_answer(seed: int) -> None:
    chance, host = Random(seed), JamHost(ModelSetup(nodes=NODES), slot_ms=0)
    for number in range(4_000):
        method = chance.choice(NAMES)
        most = len((METHODS.get(method) or CONTROLS[method]).kinds)
        params = [some_value(chance, host) for _ in range(chance.choice([most, most, most, 1, 5]))]
        call = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        check(host, number % NODES, json.encode(call))
    host.model.faults.skipped_slots.clear()
    before = host.model.slot
    assert host.step().slot == before + 1


def check(host: JamHost, node: int, body: bytes) -> None:
    said = now(JamRpc().answer(JamCaller(host, node), body))
    if said is not None and "error" in said:
        assert said["error"]["code"] in CODES, body
        assert said["error"]["message"], body
    json.encode(said)


@pytest.mark.parametrize("seed", range(4))
def test_every_mutated_message_has_an_answer(seed: int) -> None:
    chance, host = Random(seed), JamHost(ModelSetup(), slot_ms=0)
    params = [0, text(bytes(40)), [text(b"one")]]
    call = {"jsonrpc": "2.0", "id": 1, "method": "submitWorkPackage", "params": params}
    whole = json.encode(call)
    for _ in range(500):
        body = bytearray(whole)
        for _ in range(chance.randrange(1, 4)):
            place = chance.randrange(len(body))
            match chance.randrange(3):
                case 0:
                    body[place] = chance.randrange(256)
                case 1:
                    del body[place : place + chance.randrange(1, 9)]
                case _:
                    body[place:place] = bytes([chance.randrange(256)])
            if not body:
                body += whole
        check(host, 0, bytes(body))
