"""States beside the builder's file: `FILE-state-NUMBER` has the state after one final block, and
what that block and those before it executed.

Nodes forget the packages of old blocks, so a builder that lost its file could not execute all
blocks again, nor say which transactions they have. A state file says of itself which rollup and
which block it is of; whether that is true, the chain says (`recall`). Each is written whole or not
at all, and the newest two are kept.
"""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from struct import Struct as Layout
from typing import BinaryIO, Final

from msgspec import DecodeError, Struct, msgpack

from laneway.builder.limits import STATE_BYTES_MAX, STATE_CHUNK_BYTES, STATE_HEADER_BYTES_MAX
from laneway.builder.past import PastBlock
from laneway.core.errors import BuildFailed
from laneway.engine.files import sync_folder

log = logging.getLogger("laneway.builder")

MAGIC: Final = b"laneway-state/2\n"
"""The format and its version."""
MAGIC_BEFORE: Final = b"laneway-state/1\n"
"""The same without the blocks before."""
SIZE: Final = Layout("<I")
SIZES: Final = Layout("<II")
"""Of the key and of the value, before each entry."""
BLOCK_SIZE: Final = 0xFFFFFFFF
"""In the place of a key's size: a block of the past follows, and no entry any more."""
DIGEST_BYTES: Final = 32
"""The digest of all that is before it ends the file."""
UNFINISHED: Final = ".part"


class SavedState(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a state file says of itself."""

    kind: str
    identity: bytes
    """Which rollup of which chain, as the builder's file has it."""
    number: int
    block: bytes
    """The hash of the block that left this state."""
    root: bytes
    payload: bytes
    """The block itself."""


class StateFiles:
    """The state files of one builder. Without a path there are none, and none are written."""

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else Path(path)

    def is_kept(self) -> bool:
        """Whether states are kept at all."""
        return self._path is not None

    def path(self, number: int) -> str:
        return f"{self._path}-state-{number}"

    def numbers(self) -> list[int]:
        """The blocks whose states are here, the newest first."""
        return sorted((number for number, _ in self._files() if number is not None), reverse=True)

    def saved_s(self, number: int) -> float:
        """When a state was written, in seconds since 1970; long ago if it is gone."""
        try:
            return os.stat(self.path(number)).st_mtime
        except OSError:
            return 0.0

    def about(self, number: int) -> SavedState:
        """What a state file says of itself, unproven."""
        with self._reading(number) as file:
            return header(file)

    def load(self, number: int) -> SavedState:
        """The same of a file that is whole; BuildFailed says why it is not."""
        with self._reading(number) as file:
            check_digest(file)
            file.seek(0)
            found = header(file)
            if found.number != number:
                raise BuildFailed(f"it is of block {found.number}")
            return found

    def entries(self, number: int) -> Iterator[tuple[bytes, bytes]]:
        """The whole state, of a file that was loaded before."""
        with self._reading(number) as file:
            end = file.seek(0, os.SEEK_END) - DIGEST_BYTES
            file.seek(0)
            header(file)
            while file.tell() < end:
                key, value = SIZES.unpack(taken(file, SIZES.size))
                if key == BLOCK_SIZE:
                    return
                yield taken(file, key), taken(file, value)

    def past(self, number: int) -> Iterator[PastBlock]:
        """What its block and those before it executed, downwards without a gap. Only the digest
        vouches for it."""
        with self._reading(number) as file:
            end = file.seek(0, os.SEEK_END) - DIGEST_BYTES
            file.seek(0)
            header(file)
            wanted = number
            while file.tell() < end:
                key, value = SIZES.unpack(taken(file, SIZES.size))
                if key != BLOCK_SIZE:
                    file.seek(key + value, os.SEEK_CUR)
                    continue
                block = past_of(taken(file, value))
                if block.number != wanted:
                    raise BuildFailed(f"it has block {block.number} in the place of {wanted}")
                wanted -= 1
                yield block

    def save(
        self,
        state: SavedState,
        entries: Iterable[tuple[bytes, bytes]],
        is_stopped: Callable[[], bool],
        past: Iterable[PastBlock] = (),
    ) -> bool:
        """Write a state and forget all but the one before it; false if it was stopped. It has its
        name only when all of it is on the disk: whatever happens, those before it are whole."""
        assert self._path is not None
        path = self.path(state.number)
        unfinished = path + UNFINISHED
        try:
            with private(unfinished) as file:
                is_whole = write(file, state, entries, past, is_stopped)
                if is_whole:
                    file.flush()
                    os.fsync(file.fileno())
            if is_whole:
                os.replace(unfinished, path)
                sync_folder(self._path.parent)
                self._forget(state.number)
        except OSError as error:
            raise BuildFailed(f"{path} cannot be written: {error}") from error
        finally:
            with suppress(OSError):
                os.unlink(unfinished)
        return is_whole

    def _forget(self, number: int) -> None:
        """Delete all but this one and the newest before it. What is above it is of a chain that
        began anew: this one is the newest final block. What cannot be deleted is left there."""
        before = [one for one in self.numbers() if one < number and os.path.isfile(self.path(one))]
        kept = (number, *before[:1])
        for found, path in self._files():
            if found not in kept:
                try:
                    path.unlink(missing_ok=True)
                except OSError as error:
                    log.warning("%s is of no use any more, and cannot be deleted: %s", path, error)

    def _files(self) -> list[tuple[int | None, Path]]:
        """Each state file with its number; None for one that is unfinished."""
        if self._path is None:
            return []
        begin = f"{self._path.name}-state-"
        found: list[tuple[int | None, Path]] = []
        for path in self._path.parent.glob(f"{escape(begin)}*"):
            rest = path.name.removeprefix(begin)
            if is_number(rest):
                found.append((int(rest), path))
            elif is_number(rest.removesuffix(UNFINISHED)):
                found.append((None, path))
        return found

    @contextmanager
    def _reading(self, number: int) -> Iterator[BinaryIO]:
        try:
            with open(self.path(number), "rb") as file:
                yield file
        except OSError as error:
            raise BuildFailed(f"it cannot be read: {error}") from error


def is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


# Writing.


@contextmanager
def private(path: str) -> Iterator[BinaryIO]:
    """A new file for its owner alone."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "wb") as file:
        yield file


class DigestedFile:
    """Bytes that are written in chunks, with their digest at the end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._digest = blake2b(digest_size=DIGEST_BYTES)
        self._count = 0

    def put(self, chunk: bytes | bytearray) -> None:
        self._count += len(chunk)
        if self._count > STATE_BYTES_MAX:
            raise BuildFailed(f"it has more than {STATE_BYTES_MAX} bytes, and is not kept")
        self._digest.update(chunk)
        self._file.write(chunk)

    def end(self) -> None:
        self._file.write(self._digest.digest())


def write(
    file: BinaryIO,
    state: SavedState,
    entries: Iterable[tuple[bytes, bytes]],
    past: Iterable[PastBlock],
    is_stopped: Callable[[], bool],
) -> bool:
    """Whether all of it was written."""
    out = DigestedFile(file)
    raw = msgpack.encode(state)
    chunk = bytearray(MAGIC + SIZE.pack(len(raw)) + raw)
    for part in chain(map(entry, entries), map(of_past, past)):
        chunk += part
        if len(chunk) >= STATE_CHUNK_BYTES:
            if is_stopped():
                return False
            out.put(chunk)
            chunk.clear()
    out.put(chunk)
    out.end()
    return True


def entry(of: tuple[bytes, bytes]) -> bytes:
    key, value = of
    return SIZES.pack(len(key), len(value)) + key + value


def of_past(block: PastBlock) -> bytes:
    raw = msgpack.encode(block)
    return SIZES.pack(BLOCK_SIZE, len(raw)) + raw


# Reading.


def check_digest(file: BinaryIO) -> None:
    """BuildFailed unless the file ends with the digest of all that is before."""
    left = file.seek(0, os.SEEK_END) - DIGEST_BYTES
    if not 0 < left <= STATE_BYTES_MAX:
        raise BuildFailed(f"it has {left + DIGEST_BYTES} bytes, which no state has")
    file.seek(0)
    digest = blake2b(digest_size=DIGEST_BYTES)
    while left:
        chunk = taken(file, min(left, STATE_CHUNK_BYTES))
        digest.update(chunk)
        left -= len(chunk)
    if file.read() != digest.digest():
        raise BuildFailed("it is torn or damaged: its digest is that of other bytes")


def header(file: BinaryIO) -> SavedState:
    if file.read(len(MAGIC)) not in (MAGIC, MAGIC_BEFORE):
        raise BuildFailed("it is no state of a rollup, or of another version of laneway")
    (size,) = SIZE.unpack(taken(file, SIZE.size))
    if size > STATE_HEADER_BYTES_MAX:
        raise BuildFailed(f"its header has {size} bytes, and {STATE_HEADER_BYTES_MAX} are allowed")
    try:
        return msgpack.decode(taken(file, size), type=SavedState)
    except (DecodeError, UnicodeDecodeError) as error:
        raise BuildFailed(f"its header cannot be read: {error}") from error


def past_of(raw: bytes) -> PastBlock:
    try:
        return msgpack.decode(raw, type=PastBlock)
    except (DecodeError, UnicodeDecodeError) as error:
        raise BuildFailed(f"a block before it cannot be read: {error}") from error


def taken(file: BinaryIO, count: int) -> bytes:
    """The next bytes, all of them."""
    found = file.read(count)
    if len(found) != count:
        raise BuildFailed("it ends in the middle")
    return found
