"""Laws of the commands for EVM accounts."""

import asyncio
import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.anvil import Anvil, anvil
from tests.cli.stage import Terminal
from tests.server.test_accounts import LANE, TO, running

pytestmark = pytest.mark.slow
HOT = "evm:dev:hot"


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Iterator[tuple[Terminal, Anvil]]:
    """A terminal, and a node that mines when it is told to."""
    told: list[str] = []
    ready, over = threading.Event(), threading.Event()

    async def main(node: Anvil) -> None:
        async with running(node, tmp_path) as (_, client):
            told.append(client.url)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.01)

    with anvil() as node:
        thread = threading.Thread(target=lambda: asyncio.run(main(node)), daemon=True)
        thread.start()
        assert ready.wait(10)
        try:
            yield Terminal(told[0], capsys), node
        finally:
            over.set()
            thread.join(10)


def test_a_transaction_is_sent_waited_for_and_shown(typed: tuple[Terminal, Anvil]) -> None:
    terminal, node = typed
    node.say("evm_setIntervalMining", 1)
    words = ("send", HOT, "--to", TO, "--value", "1gwei", "--key", "order-7")
    code, out, err = terminal.type(*words, "--wait", "--timeout", "60")
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"tx_\w+  confirmed  {LANE} #1  nonce 0  block \d+  0x\w{{64}}\n", out)
    (again,) = terminal.json(*words)
    assert again["status"] == "confirmed"
    for name in (again["hash"], f"{HOT}#0", "key:order-7", again["id"]):
        _, out, _ = terminal.type("tx", "show", name)
        assert re.search(r"^value +1000000000 wei$", out, re.M)
        assert re.search(r"^attempt 1 +0x\w+ .* MINED$", out, re.M)
    (listed,) = terminal.json("tx", "list", "--lane", HOT)
    assert listed["id"] == again["id"]
    code, out, _ = terminal.type("lane", "health", HOT)
    assert (code, "health        good" in out) == (0, True)
    assert re.search(r"^in flight +0 of 4$", out, re.M)
    (row,) = terminal.json("lane", "list")
    assert row["evm"]["nonce_next"] == 1


def test_what_is_out_is_bumped_replaced_and_taken_back(typed: tuple[Terminal, Anvil]) -> None:
    terminal, _ = typed
    (sent,) = terminal.json("send", HOT, "--to", TO, "--gas", "21000")
    place = f"{HOT}#0"
    for _ in range(200):
        code, out, _ = terminal.type("tx", "show", place)
        if code == 0 and "submitted" in out:
            break
    assert terminal.json("tx", "bump", place, "--dry-run")[0]["outcome"] == "would"
    code, out, _ = terminal.type("tx", "bump", place, "--reason", "slow")
    assert (code, out) == (
        0, f"{LANE}: a dearer attempt is sent at nonce 0; whichever lands decides\n",
    )  # fmt: skip
    assert terminal.type("tx", "replace", place)[0] == 2
    (action,) = terminal.json("tx", "replace", place, "--to", TO, "--value", "2gwei")
    assert (action["action"], action["tx"]["id"]) == ("replace", sent["id"])
    assert terminal.json("tx", "cancel", sent["id"])[0]["action"] == "cancel"
    code, out, _ = terminal.type("lane", "reset-nonce", HOT, "--dry-run")
    assert (code, "stays 1" in out) == (0, True)
    assert terminal.json("lane", "reset-nonce", HOT)[0]["outcome"] == "done"
    assert terminal.json("lane", "pause", HOT, "--reason", "audit")[0]["lane"]["state"] == "paused"
    code, out, _ = terminal.type("lane", "health", HOT)
    assert (code, "paused by loopback: audit" in out) == (1, True)
    assert terminal.json("lane", "resume", HOT)[0]["outcome"] == "done"
    assert terminal.json("lane", "drain", HOT)[0]["lane"]["state"] == "draining"


@pytest.mark.parametrize(
    ("verbs", "mined", "asked"),
    [
        ((("replace", "2"),), "2", {"asked": "1"}),
        ((("replace", "2"), ("replace", "3")), "3", {"asked": "1"}),
        ((("replace", "2"), ("cancel",)), "0", {"asked": "1", "asked later": "2"}),
        ((("cancel",),), "0", {"asked": "1"}),
        ((("bump",),), "1", {}),
    ],
)
def test_what_was_mined_is_shown_beside_what_was_asked(
    typed: tuple[Terminal, Anvil],
    verbs: tuple[tuple[str, ...], ...],
    mined: str,
    asked: dict[str, str],
) -> None:
    terminal, node = typed
    (sent,) = terminal.json("send", HOT, "--to", TO, "--value", "1", "--gas", "21000")
    for count, (verb, *value) in enumerate(verbs, 1):
        until_attempts(terminal, sent["id"], count)
        words = ("--to", TO, "--value", *value, "--gas", "21000") if value else ()
        terminal.json("tx", verb, sent["id"], *words)
    until_attempts(terminal, sent["id"], len(verbs) + 1)
    node.say("evm_setIntervalMining", 1)
    terminal.type("tx", "wait", sent["id"], "--timeout", "60")
    (shown,) = terminal.json("tx", "show", sent["id"])
    on_chain = node.say("eth_getTransactionByHash", shown["hash"])
    evm = shown["evm"]
    assert evm["mined"] is not None
    assert evm["mined"]["value"] == str(int(on_chain["value"], 16)) == mined
    assert evm["mined"]["to"].lower() == on_chain["to"]
    assert int(evm["mined"]["max_fee_per_gas"]) == int(on_chain["maxFeePerGas"], 16)
    assert evm["payload"]["value"] == "1"
    _, out, _ = terminal.type("tx", "show", sent["id"])
    assert re.search(rf"^value +{mined} wei$", out, re.M)
    rows = dict(re.findall(r"^(mined|asked|asked later) +(\d+) wei to 0x", out, re.M))
    assert rows == ({"mined": mined, **asked} if asked else {})


def until_attempts(terminal: Terminal, intent: str, count: int) -> None:
    """Wait until a transaction has this many attempts, the last of them at a node."""
    for _ in range(3_000):
        (shown,) = terminal.json("tx", "show", intent)
        tries = shown["evm"]["attempts"]
        if len(tries) == count and "taken" in tries[-1]["nodes"].values():
            return
        time.sleep(0.02)
    raise AssertionError(shown)


def test_a_file_may_speak_of_accounts_and_contracts(
    typed: tuple[Terminal, Anvil], tmp_path: Path
) -> None:
    terminal, _ = typed
    file = tmp_path / "txs.jsonl"
    lines = [
        {"lane": HOT, "to": TO, "value": "1 gwei"},
        {"lane": "contract:Qm1", "data": "x", "executor": "did:1"},
        {"lane": HOT, "to": TO, "value": 7, "max_fee_per_gas": "30 gwei"},
    ]
    file.write_text("\n".join(json.dumps(line) for line in lines))
    first = terminal.json("send", "--file", str(file))
    again = terminal.json("send", "--file", str(file))
    assert [tx["id"] for tx in first] == [tx["id"] for tx in again]
    assert first[2]["evm"]["payload"]["max_fee_per_gas"] == "30000000000"
    file.write_text(json.dumps({"lane": "contract:Qm1", "to": TO}))
    code, _, err = terminal.type("send", "--file", str(file))
    assert (code, "line 1" in err) == (2, True)
    for words in (("send", HOT), ("send", "contract:Qm1", "--to", TO)):
        assert terminal.type(*words)[0] == 2
    assert terminal.type("send", "evm:dev:cold", "--to", TO)[0] == 3
    assert terminal.type("send", HOT, "--to", TO, "--executor", "did:1")[0] != 0
