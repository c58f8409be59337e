"""Laws of the commands for rollups."""

import asyncio
import json
import re
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import urlopen

import pytest
from tests.cli.stage import Terminal, beside
from tests.kinds.rollup.test_views import teller, view_of
from tests.lanes.bundle.scenes import two
from tests.lanes.bundle.stage import queued
from tests.rollup_served import LANE, Stage, staged

from laneway.client.asynchronous import AsyncClient, AsyncSentTx
from laneway.client.blocking import AtOnce, SentTx
from laneway.console.remote import Output
from laneway.kinds.rollup.bundles import shown_of
from laneway.kinds.rollup.commands import (
    about,
    block_facts,
    core_ranges,
    drawn,
    numbers,
    tx_facts,
    version_facts,
    was_there,
)
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.wire.values import Tx

pytestmark = pytest.mark.slow

HASH = r"0x[0-9a-f]{64}"
SEND = ("rollup", "send", "--from", "dev:0", "--to", "dev:1", "--amount", "5")


@pytest.fixture
def served(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Iterator[tuple[Terminal, Stage]]:
    """A terminal beside a rollup on a quick chain."""
    told: list[Stage] = []
    ready, over = threading.Event(), threading.Event()

    async def main() -> None:
        async with staged(tmp_path) as stage:
            told.append(stage)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.01)

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(20)
    try:
        yield Terminal(told[0].client.url, capsys), told[0]
    finally:
        over.set()
        thread.join(10)


def test_a_rollup_has_one_name_in_every_output_and_is_found_by_it(
    served: tuple[Terminal, Stage],
) -> None:
    typed, _ = served
    typed.type(*SEND, "--wait", "--timeout", "60")
    for words in (("lanes",), ("rollup", "list")):
        _, out, _ = typed.type(*words)
        assert out.splitlines()[1].split()[0] == LANE, words
    for name in (LANE, "rollup:dev", "dev", "1"):
        code, out, _ = typed.type("rollup", "status", "--rollup", name)
        assert (code, out.splitlines()[0].split()[1]) == (0, LANE), name
    with urlopen(f"{typed.url}/readyz") as answer:
        names = [one["name"] for one in json.load(answer)["checks"]]
    assert [name for name in names if "rollup" in name] == [LANE]


def test_money_is_sent_waited_for_and_shown(served: tuple[Terminal, Stage]) -> None:
    typed, _ = served
    code, out, err = typed.type(*SEND, "--wait", "--timeout", "60")
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"tx_\w+  confirmed  {LANE} #1  block 1  {HASH}\n", out)
    hash_ = out.split()[-1]
    _, out, _ = typed.type("rollup", "status")
    assert re.search(rf"^rollup +{LANE} \(dev\): ledger, service 1$", out, re.M)
    for word in ("Queued", "Submitted", "Guaranteed", "Accumulated"):
        assert re.search(rf"^{word} +-$", out, re.M), word
    assert re.search(r"^Finalised +1v1$", out, re.M)
    assert re.search(r"^in flight +0, can submit: no$", out, re.M)
    assert re.search(r"^duplicates +0 guarantees and 0 accumulations rejected$", out, re.M)
    (status,) = typed.json("rollup", "status", "--rollup", "1")
    assert status["picture"]["finalised"] == ["1v1"]
    (listed,) = typed.json("rollup", "list")
    assert listed["lane"] == LANE
    _, out, _ = typed.type("rollup", "list")
    assert out.splitlines()[1].split()[:3] == [LANE, "dev", "ledger"]
    _, out, _ = typed.type("rollup", "bundles")
    assert re.search(r"^B-1 +1 +finalised +1 +1 +0x", out, re.M)
    assert typed.json("rollup", "bundles", "--state", "queued") == []
    _, out, _ = typed.type("rollup", "bundle", "1")
    assert re.search(rf"^tx +tx_\w+  {hash_}  included$", out, re.M)
    assert re.search(r"^accumulated +slot \d+  0x", out, re.M)
    _, out, _ = typed.type("rollup", "receipt", hash_)
    assert re.search(r"^which is +finalised$", out, re.M)
    assert re.search(r"^status +ok$", out, re.M | re.I)
    _, out, _ = typed.type("rollup", "account", "dev:1")
    assert re.search(r"^balance +1000000000005$", out, re.M)
    _, out, _ = typed.type("tx", "show", hash_)
    assert re.search(r"^bundle +B-1$", out, re.M)
    assert re.search(rf"^package +v1  {HASH}$", out, re.M)
    _, out, _ = typed.type("lane", "show", "rollup:dev")
    assert re.search(rf"^rollup +{LANE} \(dev\): ledger$", out, re.M)
    code, out, _ = typed.type("lane", "health", "rollup:dev")
    assert (code, "health        good" in out) == (0, True)


def test_many_are_sent_at_once_and_words_to_the_lane_are_those_of_every_lane(
    served: tuple[Terminal, Stage],
) -> None:
    typed, _ = served
    _, out, _ = typed.type("lane", "pause", "rollup:dev", "--reason", "a test")
    assert out.startswith(f"{LANE}: starts nothing more")
    sent = typed.json(*SEND, "--count", "3", "--key", "rent")
    assert [one["idempotency_key"] for one in sent] == ["rent:0", "rent:1", "rent:2"]
    more = typed.json(*SEND)
    assert len({one["id"] for one in sent + more}) == 4, "each has a nonce of its own"
    _, out, _ = typed.type("rollup", "status")
    assert re.search(r"^state +paused$", out, re.M)
    assert re.search(r"^pool +4 pending, 0 in blocks$", out, re.M)
    code, _, _ = typed.type("tx", "cancel", more[0]["id"])
    assert code == 0
    typed.type("lane", "resume", "rollup:dev")
    for one in sent:
        code, out, _ = typed.type("tx", "wait", one["id"], "--timeout", "60")
        assert (code, "confirmed" in out) == (0, True)
    code, out, _ = typed.type("lane", "drain", "rollup:dev")
    assert code == 0


def test_what_was_sent_before_is_not_told_as_sent_again(served: tuple[Terminal, Stage]) -> None:
    typed, stage = served
    code, out, _ = typed.type(*SEND, "--wait", "--timeout", "60")
    assert code == 0
    intent = out.split()[0]
    for more in ((), ("--wait",), ("--json",)):
        code, out, err = typed.type(*SEND, "--nonce", "0", *more)
        assert (code, out) == (1, "")
        assert f"these bytes were handed in before: {intent}  confirmed" in err
        assert "nothing new was sent" in err
    # Who says on purpose that it is the same one is told what became of it.
    for words in ((*SEND, "--nonce", "0", "--key", "rent"), ("rollup", "send", "--raw",
                  stage.raw(0))):  # fmt: skip
        (again,) = typed.json(*words)
        assert (again["id"], again["status"]) == (intent, "confirmed")


def test_many_stop_at_the_first_that_was_sent_before(served: tuple[Terminal, Stage]) -> None:
    typed, _ = served
    typed.type("lane", "pause", "rollup:dev", "--reason", "a test")
    (third,) = typed.json(*SEND, "--nonce", "2")
    code, out, err = typed.type(*SEND, "--nonce", "0", "--count", "4")
    assert (code, len(out.splitlines())) == (1, 2)
    assert f"handed in before: {third['id']}" in err
    assert "2 of 4 were sent, and no more" in err


def test_an_answer_that_was_lost_is_no_other_sending() -> None:
    """The client asks again under its own key, and is told of what it sent itself."""
    tx = Tx(
        id="tx_1", lane=LANE, status="queued", final=False, reason="", seq=1,
        accepted_at=datetime.now(UTC), idempotency_key="auto-1", retry_of=None, priority=0,
        valid_until=None, settled_at=None,
    )  # fmt: skip
    for key, replayed, was in (
        ("auto-1", True, False), ("auto-2", True, True), ("auto-1", False, False)
    ):  # fmt: skip
        assert was_there(SentTx(AtOnce(), AsyncSentTx(AsyncClient(), tx, key, replayed))) is was


def test_a_key_file_signs_and_its_mistakes_are_said_without_showing_it(
    served: tuple[Terminal, Stage], tmp_path: Path
) -> None:
    typed, stage = served
    key = tmp_path / "payer.key"
    secret = DEV_ACCOUNTS[2].secret.hex()
    key.write_text(secret + "\n")
    key.chmod(0o644)
    words = ("rollup", "send", "--to", DEV_ACCOUNTS[1].id.hex(), "--amount", "1", "--from")
    code, _, err = typed.type(*words, str(key))
    assert (code, "chmod 600" in err) == (2, True)
    key.chmod(0o600)
    (sent,) = typed.json(*words, str(key), "--wait")
    assert sent["status"] == "confirmed"
    key.write_text(secret[:-1])
    code, _, err = typed.type(*words, str(key))
    assert (code, "64 hexadecimal digits" in err, secret[:8] in err) == (2, True, False)
    code, _, err = typed.type(*words, str(tmp_path / "nothing"))
    assert (code, "nothing" in err) == (1, True)
    (raw,) = typed.json("rollup", "send", "--raw", stage.raw(0, payer=3))
    assert raw["status"] == "queued"


@pytest.mark.parametrize(
    "words",
    [
        ("send", "--from", "dev:0"),
        ("send", "--raw", "0x00", "--amount", "1"),
        ("send", "--from", "dev:10", "--to", "dev:1", "--amount", "1"),
        ("send", "--from", "dev:x", "--to", "dev:1", "--amount", "1"),
        ("send", "--from", "dev:0", "--to", "nobody", "--amount", "1"),
        ("send", "--from", "dev:0", "--to", "dev:1", "--amount", str(1 << 64)),
        ("account", "nobody"),
        ("bundle",),
    ],
)
def test_what_is_said_wrongly_is_told_before_anything_is_sent(
    served: tuple[Terminal, Stage], words: tuple[str, ...]
) -> None:
    typed, _ = served
    code, out, err = typed.type("rollup", *words)
    assert (code, out) == (2, ""), err


def test_what_is_not_there_has_an_exit_code(served: tuple[Terminal, Stage]) -> None:
    typed, _ = served
    for words in (("bundle", "9"), ("receipt", "00" * 32), ("status", "--rollup", "nobody")):
        code, _, err = typed.type("rollup", *words)
        assert (code, err.startswith("laneway: ")) == (3, True), err


def test_a_server_without_rollups_says_how_to_get_one(capsys: pytest.CaptureFixture[str]) -> None:
    with beside() as url:
        typed = Terminal(url, capsys)
        assert typed.json("rollup", "list") == []
        code, _, err = typed.type("rollup", "status")
        assert (code, "laneway up --rollup ledger" in err) == (2, True)


def test_an_open_block_is_printed_with_its_versions_and_what_they_met(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stage = two()
    shown = shown_of(stage.lane, stage.named(1))
    facts = [*block_facts(shown), *version_facts(shown), *tx_facts(shown)]
    Output(False).facts(shown, facts)
    out = capsys.readouterr().out
    assert re.search(r"^number +1 \(provisional\)$", out, re.M)
    assert re.search(r"^why +not_guaranteed_yet$", out, re.M)
    assert re.search(
        rf"^version 1 +{HASH}  core 0  submitted \d times  \d+ bytes  dead$", out, re.M
    )
    assert re.search(rf"^version 2 +{HASH}  core \d  submitted 1 times  \d+ bytes$", out, re.M)
    assert re.search(r"^  anchor +slot \d+  0x", out, re.M)
    assert re.search(r"^  answer +a taken$", out, re.M)
    assert re.search(r"^  seen +dead in slot \d+: anchor_not_recent: not recent$", out, re.M)
    assert re.search(r"^faults +1$", out, re.M)


@pytest.mark.parametrize(
    ("cores", "shown"),
    [
        (range(341), "0-340"),
        ((0,), "0"),
        ((0, 1), "0, 1"),
        ((7, 0, 1, 2, 5, 6), "7, 0-2, 5, 6"),
        ((0, 2, 4), "0, 2, 4"),
        ((), ""),
    ],
)
def test_many_cores_are_shown_as_ranges(cores: Sequence[int], shown: str) -> None:
    assert core_ranges(cores) == shown


def test_a_status_is_drawn_as_far_as_it_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    stage = queued(2)
    stage.accept(1)
    stage.skew_ms = 1_500
    stage.tell("pause")
    stage.look()
    for held in (True, False):
        status = teller(stage, held=held).status(view_of(stage), None)
        Output(False).facts(status, [*about(status), *drawn(status), *numbers(status)])
    known, _, part = capsys.readouterr().out.partition("rollup  ")[2].partition("rollup  ")
    assert re.search(r"^Queued +1v1, 2v1$", known, re.M)
    assert re.search(r"^waits +B-1 \(block 1\): paused$", known, re.M)
    assert re.search(r"^why +why \(by ann\)$", known, re.M)
    assert re.search(r"^clock skew +1500 ms, nothing is submitted$", known, re.M)
    assert re.search(r"^pool +1 pending, 2 in blocks$", known, re.M)
    assert "Queued" not in part
    assert re.search(r"^open +2$", part, re.M)
    assert re.search(r"^pool +3 not final$", part, re.M)
    assert re.search(r"^elsewhere +the blocks, their versions and the pool", part, re.M)
