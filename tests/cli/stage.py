"""A server beside the test, on a thread of its own, and commands as a person types them."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.server.stage import serving

from laneway.cli.app import run


@contextmanager
def beside(**flags: str) -> Iterator[str]:
    """The URL of a server that serves until the block ends."""
    told: list[str] = []
    ready, over = threading.Event(), threading.Event()

    async def main() -> None:
        async with serving(**flags) as server:
            told.append(server.url)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.01)

    thread = threading.Thread(target=asyncio.run, args=(main(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield told[0]
    finally:
        over.set()
        thread.join(10)


class Terminal:
    """Types a command and reads what it said."""

    def __init__(self, url: str | None, capsys: pytest.CaptureFixture[str]) -> None:
        self.url = url
        self._capsys = capsys

    def type(self, *words: str) -> tuple[int, str, str]:
        self._capsys.readouterr()
        where = [] if self.url is None else ["--url", self.url]
        code = run([*words, *where, "--retry-s", "0.2"])
        said = self._capsys.readouterr()
        return code, said.out, said.err

    def json(self, *words: str, code: int = 0) -> list[Any]:
        """Its JSON Lines, every line an object of its own."""
        ended, out, err = self.type(*words, "--json")
        assert ended == code, err
        return [json.loads(line) for line in out.splitlines()]
