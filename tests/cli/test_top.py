"""Laws of `laneway top`: one look without a terminal, a picture of what matters on one."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console
from tests.cli.stage import Terminal, beside

from laneway.cli.top import Look, Rate, busy, picture, trouble
from laneway.client.blocking import Client


def test_without_a_terminal_it_is_one_look(capsys: pytest.CaptureFixture[str]) -> None:
    with beside(host__round_ms="60000") as url:
        terminal = Terminal(url, capsys)
        for number in range(3):
            terminal.json("send", "contract:A", "--data", str(number))
        terminal.json("send", "contract:B", "--data", "x")
        code, out, _ = terminal.type("top")
        assert code == 0
        first, head, *rows = out.splitlines()
        assert first.startswith("2 lanes · 2 waiting · 2 running · ")
        assert head.split()[0] == "lane"
        assert [row.split()[0] for row in rows] == ["contract:A", "contract:B"]
        (look,) = terminal.json("top")
        assert (look["lanes"], look["waiting"], look["running"]) == (2, 2, 2)


def test_a_server_that_is_not_there_ends_a_single_look(capsys: pytest.CaptureFixture[str]) -> None:
    assert Terminal("http://127.0.0.1:9", capsys).type("top")[0] == 75


def test_the_rate_is_of_the_last_while() -> None:
    rate = Rate()
    assert rate.at(0.0, 100) is None
    assert rate.at(1.0, 110) == 10.0
    assert rate.at(2.0, 110) == 5.0
    for second in range(3, 60):
        last = rate.at(float(second), 110)
    assert last == 0.0
    assert rate.at(60.0, 5) == 0.0


def test_the_picture_fits_the_screen_and_shows_trouble_first() -> None:
    with beside() as url, Client(url) as client:
        for number in range(30):
            client.send(f"contract:L{number:02}", "x").wait(20)
        found = sorted(client.lanes(), key=busy)
    look = Look(30, 0, 0, 30, 0, 1.5)
    console = Console(width=100, height=20, record=True, file=open(os.devnull, "w"))  # noqa: SIM115
    console.print(trouble(picture(found, look, 20), "no\x1b[2J server"))
    shown = console.export_text()
    console.file.close()
    assert shown.splitlines()[0].strip() == r"no\x1b[2J server"
    assert "1.5/s" in shown
    assert len(shown.splitlines()) <= 21
    assert "contract:L00" in shown


@pytest.mark.slow
def test_on_a_terminal_it_moves_until_it_is_interrupted(tmp_path: Path) -> None:
    with beside(host__round_ms="60000") as url, Client(url) as client:
        client.send("contract:Qm1", "x")
        master, slave = pty.openpty()
        command = [sys.executable, "-m", "laneway", "top", "--url", url, "--every", "0.1"]
        process = subprocess.Popen(
            command,
            cwd=tmp_path,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            # Whoever runs these tests in the background may have it ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
        )
        os.close(slave)
        said, until = b"", time.monotonic() + 30
        while b"contract:Qm2" not in said and time.monotonic() < until:
            if b"contract:Qm1" in said and b"Qm2" not in said:
                client.send("contract:Qm2", "x", key="once")
            said += os.read(master, 65_536)
        process.send_signal(2)
        try:
            while os.read(master, 65_536):
                pass
        except OSError:
            pass  # Its end of the terminal is closed.
        os.close(master)
        assert process.wait(20) == 0
        assert b"contract:Qm2" in said
        assert b"Traceback" not in said
