"""Laws of the commands that talk to a server: what they print, and how they end."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.stage import Terminal, beside
from tests.wiring.test_server import served

LANE = "contract:Qm123"


@pytest.fixture
def quick(capsys: pytest.CaptureFixture[str]) -> Iterator[Terminal]:
    with beside() as url:
        yield Terminal(url, capsys)


@pytest.fixture
def slow(capsys: pytest.CaptureFixture[str]) -> Iterator[Terminal]:
    """Nothing settles while the test looks."""
    with beside(host__round_ms="60000") as url:
        yield Terminal(url, capsys)


def test_a_transaction_is_sent_and_waited_for(quick: Terminal) -> None:
    words = ("--data", "transfer 5", "--executor", "did:1")
    code, out, err = quick.type("send", LANE, *words, "--wait")
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"tx_[0-9a-f]{{32}}  confirmed  {LANE} #1  block 1.*\n", out)
    (lane,) = quick.json("lanes")
    assert (lane["id"], lane["queue"]["executed"]) == (LANE, 1)


def test_a_command_with_a_key_is_safe_to_run_twice(quick: Terminal) -> None:
    words = ("send", LANE, "--data", "x", "--key", "order 7")
    (first,) = quick.json(*words)
    (again,) = quick.json(*words)
    assert first["id"] == again["id"]
    assert (first["status"], first["idempotency_key"]) == ("queued", "order 7")
    code, _, err = quick.type("send", LANE, "--data", "y", "--key", "order 7")
    assert code == 1
    assert "idempotency_conflict" in err
    assert quick.json("tx", "show", "key:order 7")[0]["id"] == first["id"]
    assert quick.json("tx", "wait", "key:order 7")[0]["status"] == "confirmed"


def test_a_file_is_sent_in_order_and_again_without_doubling(
    quick: Terminal, tmp_path: Path
) -> None:
    file = tmp_path / "txs.jsonl"
    lines = [{"data": "0", "key": "mine"}, *({"data": str(n), "lane": LANE} for n in range(1, 5))]
    file.write_text("\n\n".join(json.dumps(line) for line in lines) + "\n")
    first = quick.json("send", LANE, "--file", str(file), "--wait")
    again = quick.json("send", LANE, "--file", str(file), "--wait")
    assert [tx["id"] for tx in first] == [tx["id"] for tx in again]
    assert [tx["payload"]["data"] for tx in first] == list("01234")
    assert [tx["block"] for tx in first] == [1, 2, 3, 4, 5]
    assert first[0]["idempotency_key"] == "mine"
    other = quick.json("send", LANE, "--file", str(file), "--key", "monday")
    assert other[1]["idempotency_key"] == "monday:3"
    assert len(quick.json("tx", "list", "--lane", LANE, "--limit", "0")) == 9


def test_a_typo_in_the_last_line_sends_nothing(
    quick: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bad in (b'{"data": 1}', b"{", b'{"data":"x","colour":"red"}', b'{"data":"\xff"}'):
        raw = io.BytesIO(b'{"data":"good"}\n' + bad)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(raw))
        code, out, err = quick.type("send", LANE, "--file", "-")
        assert (code, out) == (2, "")
        assert "line 2" in err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"data":"x"}')))
    code, _, err = quick.type("send", "--file", "-")
    assert (code, "no lane" in err) == (2, True)
    assert quick.json("lanes") == []


@pytest.mark.parametrize(
    "words",
    [
        ("send",),
        ("send", LANE),
        ("send", "--data", "x"),
        ("send", LANE, "--data", "x", "--file", "-"),
        ("send", LANE, "--data", "x", "--valid-until", "tomorrow"),
        ("send", LANE, "--data", "x", "--valid-until", "2026-01-01T00:00:00"),
        ("send", LANE, "--data", "x", "--priority", "9"),
        ("send", "dance", "--data", "x"),
        ("tx", "list", "--status", "glad"),
        ("tx", "list", "--lane", "dance"),
        ("tx",),
        ("lane", "drain", LANE, "--mode", "fast"),
    ],
    ids=" ".join,
)
def test_a_wrong_command_exits_with_2(quick: Terminal, words: tuple[str, ...]) -> None:
    code, out, err = quick.type(*words)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


def test_what_is_not_there_exits_with_3(quick: Terminal) -> None:
    for words in (
        ("tx", "show", "tx_" + "0" * 32),
        ("tx", "show", "../lanes"),
        ("tx", "wait", "key:never"),
        ("tx", "cancel", "key:never"),
        ("lane", "show", "contract:Never"),
        ("lane", "pause", "contract:Never"),
    ):
        code, out, err = quick.type(*words)
        assert (code, out, err.count("\n")) == (3, "", 1), words


def test_a_server_that_is_not_there_exits_with_75(capsys: pytest.CaptureFixture[str]) -> None:
    nobody = Terminal("http://127.0.0.1:9", capsys)
    for words in (("lanes",), ("send", LANE, "--data", "x"), ("tx", "list")):
        code, out, err = nobody.type(*words)
        assert (code, out) == (75, "")
        assert "laneway up" in err
    assert Terminal("nowhere", capsys).type("lanes")[0] == 2


def test_a_wait_that_is_over_exits_with_75_and_a_bad_end_with_1(slow: Terminal) -> None:
    (runs,) = slow.json("send", LANE, "--data", "runs")
    (waits,) = slow.json("send", LANE, "--data", "waits")
    code, out, err = slow.type("tx", "wait", runs["id"], "--timeout", "0.1")
    assert (code, out) == (75, "")
    assert "not final" in err
    (would,) = slow.json("tx", "cancel", waits["id"], "--dry-run")
    assert would["outcome"] == "would"
    code, out, _ = slow.type("tx", "cancel", waits["id"], "--reason", "a test")
    assert (code, "never be executed" in out) == (0, True)
    assert slow.json("tx", "wait", waits["id"], code=1)[0]["status"] == "cancelled"
    assert slow.type("tx", "cancel", waits["id"])[0] == 1
    assert slow.type("tx", "cancel", runs["id"])[0] == 1


def test_a_lane_is_shown_paused_resumed_and_drained(slow: Terminal) -> None:
    for number in range(3):
        slow.json("send", LANE, "--data", str(number))
    code, out, _ = slow.type("lane", "pause", LANE, "--reason", "audit", "--dry-run")
    effect = "starts nothing more; 1 running ends, 2 stay queued"
    assert (code, out) == (0, f"{LANE}: would: {effect}\n")
    (paused,) = slow.json("lane", "pause", LANE, "--reason", "audit")
    assert (paused["action"], paused["outcome"], paused["lane"]["state"]) == (
        "pause", "done", "paused",
    )  # fmt: skip
    _, out, _ = slow.type("lane", "show", LANE)
    assert re.search(r"state +paused\nwhy +.*audit", out)
    _, out, _ = slow.type("lanes")
    head, row = out.splitlines()
    assert head.split() == ["lane", "state", "waiting", "running", "oldest", "executed", "why"]
    assert row.startswith(f"{LANE}  paused")
    assert slow.json("lane", "resume", LANE)[0]["lane"]["state"] == "running"
    assert slow.json("lane", "drain", LANE, "--mode", "running")[0]["action"] == "drain"
    assert slow.json("lane", "show", LANE)[0]["queue"]["enqueued"] == 3


def test_transactions_are_listed_and_shown_in_words(quick: Terminal) -> None:
    send = ("send", LANE, "--wait", "--data", "x", "--valid-until")
    quick.json(*send, "2999-01-01T00:00:00Z")
    quick.json(*send, "2001-01-01T00:00:00Z", code=1)
    _, out, _ = quick.type("tx", "list", "--lane", LANE)
    assert [line.split()[1] for line in out.splitlines()] == ["confirmed", "expired"]
    assert len(quick.json("tx", "list", "--status", "expired")) == 1
    assert len(quick.json("tx", "list", "--limit", "1")) == 1
    _, out, _ = quick.type("tx", "show", out.split()[0])
    assert re.search(r"^status +confirmed$", out, re.M)
    assert re.search(r"^block +1$", out, re.M)
    assert re.search(r"^valid until +2999-01-01", out, re.M)


def test_a_dead_one_is_retried_once_and_a_confirmed_one_never(quick: Terminal) -> None:
    send = ("send", LANE, "--wait", "--data", "x", "--key")
    quick.json(*send, "old", "--valid-until", "2001-01-01T00:00:00Z", code=1)
    (first,) = quick.json("tx", "retry", "key:old", "--reason", "wanted after all")
    (again,) = quick.json("tx", "retry", "key:old")
    assert first["tx"]["id"] == again["tx"]["id"]
    (done,) = quick.json("tx", "wait", first["tx"]["id"])
    _, out, _ = quick.type("tx", "show", done["id"])
    assert re.search(rf"^retry of +{done['retry_of']}$", out, re.M)
    code, _, err = quick.type("tx", "retry", done["id"])
    assert (code, "retry_refused" in err) == (1, True)


@pytest.mark.slow
def test_a_real_server_is_found_by_the_environment_and_survives_its_kill(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal(None, capsys)
    with served(tmp_path, "--set", "host.round_ms=60000") as up:
        monkeypatch.setenv("LANEWAY_URL", f"http://127.0.0.1:{up.port}")
        (sent,) = terminal.json("send", LANE, "--data", "x", "--key", "order-7")
        up.process.kill()
    with served(tmp_path, "--set", "host.round_ms=10", "--set", "contract.search_ms=50") as up:
        monkeypatch.setenv("LANEWAY_URL", f"http://127.0.0.1:{up.port}")
        (again,) = terminal.json("send", LANE, "--data", "x", "--key", "order-7")
        assert again["id"] == sent["id"]
        assert len(terminal.json("tx", "list")) == 1
