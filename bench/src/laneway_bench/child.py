"""A process of the benchmark: it is asked by a line of JSON, answers by one, and is always ended.

Each contestant runs in a process of its own, so that none inherits the memory, the garbage or
the file handles of another. Should we be killed, a child reads the end of its questions, or
writes to nobody, and ends by itself.
"""

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from laneway_bench.limits import ANSWER_S_MAX, END_S_MAX, POLL_S


class BenchFailed(Exception):
    """A contestant could not be run. Nothing was measured."""


def end(process: "subprocess.Popen[bytes]", word: signal.Signals = signal.SIGTERM) -> None:
    """End one process by its own id, whatever it takes, and wait for it."""
    if process.poll() is not None:
        return
    process.send_signal(word)
    try:
        process.wait(END_S_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def cpu_of(pid: int) -> float:
    """What a process has spent so far, in the kernel too."""
    # The name is in parentheses and may hold anything, so the fields are counted from its end.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def module(name: str) -> "Child":
    """A contestant that is a module of this package."""
    return Child([sys.executable, "-m", f"laneway_bench.{name}"])


class Child:
    """One contestant's process."""

    def __init__(self, command: Sequence[str]) -> None:
        self._name = Path(command[-1]).name
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115  Closed with the child.
        self._buffer = b""
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
        )

    def ask(
        self,
        question: Mapping[str, object],
        tick: Callable[[float | None], None] = lambda _: None,
    ) -> dict[str, Any]:
        """The answer to one question; `tick` is called with how far the child says it is."""
        self.tell(question)
        return self.hear(tick)

    def tell(self, question: Mapping[str, object]) -> None:
        """Ask without waiting, so that several can work at once; `hear` has the answer."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failed("ended before it was asked") from None

    def hear(self, tick: Callable[[float | None], None] = lambda _: None) -> dict[str, Any]:
        heard_s = time.monotonic()
        while True:
            line = self._line(POLL_S)
            if line is None:
                tick(None)
                if time.monotonic() - heard_s > ANSWER_S_MAX:
                    raise self._failed(f"was silent for {ANSWER_S_MAX:.0f} s")
                continue
            heard_s = time.monotonic()
            answer = json.loads(line)
            if "result" in answer:
                result: dict[str, Any] = answer["result"]
                return result
            tick(answer["progress"])

    def kill(self) -> None:
        """As a crash would end it."""
        self._process.kill()
        self._process.wait()

    def cpu_s(self) -> float:
        return cpu_of(self._process.pid)

    def _line(self, wait_s: float) -> bytes | None:
        """The next line, or None when none came in time."""
        assert self._process.stdout is not None
        while b"\n" not in self._buffer:
            with selectors.DefaultSelector() as ready:
                ready.register(self._process.stdout, selectors.EVENT_READ)
                if not ready.select(wait_s):
                    return None
            read = os.read(self._process.stdout.fileno(), 65_536)
            if not read:
                self._process.wait()
                raise self._failed(f"ended with code {self._process.returncode}")
            self._buffer += read
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _failed(self, how: str) -> BenchFailed:
        self._complaints.seek(0)
        output = self._complaints.read().decode("utf-8", "replace").strip()
        return BenchFailed(f"{self._name} {how}{': ' if output else ''}{output[-2_000:]}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let it end by itself when all went well, and end it when not."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            if error is None:
                self._process.wait(END_S_MAX)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            pass
        finally:
            end(self._process)
            self._process.stdout.close()
            self._complaints.close()
