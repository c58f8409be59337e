"""The blocks of an embedded devnet in a file, so that its chains outlive the process.

A queue that remembers block 7 waits for ever on a chain that begins anew at block 0. The file is
read when the chain is first asked for anything, and by its one owner alone: whoever holds the
database beside it.
"""

import os
from pathlib import Path
from typing import IO

import msgspec

from laneway.devnets.contract.model import Block, ContractChain, RoundEnded
from laneway.engine.files import make_private

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(Block).decode


class Journal:
    """One block a line. What a crash tore off its end is cut away."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._file: IO[bytes] | None = None

    def load(self, chain: ContractChain) -> None:
        """Give a fresh chain the blocks that were written, and keep the file open behind them."""
        make_private(self._path)
        file = self._file = self._path.open("r+b")
        end = 0
        for line in file:
            try:
                told = line.endswith(b"\n") and chain.restore(decode(line))
            except msgspec.DecodeError:
                told = False
            if not told:
                break
            end += len(line)
        file.seek(end)
        file.truncate()

    def write(self, chain: ContractChain, ended: list[RoundEnded]) -> None:
        """Durable before anyone hears of them, as a node's blocks are."""
        assert self._file is not None
        lines = [encode(chain.block(e.contract, e.block)) for e in ended if e.block is not None]
        if lines:
            self._file.write(b"\n".join(lines) + b"\n")
            self._file.flush()
            os.fdatasync(self._file.fileno())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
