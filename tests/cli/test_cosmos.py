"""Laws of the commands for Cosmos accounts."""

import asyncio
import json
import re
import threading
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.stage import Terminal
from tests.cosmos_stage import LANE, NAMESPACE, OWN, TO, WHOLE, Stage, staged

from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.protobuf import encode

pytestmark = pytest.mark.slow
MAIN = "cosmos:dev"
HASH = r"[0-9A-F]{64}"


@pytest.fixture
def typed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Iterator[Terminal]:
    """A terminal beside a chain that makes a block now and then."""
    told: list[Stage] = []
    ready, over = threading.Event(), threading.Event()

    async def main() -> None:
        async with staged(tmp_path, block_ms=50) as stage:
            told.append(stage)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.01)

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield Terminal(told[0].client.url, capsys)
    finally:
        over.set()
        thread.join(10)


def test_coins_are_sent_waited_for_and_shown(typed: Terminal) -> None:
    words = ("send", MAIN, "--to", TO, "--amount", "5utia", "--memo", "rent", "--key", "order-7")
    code, out, err = typed.type(*words, "--wait", "--timeout", "60")
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"tx_\w+  confirmed  {LANE} #1  sequence 0  block \d+  {HASH}\n", out)
    (again,) = typed.json(*words)
    assert again["status"] == "confirmed"
    for name in (again["hash"], f"{MAIN}#0", "key:order-7", again["id"]):
        _, out, _ = typed.type("tx", "show", name)
        assert re.search(r"^amount +5utia$", out, re.M)
        assert re.search(rf"^signers +{OWN}$", out, re.M)
        assert re.search(rf"^attempt 1 +{HASH}  fee \d+ for \d+ gas  until block \d+$", out, re.M)
    (listed,) = typed.json("tx", "list", "--lane", MAIN)
    assert listed["id"] == again["id"]
    code, out, _ = typed.type("lane", "health", MAIN)
    assert (code, "health        good" in out) == (0, True)
    code, out, _ = typed.type("lane", "show", MAIN)
    assert re.search(r"^in flight +0 of 4$", out, re.M)
    assert re.search(r"^committed +1$", out, re.M)
    assert re.search(r"^node \S+ +next 1, height \d+$", out, re.M)
    (row,) = typed.json("lane", "list")
    assert row["cosmos"]["sequence_next"] == 1
    code, out, _ = typed.type("top", "--once")
    assert (code, LANE in out) == (0, True)


def test_blobs_and_messages_are_sent_from_files_and_arguments(
    typed: Terminal, tmp_path: Path
) -> None:
    blob = tmp_path / "blob"
    blob.write_bytes(bytes(3 << 20))
    options = ("--namespace", NAMESPACE, "--gas-price", "0.01", "--timeout-height", "1000000")
    (sent,) = typed.json("send", MAIN, "--blob", str(blob), *options, "--wait")
    said = sent["cosmos"]["payload"]
    assert (sent["status"], said["gas_price"]) == ("confirmed", "0.010000")
    assert said["blobs"] == [{"namespace": WHOLE, "size": 3 << 20, "share_version": 0}]
    assert said["timeout_height"] == 1_000_000, "as it was asked"
    assert sent["cosmos"]["timeout_height"] < 1_000, "its bytes are valid for `timeout_blocks`"
    value = b64encode(encode(MsgSend(OWN, TO, (Coin("utia", "2"),)))).decode()
    (sent,) = typed.json(
        "send", MAIN, "--message", f"{MsgSend.url}:{value}", "--fee", "2000", "--gas", "200000",
        "--wait",
    )  # fmt: skip
    assert (sent["status"], sent["cosmos"]["attempts"][0]["fee"]) == ("confirmed", 2_000)
    _, out, _ = typed.type("tx", "show", sent["id"])
    assert re.search(r"^amount +2utia$", out, re.M)


def test_a_sequence_is_set_after_a_dry_run(typed: Terminal) -> None:
    assert typed.type("send", MAIN, "--to", TO, "--amount", "1", "--wait")[0] == 0
    code, out, _ = typed.type("lane", "set-sequence", MAIN, "9", "--dry-run")
    words = "the next sequence becomes 9, from 1: the chain counts 1, and nothing of ours has it"
    assert (code, out) == (0, f"{LANE}: would: {words}\n")
    (plan,) = typed.json("lane", "set-sequence", MAIN, "--dry-run")
    assert plan["sequence"]["becomes"] == 1
    assert typed.json("lane", "set-sequence", MAIN, "--reason", "drift")[0]["outcome"] == "done"
    assert typed.type("lane", "set-sequence", MAIN, "x")[0] == 2
    assert typed.json("lane", "pause", MAIN, "--reason", "audit")[0]["lane"]["state"] == "paused"
    code, out, _ = typed.type("lane", "health", MAIN)
    assert (code, "paused by loopback: audit" in out) == (1, True)
    (waits,) = typed.json("send", MAIN, "--to", TO, "--amount", "1")
    assert typed.json("tx", "cancel", waits["id"])[0]["tx"]["status"] == "cancelled"
    assert typed.json("lane", "resume", MAIN)[0]["outcome"] == "done"
    assert typed.json("lane", "drain", MAIN)[0]["lane"]["state"] in ("draining", "paused")


def test_a_file_may_speak_of_cosmos_accounts_and_contracts(typed: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "txs.jsonl"
    lines = [
        {"lane": MAIN, "to": TO, "amount": "1utia"},
        {"lane": "contract:Qm1", "data": "x", "executor": "did:1"},
        {"lane": MAIN, "blobs": [{"namespace": NAMESPACE, "data": "eHg="}], "memo": "m"},
        {"lane": MAIN, "data": "text", "namespace": NAMESPACE, "fee": 9_000},
    ]
    file.write_text("\n".join(json.dumps(line) for line in lines))
    first = typed.json("send", "--file", str(file), "--wait", "--timeout", "30")
    again = typed.json("send", "--file", str(file))
    assert [tx["id"] for tx in first] == [tx["id"] for tx in again]
    assert [tx["status"] for tx in first] == ["confirmed"] * 4
    assert [one["cosmos"]["sequence"] for one in first if one["cosmos"]] == [0, 1, 2]
    file.write_text(json.dumps({"lane": MAIN, "memo": "only"}))
    code, _, err = typed.type("send", "--file", str(file))
    assert (code, "line 1" in err) == (2, True)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--memo", "x"),
        ("--namespace", NAMESPACE),
        ("--message", "no url"),
        ("--message", "/a.B:!"),
        ("--to", TO, "--amount", "1", "--executor", "did:1"),
        ("--to", TO),
        ("--to", TO, "--amount", "1", "--value", "1"),
    ],
)
def test_what_cannot_be_sent_is_refused(typed: Terminal, words: tuple[str, ...]) -> None:
    code, _, err = typed.type("send", MAIN, *words)
    assert (code, bool(err)) == (2, True)


def test_an_account_that_is_not_configured_is_not_found(typed: Terminal) -> None:
    assert typed.type("send", "cosmos:dev:cold", "--to", TO, "--amount", "1")[0] == 3
