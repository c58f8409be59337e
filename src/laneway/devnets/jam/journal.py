"""The calls that made an embedded JAM chain, in a file, so that it outlives its process.

A lane that saw its block final waits for ever on a chain that begins anew. A model is what its
calls made of it, and the same calls make the same bytes: so they are written down before they are
carried out, and played again at the next start. The file has one owner, whoever holds the database
beside it.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from laneway.core.errors import StoreRefused
from laneway.devnets.jam.calls import ask
from laneway.devnets.jam.given import RpcRefused
from laneway.devnets.jam.host import STEP, JamHost
from laneway.devnets.jam.limits import CALLS_KEPT_MAX
from laneway.engine.files import make_private

ANEW = "begin anew with another database, or remove both"


class Title(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line: which chain this is."""

    genesis: str
    spec: str
    nodes: int


class Line(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One call, and the best block before it, by which it is known that all went as it did."""

    best: str
    node: int
    method: str
    params: object = None


encode = msgspec.json.Encoder().encode
decode_title = msgspec.json.Decoder(Title).decode
decode_line = msgspec.json.Decoder(Line).decode


class Journal:
    """One call a line. What a crash tore off its end is cut away."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._file: IO[bytes] | None = None
        self._host: JamHost | None = None
        self._count = 0

    def load(self, host: JamHost) -> int:
        """Carry out on a fresh chain what was written, and write down what comes. How many calls
        there were."""
        assert host.kept is None
        model = host.model
        title = Title(model.genesis.hex(), model.spec.name, model.setup.nodes)
        make_private(self.path)
        file = self._file = Path(self.path).open("r+b")  # noqa: SIM115
        self._host = host
        try:
            end = self._read(file, title)
        except StoreRefused:
            self.close()
            raise
        file.seek(end)
        file.truncate()
        if end == 0:
            self._append(encode(title))
        host.kept = self.write
        return self._count

    def write(self, node: int, method: str, params: object) -> None:
        """Durable before it is carried out, and so before anyone hears of what came of it."""
        self._append(encode(Line(self._best(), node, method, params)))

    def close(self) -> None:
        if self._host is not None:
            self._host.kept = None
        if self._file is not None:
            self._file.close()
            self._file = None

    def _read(self, file: IO[bytes], title: Title) -> int:
        first = file.readline()
        if not first.endswith(b"\n"):
            return 0
        self._check(first, title)
        return self._play(file, len(first))

    def _check(self, first: bytes, title: Title) -> None:
        try:
            found = decode_title(first)
        except msgspec.DecodeError:
            raise StoreRefused(self.path, f"is no chain of a JAM devnet; {ANEW}") from None
        if found != title:
            raise StoreRefused(self.path, f"holds another chain than this version makes; {ANEW}")

    def _play(self, file: IO[bytes], end: int) -> int:
        """Where the last whole line ends."""
        for raw in file:
            try:
                line = decode_line(raw) if raw.endswith(b"\n") else None
            except msgspec.DecodeError:
                line = None
            if line is None:
                break
            if self._count == CALLS_KEPT_MAX:
                problem = f"has more than {CALLS_KEPT_MAX} calls, too many to play again"
                raise StoreRefused(self.path, f"{problem}; {ANEW}")
            self._repeat(line)
            end += len(raw)
        return end

    def _repeat(self, line: Line) -> None:
        assert self._host is not None
        if line.best != self._best():
            raise StoreRefused(self.path, f"goes another way in this version; {ANEW}")
        self._count += 1
        if line.method == STEP:
            self._host.step()
            return
        with suppress(RpcRefused):  # It was refused then, too.
            ask(self._host, line.node, line.method, line.params)

    def _best(self) -> str:
        assert self._host is not None
        return self._host.model.best(0).header_hash.hex()

    def _append(self, line: bytes) -> None:
        assert self._file is not None
        self._file.write(line + b"\n")
        self._file.flush()
        os.fdatasync(self._file.fileno())
