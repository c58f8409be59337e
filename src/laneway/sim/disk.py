"""A disk that can lose power: files in memory, with what is durable kept apart.

It is a virtual file system for SQLite. A write is volatile until its file is synced; a file that
was made or deleted is so until its folder is. `crash` keeps a seeded choice of what was not
durable and forgets the rest, as a power cut does. A failed sync leaves its writes in doubt for
good: the kernel drops them from its list, and no later sync brings them to the disk.

SQLite needs shared memory for a log on such a file system unless it holds the only connection, so
databases here are opened with `locking_mode=EXCLUSIVE`.
"""
# ruff: noqa: N802 - SQLite names the methods that it calls.

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any, TypeAlias

import apsw

SECTOR_BYTES = 512
JULIAN_MS = 211_813_444_800_000
"""What this disk's clock always says: 1 January 2000, in SQLite's count of days."""

JOURNALS = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL | apsw.SQLITE_OPEN_WAL
"""Files whose first sync also syncs the folder, as SQLite's own file system does it."""

Step: TypeAlias = tuple[int, bytes | None]
"""A write of bytes at an offset; None: the file was cut or grown to that size."""

NAMES = count(1)

IN_USE: dict[str, "SimDisk"] = {}
"""Disks with open files: SQLite calls a disk until the last of them is closed."""


class SimFile:
    """One file: as its readers see it, and what a power cut would leave of it."""

    __slots__ = ("data", "doubted", "durable", "steps")

    def __init__(self) -> None:
        self.data = bytearray()
        self.durable = bytearray()
        self.steps: list[Step] = []
        """What happened since the last sync, in order."""
        self.doubted: list[tuple[Step, bool]] = []
        """What happened since the first failed sync, and whether a good one covered it."""

    def sync(self, *, good: bool) -> None:
        if self.doubted or not good:
            self.doubted += [(step, good) for step in self.steps]
        else:
            for step in self.steps:
                apply(self.durable, step)
        self.steps.clear()

    def after_crash(self, random: Random) -> "SimFile":
        """The file a power cut leaves. This one goes on as a ghost that nobody can read."""
        left = SimFile()
        left.durable[:] = self.durable
        for step, is_sure in self.doubted:
            if is_sure or random.random() < 0.5:
                apply(left.durable, step)
        for step in survivors(self.steps, random):
            apply(left.durable, step)
        left.data[:] = left.durable
        return left


def apply(image: bytearray, step: Step) -> None:
    offset, data = step
    if len(image) < offset:
        image.extend(bytes(offset - len(image)))
    if data is None:
        del image[offset:]
    else:
        image[offset : offset + len(data)] = data


def survivors(steps: list[Step], random: Random) -> list[Step]:
    """Which of the unsynced steps reached the disk: none, all, some, and perhaps a torn one."""
    if not steps:
        return []
    kept = random.randrange(len(steps) + 1)
    match random.randrange(5):
        case 0:
            return []
        case 1:
            return steps
        case 2:
            return steps[:kept]
        case 3:
            return [step for step in steps if random.random() < 0.5]
        case _:
            return steps[:kept] + [torn(step, random) for step in steps[kept : kept + 1]]


def torn(step: Step, random: Random) -> Step:
    """The front or the back of a write, cut between two sectors or within one."""
    offset, data = step
    if data is None:
        return step
    unit = random.choice((1, SECTOR_BYTES))
    cut = unit * random.randrange(len(data) // unit + 1)
    return (offset, data[:cut]) if random.random() < 0.5 else (offset + cut, data[cut:])


class SimHandle:
    """An open file. After a power cut it is a ghost: what it does reaches no disk."""

    __slots__ = ("_disk", "_file", "_name", "_syncs_folder", "_temporary")

    def __init__(
        self, disk: "SimDisk", name: str, file: SimFile, *, temporary: bool, syncs_folder: bool
    ) -> None:
        self._disk: SimDisk | Grave = disk
        self._name = name
        self._file = file
        self._temporary = temporary
        self._syncs_folder = syncs_folder

    def die(self, grave: "Grave") -> None:
        self._disk = grave

    def _alive(self) -> SimFile:
        if self._disk.is_dark:
            raise io_error(apsw.SQLITE_IOERR, "the power is out")
        return self._file

    # What SQLite calls.

    def xRead(self, amount: int, offset: int) -> bytes:
        return bytes(self._alive().data[offset : offset + amount])

    def xWrite(self, data: bytes, offset: int) -> None:
        file = self._alive()
        written = bytes(data)
        if self._disk.is_armed:
            self._disk.on_write(file, offset, written)
        file.steps.append((offset, written))
        image = file.data
        if len(image) < offset:
            image.extend(bytes(offset - len(image)))
        image[offset : offset + len(written)] = written

    def xTruncate(self, size: int) -> None:
        file = self._alive()
        if self._disk.is_armed:
            self._disk.on_step()
        file.steps.append((size, None))
        apply(file.data, (size, None))

    def xSync(self, _flags: int) -> None:
        file = self._alive()
        if self._disk.is_armed:
            self._disk.on_sync(file)
        file.sync(good=True)
        if self._syncs_folder:
            self._syncs_folder = False
            self._disk.sync_folder()

    def xFileSize(self) -> int:
        return len(self._alive().data)

    def xClose(self) -> None:
        self._disk.closed(self, self._name, temporary=self._temporary)

    def xLock(self, _level: int) -> None:
        pass

    def xUnlock(self, _level: int) -> None:
        pass

    def xCheckReservedLock(self) -> bool:
        return False

    def xFileControl(self, _op: int, _pointer: int) -> bool:
        return False

    def xSectorSize(self) -> int:
        return 4096

    def xDeviceCharacteristics(self) -> int:
        # As on ext4: a torn write never harms bytes beside it.
        return apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE


class Grave:
    """Where handles go whose power was cut, so that what held them may still be closed."""

    is_dark = False
    is_armed = False

    def __init__(self, disk: "SimDisk") -> None:
        self._disk = disk
        self.last_closed = ""
        """A dead connection deletes its log right after closing it: that must not count."""

    def closed(self, _handle: SimHandle, name: str, *, temporary: bool) -> None:
        self.last_closed = "" if temporary else name
        self._disk.let_go()

    def on_step(self) -> None:
        """No fault reaches the dead."""

    def on_write(self, file: SimFile, offset: int, data: bytes) -> None:
        """As `on_step`."""

    def on_sync(self, file: SimFile) -> None:
        """As `on_step`."""

    def sync_folder(self) -> None:
        """The folder is not theirs any more."""


class SimDisk(apsw.VFS):
    """The disk. Open databases on it with `vfs=disk.name`; `close` it in the end."""

    def __init__(self) -> None:
        self.name = f"laneway-disk-{next(NAMES)}"
        self.is_dark = False
        """Whether the power is out: every use of the disk fails until `crash`."""
        self.is_armed = False
        """Whether any fault is set; looked at before each step, so that others cost nothing."""
        self.steps_done = 0
        """Writes, syncs and the like while a fault was set."""
        self._read_only = False
        self._steps_left: int | None = None
        self._bytes_left: int | None = None
        self._syncs_failing = 0
        self._folder: dict[str, SimFile] = {}
        self._folder_durable: dict[str, SimFile] = {}
        self._folder_steps: list[tuple[str, SimFile | None]] = []
        self._handles: list[SimHandle] = []
        self._grave = Grave(self)
        self._files_open = 0
        self._random = Random(0)
        super().__init__(
            self.name,
            exclude={"xDlOpen", "xDlSym", "xDlClose", "xDlError", "xGetLastError"},
            iVersion=2,
        )

    def close(self) -> None:
        self.unregister()

    # Faults.

    def crash(self, random: Random) -> None:
        """Cut the power and bring it back. What was open is dead; what was synced is there."""
        for handle in self._handles:
            handle.die(self._grave)
        self._handles.clear()
        for name, file in survivors_of(self._folder_steps, random):
            link(self._folder_durable, name, file)
        self._folder_steps.clear()
        for name in sorted(self._folder_durable):
            self._folder_durable[name] = self._folder_durable[name].after_crash(random)
        self._folder = dict(self._folder_durable)
        self.heal()

    def cut_after(self, steps: int) -> None:
        """Let the power go out just before the write, sync or deletion with this number."""
        self._steps_left = steps
        self.is_armed = True

    def fail_syncs(self, syncs: int = 1) -> None:
        self._syncs_failing = syncs
        self.is_armed = True

    def fill(self, bytes_left: int = 0) -> None:
        """Leave room for this many bytes more; what grows a file beyond finds the disk full."""
        self._bytes_left = bytes_left
        self.is_armed = True

    def make_read_only(self) -> None:
        self._read_only = True
        self.is_armed = True

    def heal(self) -> None:
        """Take every fault back; what they did stays done."""
        self.is_dark = self.is_armed = self._read_only = False
        self._steps_left = self._bytes_left = None
        self._syncs_failing = 0

    def corrupt(self, name: str, offset: int) -> None:
        """Flip the bits of one byte, on the disk and for its readers."""
        file = self._folder[name]
        for image in (file.data, file.durable):
            image[offset] ^= 0xFF

    def content(self, name: str) -> bytes | None:
        """What a reader of the file finds; None when there is no such file."""
        file = self._folder.get(name)
        return None if file is None else bytes(file.data)

    def store(self, name: str, content: bytes) -> None:
        """Put a file there, durably."""
        file = self._folder[name] = self._folder_durable[name] = SimFile()
        file.data[:] = file.durable[:] = content

    # What is asked of a handle.

    def on_step(self) -> None:
        self.steps_done += 1
        if self._read_only:
            raise io_error(apsw.SQLITE_IOERR_WRITE, "read-only file system")
        if self._steps_left is not None:
            self._steps_left -= 1
            if self._steps_left < 0:
                self.is_dark = True
                raise io_error(apsw.SQLITE_IOERR, "the power is out")

    def on_write(self, file: SimFile, offset: int, data: bytes) -> None:
        self.on_step()
        growth = offset + len(data) - len(file.data)
        if self._bytes_left is not None and growth > 0:
            if growth > self._bytes_left:
                raise apsw.FullError("the disk is full")
            self._bytes_left -= growth

    def on_sync(self, file: SimFile) -> None:
        self.on_step()
        if self._syncs_failing:
            self._syncs_failing -= 1
            file.sync(good=False)
            raise io_error(apsw.SQLITE_IOERR_FSYNC, "the sync failed")

    def closed(self, handle: SimHandle, name: str, *, temporary: bool) -> None:
        self._handles.remove(handle)
        self._grave.last_closed = ""
        if temporary:
            self._folder.pop(name, None)
        self.let_go()

    def let_go(self) -> None:
        self._files_open -= 1
        if self._files_open == 0:
            del IN_USE[self.name]

    def sync_folder(self) -> None:
        self._folder_durable = dict(self._folder)
        self._folder_steps.clear()

    # What SQLite calls.

    def xOpen(self, name: Any, flags: list[int]) -> SimHandle:  # type: ignore[override]
        asked = flags[0]
        self._grave.last_closed = ""
        temporary = name is None
        path = f"temporary-{next(NAMES)}" if name is None else self._path(name)
        file = self._folder.get(path)
        made = file is None
        if self.is_dark:
            raise io_error(apsw.SQLITE_IOERR, "the power is out")
        if file is None:
            if self._read_only or not asked & apsw.SQLITE_OPEN_CREATE:
                raise apsw.CantOpenError("no such file")
            file = self._folder[path] = SimFile()
            if not temporary:
                self._folder_steps.append((path, file))
        if self._read_only:
            asked = asked & ~apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_READONLY
        flags[1] = asked
        handle = SimHandle(
            self,
            path,
            file,
            temporary=temporary or bool(asked & apsw.SQLITE_OPEN_DELETEONCLOSE),
            syncs_folder=made and bool(asked & JOURNALS),
        )
        self._handles.append(handle)
        self._files_open += 1
        IN_USE[self.name] = self
        return handle

    @staticmethod
    def _path(name: Any) -> str:
        return name if isinstance(name, str) else name.filename()

    def xDelete(self, name: str, syncs_folder: bool) -> None:
        if name == self._grave.last_closed:
            self._grave.last_closed = ""
            return
        if self.is_dark:
            raise io_error(apsw.SQLITE_IOERR, "the power is out")
        if self.is_armed:
            self.on_step()
        if self._folder.pop(name, None) is None:
            raise io_error(apsw.SQLITE_IOERR_DELETE_NOENT, "no such file")
        self._folder_steps.append((name, None))
        if syncs_folder:
            self.sync_folder()

    def xAccess(self, name: str, flags: int) -> bool:
        file = self._folder.get(name)
        if flags == apsw.SQLITE_ACCESS_READWRITE:
            return file is not None and not self._read_only
        # Like SQLite's own file system: an empty file counts as none.
        return file is not None and len(file.data) > 0

    def xFullPathname(self, name: str) -> str:
        return name

    def xRandomness(self, size: int) -> bytes:
        return self._random.randbytes(size)

    def xSleep(self, microseconds: int) -> int:
        return microseconds

    def xCurrentTime(self) -> float:
        return JULIAN_MS / 86_400_000

    def xCurrentTimeInt64(self) -> int:
        return JULIAN_MS


def link(folder: dict[str, SimFile], name: str, file: SimFile | None) -> None:
    if file is None:
        folder.pop(name, None)
    else:
        folder[name] = file


def survivors_of(
    steps: list[tuple[str, SimFile | None]], random: Random
) -> Iterator[tuple[str, SimFile | None]]:
    """A folder is kept by a journal of its own: of its unsynced steps a prefix survives."""
    yield from steps[: random.randrange(len(steps) + 1)]


def io_error(code: int, text: str) -> apsw.IOError:
    error = apsw.IOError(text)
    error.extendedresult = code  # type: ignore[attr-defined]
    return error
