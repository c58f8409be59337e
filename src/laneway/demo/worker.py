"""The parent's side of a worker that may die at any moment: it sends again what was not answered.

Order: lines are sent in the callers' order and a worker accepts them in the order of its lines,
so what a killed worker had accepted is a prefix of what it was sent. The next one is sent all
unanswered submissions, in their old order and before any new one; the keys sort out the rest.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import assert_never

from msgspec import DecodeError

from laneway.core.errors import LanewayError
from laneway.core.outcome import Status
from laneway.demo.limits import LOG_TAIL_BYTES, WORKER_READY_S_MAX
from laneway.wiring.limits import LINE_BYTES_MAX, WORKER_STOP_S_MAX
from laneway.wiring.worker_lines import (
    EndedLine,
    FailedLine,
    Line,
    Measured,
    ReadyLine,
    RefusedLine,
    Request,
    Send,
    ShowLine,
    ShownLine,
    Stop,
    StoppedLine,
    Submit,
    TakenLine,
    decode_line,
    encode,
)


class WorkerGone(LanewayError):
    """The worker ended although nobody killed it."""

    code = "worker_gone"

    def __init__(self, problem: str, log: Path) -> None:
        self.problem = problem
        self.log = log
        super().__init__(f"the worker {problem}; its log is {log}")


class WorkerCaller:
    """Submits through one worker after another until every submission is answered."""

    def __init__(self, config: Path, log: Path) -> None:
        self.unanswered: dict[str, Submit | Send] = {}
        """By key, in the order in which they were first sent."""
        self.ids: dict[str, str] = {}
        """What was accepted: the intent of each key."""
        self._payments: dict[str, Send] = {}
        self.ended: dict[str, EndedLine] = {}
        """Final answers by key."""
        self.refused: list[RefusedLine] = []
        self.failures: list[FailedLine] = []
        self.contradictions: list[str] = []
        """Keys that were answered with two different intents; a broken promise."""
        self.lives = 0
        self.resent_count = 0
        self.replayed_count = 0
        self._config = config
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def is_ready(self) -> bool:
        return self._process is not None and self._ready.is_set()

    # Lives.

    async def spawn(self) -> None:
        """Start the next worker and send it everything unanswered; it need not be ready yet."""
        assert self._process is None
        self._ready = asyncio.Event()
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "laneway.wiring.worker",
                "--config",
                str(self._config),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                limit=LINE_BYTES_MAX,
                # Ctrl-C is for the parent, who then ends its worker in peace.
                start_new_session=True,
                env={name: value for name, value in os.environ.items() if not is_ours(name)},
            )
        self.lives += 1
        assert self._process.stdout is not None
        self._reading = asyncio.create_task(self._read(self._process.stdout))
        if self.lives > 1:
            self.resent_count += len(self.unanswered)
        for submit in self.unanswered.values():
            self._say(submit)

    async def ready(self) -> None:
        """Wait until the worker has its database; raise what keeps it from that."""
        assert self._reading is not None
        waiting = asyncio.create_task(self._ready.wait())
        await asyncio.wait(
            (waiting, self._reading),
            timeout=WORKER_READY_S_MAX,
            return_when=asyncio.FIRST_COMPLETED,
        )
        waiting.cancel()
        if not self._ready.is_set():
            await self.check()
            raise WorkerGone(f"was not ready in {WORKER_READY_S_MAX:g} s", self._log)

    async def check(self) -> None:
        """Raise if the worker ended by itself."""
        if self._process is None or self._reading is None or not self._reading.done():
            return
        self._reading.result()
        code = await self._process.wait()
        raise WorkerGone(f"ended with code {code} ({self._last_words()})", self._log)

    async def kill(self) -> None:
        """SIGKILL: no farewell. What it had reported before still counts, for it was durable."""
        if self._process is None:
            return
        if self._process.returncode is None:
            self._process.kill()
        await self._buried()

    async def stop(self, drain: Stop) -> int:
        """Let it finish as commanded and end by itself; killed if that takes too long."""
        if self._process is None:
            return 0
        self._say(drain)
        process = self._process
        try:
            async with asyncio.timeout(WORKER_STOP_S_MAX):
                await process.wait()
        except TimeoutError:
            process.kill()
        await self._buried()
        assert process.returncode is not None
        return process.returncode

    async def _buried(self) -> None:
        assert self._process is not None
        assert self._reading is not None
        await self._process.wait()
        await self._reading
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None
        self._reading = None

    # Words.

    def send(self, submit: Submit | Send) -> None:
        """Submit now, or with the next worker if there is none."""
        self.unanswered[submit.key] = submit
        if isinstance(submit, Send):
            self._payments[submit.key] = submit
        self._say(submit)

    def ask_again(self) -> None:
        """Ask what became of accepted submissions whose end was reported to nobody. A payment is
        sent again: its key makes it the same one, whose end is reported now or when it comes."""
        for key, intent in self.ids.items():
            if key not in self.ended:
                self._say(self._payments.get(key) or ShowLine(intent))

    async def flush(self) -> None:
        """Wait until the worker's pipe took what was sent."""
        if self._process is not None and self._process.stdin is not None:
            try:
                await self._process.stdin.drain()
            except (BrokenPipeError, ConnectionResetError):
                return  # It died; whatever it did not answer is sent again.

    def _say(self, request: Request) -> None:
        process = self._process
        if process is None or process.stdin is None or process.stdin.is_closing():
            return
        process.stdin.write(encode(request))

    async def _read(self, stdout: asyncio.StreamReader) -> None:
        async for raw in stdout:
            try:
                line = decode_line(raw)
            except DecodeError:
                if raw.endswith(b"\n"):
                    raise
                return  # Cut off by the kill, so it was never reported.
            self._hear(line)

    def _hear(self, line: Line) -> None:
        match line:
            case ReadyLine():
                self._ready.set()
            case TakenLine(key=key, id=intent, replayed=replayed):
                if self.unanswered.pop(key, None) is not None:
                    self.replayed_count += replayed
                if self.ids.setdefault(key, intent) != intent:
                    self.contradictions.append(key)
            case EndedLine(key=str(key)):
                self.ended[key] = line
            case ShownLine(key=str(key)):
                if Status(line.status).is_final():
                    self.ended[key] = EndedLine(key, line.id, line.status, line.block, line.why)
            case RefusedLine(retry="later" | "after_check"):
                pass  # It stays unanswered and is sent again; its key sorts out what it became.
            case RefusedLine():
                self.refused.append(line)
                self.unanswered.pop(line.key or "", None)
            case FailedLine():
                self.failures.append(line)
            case EndedLine() | ShownLine() | Measured() | StoppedLine():
                pass  # Without a key, or of no use here.
            case _:
                assert_never(line)

    def _last_words(self) -> str:
        if self.failures:
            return self.failures[-1].message
        with self._log.open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_TAIL_BYTES))
            lines = log.read().decode(errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "it printed nothing")


def is_ours(variable: str) -> bool:
    """The worker's settings are in its file alone."""
    return variable.startswith("LANEWAY_")
