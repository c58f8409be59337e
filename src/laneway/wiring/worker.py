"""A process that owns a database and speaks JSON lines: `python -m laneway.wiring.worker`.

It answers a submission only when it is durable, and reports every final answer. It ends on EOF,
on SIGTERM (finishes commits, starts no send; a second SIGTERM ends it at once) or on request.
"""

import asyncio
import os
import stat
import sys
from argparse import ArgumentParser
from asyncio import Future, StreamReader, StreamReaderProtocol, StreamWriter
from collections.abc import Sequence
from typing import Any, assert_never

from msgspec import DecodeError
from msgspec.structs import asdict

from laneway.console.exits import EXIT_FAILED
from laneway.core.errors import BadRequest, LanewayError, StoreError
from laneway.core.ids import IntentId, LaneId
from laneway.core.rows import Result
from laneway.core.text import printable
from laneway.core.urls import shown_url
from laneway.engine.listeners import Listener
from laneway.ports import IntentView, Store
from laneway.stores.sqlite.database import sqlite_version
from laneway.wiring.config import Configuration, load_here
from laneway.wiring.embedded import Handle, Laneway
from laneway.wiring.limits import LINE_BYTES_MAX, SUBMISSIONS_INFLIGHT_MAX, WORKER_STOP_S_MAX
from laneway.wiring.logs import set_up_logs
from laneway.wiring.opening import open_laneway
from laneway.wiring.process import calm_collector, check_interpreter, exit_code, run, watch_signals
from laneway.wiring.worker_lines import (
    EndedLine,
    FailedLine,
    Line,
    Measure,
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
    decode_request,
    encode,
)


class Reporter(Listener):
    """A listener that notifies the parent of every final answer, and of the engine's end."""

    def __init__(self, writer: StreamWriter) -> None:
        self.store: Store | None = None
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self._writer = writer

    def say(self, line: Line) -> None:
        self._writer.write(encode(line))

    def notified(self, _lane: LaneId, _records: Sequence[Any], results: Sequence[Result]) -> None:
        for result in results:
            self.look_up(result.intent)

    def failed(self, error: Exception) -> None:
        if not self.failure.done():
            self.failure.set_result(error)

    def look_up(self, intent: IntentId) -> None:
        """Send the final answer of an intent, if it has one, with the key that its row keeps."""
        assert self.store is not None
        self.store.intent(intent).add_done_callback(self._found)

    def _found(self, found: "Future[IntentView | None]") -> None:
        if found.cancelled() or found.exception() is not None:
            return  # The store is gone; the parent learns it by asking the next worker.
        view = found.result()
        if view is not None and view.result is not None:
            one = view.result
            line = EndedLine(view.intent.key, one.intent, one.status, one.number, one.reason)
            self.say(line)


class WorkerDesk:
    """Carries out the parent's requests, in the order of their lines."""

    def __init__(self, laneway: Laneway, reporter: Reporter) -> None:
        self._laneway = laneway
        self._reporter = reporter
        self._open: set[asyncio.Task[None]] = set()

    async def serve(self, reader: StreamReader, writer: StreamWriter) -> Stop:
        """Read lines until the last one, and say how the worker should end."""
        while True:
            try:
                raw = await reader.readline()
            except ValueError:
                # The stream has dropped what it held, so the next line may begin anywhere.
                self._refuse(None, "bad_request", f"a line has at most {LINE_BYTES_MAX} bytes")
                return Stop()
            if not raw:
                return Stop()
            try:
                request = decode_request(raw)
            except (DecodeError, UnicodeDecodeError, RecursionError) as error:
                self._refuse(None, "bad_request", str(error))
                continue
            if isinstance(request, Stop):
                return request
            # Tasks begin in the order of their making, so submissions keep the lines' order.
            task = asyncio.create_task(self._carry_out(request))
            self._open.add(task)
            task.add_done_callback(self._open.discard)
            if len(self._open) >= SUBMISSIONS_INFLIGHT_MAX:
                await asyncio.wait(self._open, return_when=asyncio.FIRST_COMPLETED)
            await writer.drain()

    async def settle(self) -> None:
        """Answer what was read before the end."""
        if self._open:
            await asyncio.wait(self._open, timeout=WORKER_STOP_S_MAX)

    async def _carry_out(self, request: Request) -> None:
        key = request.key if isinstance(request, Submit | Send) else None
        try:
            match request:
                case Submit():
                    self._took(request.key, await self._laneway.submit(**asdict(request)))
                case Send():
                    self._took(request.key, await self._laneway.send(**asdict(request)))
                case ShowLine(id=intent):
                    tx = await self._laneway.show(intent)
                    why, tx_key = tx.reason, tx.idempotency_key
                    self._reporter.say(ShownLine(tx.id, tx.status, why, tx.block, tx_key))
                case Measure():
                    self._reporter.say(Measured(await self._laneway.metrics()))
                case Stop():
                    raise AssertionError("a stop ends the reading")
                case _:
                    assert_never(request)
        except LanewayError as error:
            self._refuse(key, error.code, str(error), error.retry)

    def _took(self, key: str, handle: Handle) -> None:
        self._reporter.say(TakenLine(key, handle.id, handle.replayed))
        if handle.replayed:
            # It may have ended in an earlier life of this worker, and nobody was notified.
            self._reporter.look_up(handle.id)

    def _refuse(self, key: str | None, code: str, message: str, retry: str = "never") -> None:
        self._reporter.say(RefusedLine(code, message, retry, key))


async def serve(configuration: Configuration) -> int:
    """One life of a worker; the number is its exit code."""
    reader, writer = await open_pipes()
    reporter = Reporter(writer)
    laneway = open_laneway(configuration, (reporter,))
    reporter.store = laneway.store
    terminated = asyncio.Event()
    watch_signals(terminated)
    async with laneway:
        calm_collector()
        path = shown_url(configuration.config.store.path)
        reporter.say(ReadyLine(os.getpid(), path, ".".join(map(str, sqlite_version()))))
        desk = WorkerDesk(laneway, reporter)
        reading = asyncio.create_task(desk.serve(reader, writer))
        ending = asyncio.create_task(terminated.wait())
        await asyncio.wait((reading, ending, reporter.failure), return_when=asyncio.FIRST_COMPLETED)
        stop = reading.result() if reading.done() else Stop()
        reading.cancel()
        await desk.settle()
        if reporter.failure.done():
            return await fail(writer, reporter)
        drained = await drain(laneway, stop, terminated)
    reporter.say(StoppedLine(drained))
    await flush(writer)
    return EXIT_FAILED if reporter.failure.done() else 0


async def drain(laneway: Laneway, stop: Stop, terminated: asyncio.Event) -> bool:
    """End as asked; a SIGTERM cuts a long drain short."""
    draining = asyncio.create_task(laneway.engine.drain(stop.drain))
    ending = asyncio.create_task(terminated.wait())
    await asyncio.wait((draining, ending), return_when=asyncio.FIRST_COMPLETED)
    ending.cancel()
    if not draining.done():
        draining.cancel()
        return False
    return draining.result()


async def fail(writer: StreamWriter, reporter: Reporter) -> int:
    error = reporter.failure.result()
    code = error.code if isinstance(error, LanewayError) else "bug"
    reporter.say(FailedLine(code, str(error)))
    await flush(writer)
    return exit_code(error) if isinstance(error, StoreError) else EXIT_FAILED


async def flush(writer: StreamWriter) -> None:
    try:
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    except (BrokenPipeError, ConnectionResetError):
        pass  # The parent went away first; what it needs is in the database.


async def open_pipes() -> tuple[StreamReader, StreamWriter]:
    for name, stream in (("stdin", sys.stdin), ("stdout", sys.stdout)):
        mode = os.fstat(stream.fileno()).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            # Checked here, for uvloop aborts the whole process over a file.
            raise BadRequest(name, "a worker speaks through pipes; try: cat | COMMAND | cat")
    loop = asyncio.get_running_loop()
    reader = StreamReader(limit=LINE_BYTES_MAX)
    await loop.connect_read_pipe(lambda: StreamReaderProtocol(reader), sys.stdin.buffer)
    # The mixin of plain write pipes cannot say when all is written; this protocol can.
    transport, protocol = await loop.connect_write_pipe(
        lambda: StreamReaderProtocol(StreamReader()), sys.stdout.buffer
    )
    return reader, StreamWriter(transport, protocol, None, loop)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = ArgumentParser("python -m laneway.wiring.worker", description=__doc__)
    parser.add_argument("--config", metavar="FILE", help="laneway.toml to work by")
    chosen = parser.parse_args(arguments)
    try:
        check_interpreter()
        configuration = load_here(chosen.config)
        set_up_logs(configuration.config.log)
        return run(serve(configuration))
    except LanewayError as error:
        print(f"laneway: {printable(str(error))}", file=sys.stderr)
        return exit_code(error)


if __name__ == "__main__":
    sys.exit(main())
