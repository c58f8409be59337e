"""The devnet answers as a celestia-core node did, call by call, in every recorded transcript.

What the recorded chain did by itself is read from its own words: which block held what, when the
fee was raised, which execution failed. The rest must follow.
"""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.devnets.calls import answer, answer_uri
from tests.vectors.folder import folder

from laneway.devnets.cosmos.model.app import MICRO, CosmosRules, gas_wanted, understood
from laneway.devnets.cosmos.model.chain import CosmosModel
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.devnets.cosmos.model.verdicts import AppVerdict

pytestmark = pytest.mark.vectors

RECORDED = CosmosRules(
    checks_signatures=False,
    opens_accounts=True,
    gas_used=64_321,
    shows_address=False,
    checks_messages=False,
)
"""The application of the recordings: sequences, timeouts and fees, and nothing else."""

SETTINGS = {
    "ttl-num-blocks": "ttl_blocks",
    "max_txs_bytes": "bytes_max",
    "max_tx_bytes": "tx_bytes_max",
    "size": "count_max",
    "cache_size": "rejected_max",
}
FULL_NODE, VALIDATOR = "full node", "validator"


def transcripts() -> list[Any]:
    found = sorted(folder("cosmos", "celestia-core-transcripts").glob("*.json"))
    if not found:
        reason = "no vectors in cosmos/celestia-core-transcripts; set LANEWAY_VECTORS"
        return [pytest.param(None, id="none", marks=pytest.mark.skip(reason=reason))]
    return [pytest.param(path, id=path.stem) for path in found]


@pytest.mark.parametrize("path", transcripts())
def test_the_devnet_answers_as_the_recorded_node_did(path: Path) -> None:
    replay = Replay(json.loads(path.read_bytes()))
    assert replay.run() > 0


class Replay:
    def __init__(self, told: dict[str, Any]) -> None:
        self.steps = ordered(told["steps"])
        config = told["mempool_config"]
        self.places = {VALIDATOR: 0, FULL_NODE: 1} if VALIDATOR in config else {}
        configs = [config[name] for name in self.places] if self.places else [config]
        self.chain = CosmosModel(rules=RECORDED, nodes=[rules_of(one) for one in configs])
        self.chain.app.price_micro = 0
        self.committed = {
            bytes.fromhex(one["hash"]): one["result"]
            for one in statuses(self.steps)
            if one["result"]["status"] == "COMMITTED"
        }
        for hash_, result in self.committed.items():
            if result["execution_code"]:
                failed = AppVerdict(result["execution_code"], result["error"], result["codespace"])
                self.chain.app.fails[hash_] = failed
        log = told.get("app_checktx_log")
        self.rechecked = None if log is None else {one["height"] for one in rechecks(log)}

    def run(self) -> int:
        calls = 0
        for height, step in self.steps:
            self.advance(max(height, newest_in(step)))
            request, response = step.get("request"), step["response"]
            if request is None:
                assert response.startswith("URLError"), response
                self.chain.restart(self.place(step))
                continue
            calls += 1
            if isinstance(request, str):
                self.check_uri(request, response, self.place(step))
            else:
                self.set_price(request, response)
                body = json.dumps(request).encode()
                assert answer(self.chain, self.place(step), body) == response, step["step"]
        return calls

    def check_uri(self, uri: str, response: str, node: int) -> None:
        method, _, words = uri.partition("?")
        status, said = answer_uri(self.chain, node, method, words)
        shown = json.dumps(said, separators=(",", ":"))
        assert (shown if status == 200 else f"{status} {shown}") == response

    def place(self, step: dict[str, Any]) -> int:
        return self.places[step.get("node", FULL_NODE)] if self.places else 0

    def set_price(self, request: dict[str, Any], response: dict[str, Any]) -> None:
        """The least fee, as the refusal of this very call says it."""
        self.chain.app.price_micro = 0
        found = re.search(r"required: (\d+)", response.get("result", {}).get("log", ""))
        if found is not None:
            tx = understood(base64.b64decode(request["params"]["tx"]))
            assert not isinstance(tx, AppVerdict)
            self.chain.app.price_micro = int(found[1]) * MICRO // gas_wanted(tx)

    def advance(self, height: int) -> None:
        while self.chain.height < height:
            number = self.chain.height + 1
            expected = self.expected(number)
            self.chain.is_held = not expected and not self.was_emptied(number)
            block = self.chain.produce()
            known = [one for one in block.hashes if one in self.committed]
            assert known == expected, f"block {number}"

    def expected(self, height: int) -> list[bytes]:
        found = [
            (result["index"], hash_)
            for hash_, result in self.committed.items()
            if int(result["height"]) == height
        ]
        return [hash_ for _, hash_ in sorted(found)]

    def was_emptied(self, height: int) -> bool:
        """What waited is never asked for again, and was not looked at again after this block: so it
        was in it."""
        if self.rechecked is None or height in self.rechecked:
            return False
        later = [(told, step) for told, step in self.steps if told >= height]
        asked = {bytes.fromhex(one["hash"]) for one in statuses(later)}
        return not any(one.hash in asked for one in self.chain.nodes[0].mempool.in_order())


def ordered(steps: list[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """By the heights they tell; what tells none belongs to what stands before it."""
    found: list[tuple[int, dict[str, Any]]] = []
    height = 0
    for step in steps:
        told = re.search(r"@h(\d+)", step["step"])
        height = height if told is None else int(told[1])
        found.append((height, step))
    return sorted(found, key=lambda pair: pair[0])


def newest_in(step: dict[str, Any]) -> int:
    """The newest block that an answer speaks of; a block may come between the height and it."""
    return max((int(one["result"]["height"]) for one in statuses([(0, step)])), default=0)


def statuses(steps: list[tuple[int, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    for _, step in steps:
        if isinstance(step["response"], dict):
            yield from step["response"].get("result", {}).get("statuses", ())


def rechecks(log: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (one for one in log if one["kind"] == "RECHECK")


def rules_of(config: dict[str, int]) -> MempoolRules:
    return MempoolRules(**{SETTINGS[name]: value for name, value in config.items()})
