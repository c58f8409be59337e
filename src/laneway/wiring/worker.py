"""A process that owns a database and speaks JSON lines: `python -m laneway.wiring.worker`.

It answers a submission only when it is durable, and reports every final answer. It ends on EOF,
on SIGTERM (finishes commits, starts no send; a second SIGTERM ends it at once) or when told to.
"""

import asyncio
import os
import signal
import stat
import sys
from argparse import ArgumentParser
from asyncio import Future, StreamReader, StreamReaderProtocol, StreamWriter
from collections.abc import Sequence
from functools import partial
from typing import Any, assert_never

from msgspec import DecodeError

from laneway.core.errors import BadRequest, LanewayError, StoreError
from laneway.core.ids import IntentId, LaneId
from laneway.core.rows import Result
from laneway.core.text import printable
from laneway.engine.listeners import Listener
from laneway.ports import IntentView, Store
from laneway.stores.sqlite.database import sqlite_version
from laneway.wire.urls import shown_url
from laneway.wiring.config import Configuration, load_here
from laneway.wiring.contract import open_laneway
from laneway.wiring.embedded import Laneway
from laneway.wiring.limits import (
    LINE_BYTES_MAX,
    SUBMISSIONS_INFLIGHT_MAX,
    WORKER_STOP_S_MAX,
)
from laneway.wiring.logs import set_up_logs
from laneway.wiring.process import (
    EXIT_FAILED,
    calm_collector,
    check_interpreter,
    exit_code,
    run,
)
from laneway.wiring.worker_lines import (
    Ended,
    Failed,
    Line,
    Measure,
    Measured,
    Ready,
    Refused,
    Request,
    Send,
    Show,
    Shown,
    Stop,
    Stopped,
    Submit,
    Taken,
    decode_request,
    encode,
)


class Reporter(Listener):
    """A listener that tells the parent of every final answer, and of the engine's end."""

    def __init__(self, writer: StreamWriter) -> None:
        self.store: Store | None = None
        self.failure: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()
        self._writer = writer

    def say(self, line: Line) -> None:
        self._writer.write(encode(line))

    def told(self, _lane: LaneId, _records: Sequence[Any], results: Sequence[Result]) -> None:
        for result in results:
            self.look_up(result.intent)

    def failed(self, error: Exception) -> None:
        if not self.failure.done():
            self.failure.set_result(error)

    def look_up(self, intent: IntentId) -> None:
        """Tell the final answer of an intent, if it has one, with the key that its row keeps."""
        assert self.store is not None
        self.store.intent(intent).add_done_callback(self._found)

    def _found(self, found: "Future[IntentView | None]") -> None:
        if found.cancelled() or found.exception() is not None:
            return  # The store is gone; the parent learns it by asking the next worker.
        view = found.result()
        if view is not None and view.result is not None:
            result = view.result
            self.say(
                Ended(view.intent.key, result.intent, result.status, result.number, result.reason)
            )


class Desk:
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
                    await self._submit(request)
                case Send():
                    await self._send(request)
                case Show(id=intent):
                    shown = await self._laneway.show(intent)
                    line = Shown(
                        shown.id, shown.status, shown.reason, shown.block, shown.idempotency_key
                    )
                    self._reporter.say(line)
                case Measure():
                    self._reporter.say(Measured(await self._laneway.metrics()))
                case Stop():
                    raise AssertionError("a stop ends the reading")
                case _:
                    assert_never(request)
        except LanewayError as error:
            self._refuse(key, error.code, str(error), error.retry)

    async def _submit(self, request: Submit) -> None:
        handle = await self._laneway.submit(
            request.contract,
            request.data,
            executor=request.executor,
            quorum_type=request.quorum_type,
            comment=request.comment,
            key=request.key,
            priority=request.priority,
            valid_until_ms=request.valid_until_ms,
        )
        self._reporter.say(Taken(request.key, handle.id, handle.replayed))
        if handle.replayed:
            # It may have ended in an earlier life of this worker, and been told to nobody.
            self._reporter.look_up(handle.id)

    async def _send(self, request: Send) -> None:
        handle = await self._laneway.send(
            request.lane,
            to=request.to,
            value=request.value,
            data=request.data,
            gas=request.gas,
            key=request.key,
        )
        self._reporter.say(Taken(request.key, handle.id, handle.replayed))
        if handle.replayed:
            self._reporter.look_up(handle.id)

    def _refuse(self, key: str | None, code: str, message: str, retry: str = "never") -> None:
        self._reporter.say(Refused(code, message, retry, key))


async def serve(configuration: Configuration) -> int:
    """One life of a worker; the number is its exit code."""
    reader, writer = await open_pipes()
    reporter = Reporter(writer)
    laneway = open_laneway(configuration, (reporter,))
    reporter.store = laneway.store
    terminated = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, partial(terminate, loop, terminated))
    async with laneway:
        calm_collector()
        path = shown_url(configuration.config.store.path)
        reporter.say(Ready(os.getpid(), path, ".".join(map(str, sqlite_version()))))
        desk = Desk(laneway, reporter)
        reading = asyncio.create_task(desk.serve(reader, writer))
        ending = asyncio.create_task(terminated.wait())
        await asyncio.wait((reading, ending, reporter.failure), return_when=asyncio.FIRST_COMPLETED)
        stop = reading.result() if reading.done() else Stop()
        reading.cancel()
        await desk.settle()
        if reporter.failure.done():
            return await fail(writer, reporter)
        drained = await drain(laneway, stop, terminated)
    reporter.say(Stopped(drained))
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
    reporter.say(Failed(code, str(error)))
    await flush(writer)
    return exit_code(error) if isinstance(error, StoreError) else EXIT_FAILED


async def flush(writer: StreamWriter) -> None:
    try:
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    except (BrokenPipeError, ConnectionResetError):
        pass  # The parent went away first; what it needs is in the database.


def terminate(loop: asyncio.AbstractEventLoop, terminated: asyncio.Event) -> None:
    # The next signal finds the kernel's own answer.
    loop.remove_signal_handler(signal.SIGTERM)
    loop.remove_signal_handler(signal.SIGINT)
    terminated.set()


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
