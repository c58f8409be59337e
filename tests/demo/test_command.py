"""Laws of `laneway demo`: right only if the chain says so, and nothing is left behind."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from laneway.cli.app import run
from laneway.demo.live import LiveView
from laneway.demo.plain import JsonView, PlainView
from laneway.demo.texts import nonces_cell
from laneway.demo.values import (
    ContractRow,
    DemoPlan,
    DemoSnapshot,
    DemoVerdict,
    DemoView,
    Direct,
    Kill,
    Naive,
    PaymentRow,
    Surroundings,
)

SMALL = ["--contracts", "3", "--executions", "6", "--kills", "2", "--round-ms", "60"]
SMALL += ["--payments", "10"]


def demo(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """The demo as a person runs it, with its temporary files in `folder`."""
    return subprocess.Popen(
        [sys.executable, "-m", "laneway", "demo", *arguments],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder), "LANEWAY_STORE__PATH": "/nonsense"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def workers_in(folder: Path) -> list[int]:
    """The workers that still run on this folder's files."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"laneway.wiring.worker" in command and str(folder).encode() in command:
                found.append(int(entry.name))
    return found


def nodes_in(folder: Path) -> list[int]:
    """The anvils that were started from this folder and still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                here = (entry / "cwd").readlink() == folder
                if here and b"anvil" in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


@pytest.mark.slow
def test_it_kills_and_every_row_is_right(tmp_path: Path) -> None:
    ran = demo(tmp_path, "--once", *SMALL)
    out, err = ran.communicate(timeout=90)
    assert ran.returncode == 0, err
    assert "10 concurrent executions of one contract → 1 success, 9 conflicts" in out
    assert out.count("SIGKILL #") == 2
    assert "18/18 executed once, in order, no conflict · worker killed 2 times" in out
    rows = [line.split() for line in out.splitlines() if line.startswith("T0")]
    assert rows == [[f"T0{n}", "6", "6", "0", "0", "0", "yes"] for n in range(3)]
    payers = [line.split() for line in out.splitlines() if line.startswith("payer")]
    assert payers == [
        [f"payer{n}", "10", "10", "0", "0", "0–9", "dense", "yes"] for n in range(1, 4)
    ]
    assert "3 EVM accounts × 10 payments on anvil 1." in out
    assert "3 lost → 13 mined, 3 paid twice" in out
    assert "30/30 payments mined once on anvil 1." in out
    assert list(tmp_path.iterdir()) == []
    assert workers_in(tmp_path) == nodes_in(tmp_path) == []


@pytest.mark.slow
def test_the_verdict_is_one_object_for_a_script(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    ran = demo(tmp_path, "--once", "--json", "--keep", str(kept), "--seed", "5", *SMALL)
    out, err = ran.communicate(timeout=90)
    assert ran.returncode == 0, err
    told = json.loads(out)
    assert (told["ok"], told["sent"], told["on_chain"]) == (True, 18, 18)
    assert [row["once"] for row in told["verdict"]["payments"]] == [10, 10, 10]
    assert [kill["number"] for kill in told["verdict"]["kills"]] == [1, 2]
    assert all(kill["running"] >= 1 for kill in told["verdict"]["kills"])
    assert {"laneway.db", "laneway.toml", "worker.log"} <= {path.name for path in kept.iterdir()}
    again = demo(tmp_path, "--once", "--keep", str(kept), *SMALL)
    _, err = again.communicate(timeout=90)
    assert again.returncode == 2
    assert "is not empty; name a new folder" in err


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stays_up_until_it_is_stopped(number: signal.Signals, tmp_path: Path) -> None:
    ran = demo(tmp_path, *SMALL)
    assert ran.stdout is not None
    for line in ran.stdout:
        if line.startswith("  its log"):
            break
    assert len(workers_in(tmp_path)) == len(nodes_in(tmp_path)) == 1
    ran.send_signal(number)
    out, err = ran.communicate(timeout=30)
    assert (ran.returncode, out, err) == (0, "", "")
    assert workers_in(tmp_path) == nodes_in(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_stopped_in_the_middle_it_cleans_up_and_says_so(tmp_path: Path) -> None:
    begun_s = time.monotonic()
    ran = demo(tmp_path, *SMALL)
    assert ran.stdout is not None
    assert "concurrent executions" in ran.stdout.readline()
    # On a quiet machine it is there within half a second; two are promised.
    assert time.monotonic() - begun_s < 10
    for line in ran.stdout:
        if "SIGKILL" in line:
            break
    ran.send_signal(signal.SIGINT)
    _, err = ran.communicate(timeout=30)
    assert ran.returncode == 130
    assert err == "laneway: interrupted before the verdict; the worker is gone\n"
    assert workers_in(tmp_path) == nodes_in(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_more_kills_than_work_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--once", "--executions", "4", "--kills", "4"]) == 2
    assert "--executions: must be more than the 4 kills" in capsys.readouterr().err


# Views.

RIGHT = ContractRow("T00", 2, 2, 0, 0, in_order=True, gaps=0)
WRONG = ContractRow("T01", 2, 3, 1, 0, in_order=False, gaps=0)


PAID = PaymentRow(
    account="payer1", accepted=2, once=2, twice=0, lost=0, wrong=0, no_ops=0, nonces=2, dense=True,
    in_order=True,
)  # fmt: skip
PAID_TWICE = PaymentRow(
    account="payer1", accepted=2, once=1, twice=1, lost=0, wrong=0, no_ops=0, nonces=4, dense=False,
    in_order=False,
)  # fmt: skip


def tell(view: DemoView, *rows: ContractRow) -> None:
    names = [row.contract for row in rows]
    view.began(DemoPlan(contracts=len(rows), executions=2, kills=1, accounts=1), names, ["payer1"])
    view.node("anvil 1.7.1")
    view.direct(Direct(10, 1, 9))
    view.naive(Naive(10, 3, 13, 3))
    running = dict.fromkeys(names, 1)
    view.moved(DemoSnapshot(2.0, running, running, 4, 3, 0, "pid 7", {"payer1": 5}))
    view.killed(Kill(1, 2.5, 7, 1, 1, 2, 4))
    view.ended(
        DemoVerdict(
            rows=list(rows), direct=Direct(10, 1, 9), kills=[Kill(1, 2.5, 7, 1, 1, 2)], resent=2,
            replayed=1, tries_refused=1, seconds=3.0, folder="F",
            problem="" if WRONG not in rows else "it broke", node="anvil 1.7.1", answers_lost=6,
            payments=[PAID if WRONG not in rows else PAID_TWICE], naive=Naive(10, 3, 13, 3),
        )
    )  # fmt: skip
    view.stays(
        Surroundings("http://127.0.0.1:1", "F", "F/laneway.db", "F/log", "T00", 7, "http://n")
    )
    view.close()


def plain(*rows: ContractRow) -> str:
    stream = io.StringIO()
    tell(PlainView(stream), *rows)
    return stream.getvalue()


def live(*rows: ContractRow, **options: object) -> str:
    stream = io.StringIO()
    tell(LiveView(Console(file=stream, width=110, **options)), *rows)  # type: ignore[arg-type]
    return stream.getvalue()


@pytest.mark.parametrize("draw", [plain, live])
def test_both_views_say_the_same(draw: object) -> None:
    assert callable(draw)
    said = draw(RIGHT)
    assert "10 concurrent executions of one contract → 1 success, 9 conflicts" in said
    assert "SIGKILL #1 of worker pid 7: 1 on chain, 1 rounds running, 4 payments on" in said
    assert "1 EVM accounts × 100 payments on anvil 1.7.1, blocks of 250 ms" in said
    assert "3 lost → 13 mined, 3 paid twice" in " ".join(said.split())
    assert "2/2 payments mined once on anvil 1.7.1, in order, no gap, nonces dense" in said
    assert "http://n -d" in said
    assert "1 duplicate tries refused by the chain" in said
    assert "2/2 executed once, in order, no conflict · worker killed 1 times · 3.0 s" in said
    assert "curl -s http://127.0.0.1:1/api/get-smart-contract-token-chain-data" in said
    assert "Ctrl-C" in said


@pytest.mark.parametrize("draw", [plain, live])
def test_a_wrong_row_is_not_passed_over(draw: object) -> None:
    assert callable(draw)
    said = draw(RIGHT, WRONG)
    assert "NOT right: 5 blocks for 4 executions" in said
    assert "NOT dense" in said
    assert "payments NOT right: 1 of 2 mined once on anvil 1.7.1" in said
    assert "problem: it broke" in said
    assert "everything is kept in F" in said


def test_an_account_that_used_no_nonce_has_none() -> None:
    nothing = PaymentRow(
        account="payer1", accepted=2, once=0, twice=0, lost=2, wrong=0, no_ops=0, nonces=0,
        dense=True, in_order=False,
    )  # fmt: skip
    assert nonces_cell(nothing) == "none"


def test_payments_are_counted_while_one_watches() -> None:
    assert "1 on chain, 1 rounds running, 5 payments mined, 3/4 submissions" in plain(RIGHT)
    assert "5/100" in live(RIGHT, force_terminal=True)


def test_without_the_extra_it_says_what_is_missing() -> None:
    stream = io.StringIO()
    PlainView(stream).node("")
    assert "no EVM accounts here" in stream.getvalue()
    assert "pip install 'laneway[evm]'" in stream.getvalue()


def test_no_colour_is_used_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[1;31m" in live(WRONG, force_terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in live(WRONG, force_terminal=True)


def test_a_script_gets_the_verdict_alone(capsys: pytest.CaptureFixture[str]) -> None:
    tell(JsonView(), RIGHT)
    captured = capsys.readouterr()
    assert json.loads(captured.out)["ok"] is True
    assert "SIGKILL" in captured.err
