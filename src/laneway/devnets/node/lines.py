"""A file of lines that outlives its process; its one owner is the holder of the database beside it.

What is appended is durable before anything is done with it. What a crash tore off its end is cut
away.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

from laneway.engine.files import make_private


class LineFile:
    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._file: IO[bytes] | None = None

    def first(self) -> bytes | None:
        """The first line, whether the file is open or not; None if there is none that is whole."""
        try:
            with self._path.open("rb") as file:
                line = file.readline()
        except FileNotFoundError:
            return None
        return line if line.endswith(b"\n") else None

    def open(self, take: Callable[[bytes], bool]) -> None:
        """Read the lines, oldest first, until one is torn or is not taken; appended lines follow
        those that were."""
        make_private(self._path)
        file = self._file = self._path.open("r+b")
        end = 0
        for line in file:
            if not line.endswith(b"\n") or not take(line):
                break
            end += len(line)
        file.seek(end)
        file.truncate()

    def append(self, *lines: bytes) -> None:
        assert self._file is not None
        self._file.write(b"".join(line + b"\n" for line in lines))
        self._file.flush()
        os.fdatasync(self._file.fileno())

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
