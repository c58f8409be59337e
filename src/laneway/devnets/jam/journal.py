"""The calls that made an embedded JAM chain, in a file, so that it outlives its process.

A lane that saw its block final waits for ever on a chain that begins anew. A model is what its
calls made of it, and the same calls make the same bytes: so they are written down before they are
carried out, and played again at the next start.
"""

from contextlib import suppress

import msgspec

from laneway.core.errors import StoreRefused
from laneway.devnets.jam.limits import CALLS_KEPT_MAX
from laneway.devnets.jam.model.genesis import rollup_authorizers
from laneway.devnets.jam.node.host import STEP, JamHost
from laneway.devnets.jam.node.rpc import ask
from laneway.devnets.node.lines import LineFile
from laneway.wire.rpc_server.methods import RpcRefused

ANEW = "begin anew with another database, or remove both"


class Title(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The first line: which chain this is."""

    genesis: str
    spec: str
    nodes: int
    authorizers: tuple[str, ...] = ()
    """Those that may move the line of its rollup; none is named on chains of earlier releases, and
    all may there. The genesis header does not depend on them, and the states do."""


class CallLine(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One call, and the best block before it, by which it is known that all went as it did."""

    best: str
    node: int
    method: str
    params: object = None


encode = msgspec.json.Encoder().encode
decode_title = msgspec.json.Decoder(Title).decode
decode_line = msgspec.json.Decoder(CallLine).decode


class Journal:
    """One call a line, after the title."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lines = LineFile(path)
        self._host: JamHost | None = None
        self._title: Title | None = None
        self._count = 0

    def authorizers(self) -> tuple[bytes, ...] | None:
        """Those that may move the line of the chain in the file; None if there is no chain yet."""
        raw = self._lines.first()
        try:
            title = None if raw is None else decode_title(raw)
            return None if title is None else tuple(map(bytes.fromhex, title.authorizers))
        except ValueError:
            return None  # It is no title, and loading says so.

    def load(self, host: JamHost) -> int:
        """Carry out on a fresh chain what was written, and write down what comes. How many calls
        there were."""
        assert host.kept is None
        model = host.model
        listed = tuple(one.hex() for one in rollup_authorizers(model.setup))
        title = Title(model.genesis.hex(), model.spec.name, model.setup.nodes, listed)
        self._host = host
        try:
            self._lines.open(lambda line: self._take(line, title))
        except StoreRefused:
            self.close()
            raise
        if self._title is None:
            self._lines.append(encode(title))
        host.kept = self.write
        return self._count

    def write(self, node: int, method: str, params: object) -> None:
        """Durable before it is carried out, and so before anyone is notified of what came of it."""
        self._lines.append(encode(CallLine(self._best(), node, method, params)))

    def close(self) -> None:
        if self._host is not None:
            self._host.kept = None
        self._lines.close()

    def _take(self, raw: bytes, title: Title) -> bool:
        if self._title is None:
            self._title = self._checked(raw, title)
            return True
        try:
            line = decode_line(raw)
        except msgspec.DecodeError:
            return False
        if self._count == CALLS_KEPT_MAX:
            problem = f"has more than {CALLS_KEPT_MAX} calls, too many to play again"
            raise StoreRefused(self.path, f"{problem}; {ANEW}")
        self._repeat(line)
        return True

    def _checked(self, raw: bytes, title: Title) -> Title:
        try:
            found = decode_title(raw)
        except msgspec.DecodeError:
            raise StoreRefused(self.path, f"is no chain of a JAM devnet; {ANEW}") from None
        if found != title:
            raise StoreRefused(self.path, f"holds another chain than this version makes; {ANEW}")
        return found

    def _repeat(self, line: CallLine) -> None:
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
