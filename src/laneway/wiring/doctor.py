"""What is wrong with this machine or this database, and what to do about it.

It looks and changes nothing: a database is not made, migrated or repaired here, and one that a
running laneway owns is not even opened. A file that is written and removed again beside it tells
how quick the disk is.
"""

import fcntl
import os
import platform
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from laneway.core.errors import StoreBusy, StoreError
from laneway.core.urls import shown_url
from laneway.engine.files import open_to_others
from laneway.kinds.findings import Finding
from laneway.kinds.registry import kinds
from laneway.stores.address import POSTGRES, REDIS, StoreOptions, is_shared

if TYPE_CHECKING:
    import apsw

PYTHON_MIN = (3, 11)

SYNCS_PER_S_MIN = 50
"""A spinning disk does about a hundred. Below this something in between sleeps, and one lane, at
two syncs for an execution, is slower than any consensus."""

SYNC_PROBES = 40
SYNC_PROBE_S_MAX = 0.5
"""How long the disk is tried: enough for a number, too short to disturb."""
SYNC_BYTES = 4_096
"""A page of the database, as its log writes it."""

SPACE_BYTES_MIN = 1 << 30
"""About a million executions with their history; below that a person should know."""

VOLATILE = ("tmpfs", "ramfs")
SHARED = ("nfs", "cifs", "smb", "fuse", "9p", "overlay", "afs", "ceph", "gluster", "lustre")
"""File systems on which locks or syncs are known to promise more than they keep, by how their
names begin; overlay is a container's own layer, which goes with the container."""

RECOVERY = "stop, keep a copy, and restore a backup or run 'sqlite3 FILE .recover' on the copy"

LANE_STATES = """
SELECT l.lane, h.state FROM lanes l JOIN heads h ON h.no = l.no
WHERE l.lane >= ? AND l.lane < ? AND h.state <> x'' LIMIT ?
"""
LANE_STATES_MAX = 100
"""Of each kind: one contract that has a block is enough, and a process has a few rollups."""


def examine(path: str | None, options: StoreOptions | None = None) -> list[Finding]:
    """Look at this process, and at the database at `path` and the disk below it, or at the server
    that it names."""
    findings = [python(), assertions(), sqlite()]
    if path is None:
        return findings
    if "://" in path:
        return [*findings, server(path, options or StoreOptions())]
    if path == ":memory:":
        kept = "it is kept in memory and goes with the process"
        return [*findings, Finding("database", False, kept, "name a file to keep anything")]
    folder = Path(path).parent
    if not folder.is_dir():
        what = f"the folder {folder} does not exist"
        return [*findings, Finding("folder", False, what, "create it, or name another")]
    disk = (file_system(folder), space(folder), sync_rate(folder))
    return [*findings, *disk, access([path]), *database(path)]


def server(path: str, options: StoreOptions) -> Finding:
    """A store that many processes share: whether it can be reached and trusted as configured."""
    if not is_shared(path):
        known = ", ".join((*POSTGRES, *REDIS))
        what = f"{shown_url(path)} names no store"
        return Finding("store", False, what, f"an address begins with one of {known}")
    from laneway.wiring.store import look_at_store

    try:
        return Finding("store", True, f"{shown_url(path)}: {look_at_store(path, options)}")
    except StoreBusy as error:
        what = f"{shown_url(path)}: {error.problem}"
        return Finding("store", False, what, "start it, or name another as `store.path`")
    except StoreError as error:
        what, _, advice = str(error).partition("; ")
        return Finding("store", False, f"{shown_url(path)}: {what}", advice)


def access(paths: Sequence[str]) -> Finding:
    """Whether other users of this machine may read these databases or what stands beside them."""
    found = open_to_others(paths)
    if not found:
        return Finding("access", True, "only their owner may read the database and its files")
    named = " ".join(shlex.quote(str(one)) for one in found)
    what = "others may read payloads and signed bytes in the database or its files"
    return Finding("access", False, what, f"run: chmod 600 {named}")


# The process.


def python(version: tuple[int, ...] = sys.version_info[:3]) -> Finding:
    text, needed = (".".join(map(str, one)) for one in (version, PYTHON_MIN))
    advice = f"install Python {needed} or newer"
    return Finding("python", version >= PYTHON_MIN, f"Python {text}", advice)


def assertions(optimize: int = sys.flags.optimize) -> Finding:
    if optimize:
        what = "Python runs with -O, which removes the asserts that keep the invariants"
        return Finding("assertions", False, what, "start without -O and without PYTHONOPTIMIZE")
    return Finding("assertions", True, "asserts are checked")


def sqlite() -> Finding:
    try:
        import apsw
    except ImportError as error:
        return Finding("sqlite", False, f"apsw cannot be imported ({error})", "install apsw")
    from laneway.stores.sqlite.database import has_wal_reset_bug, sqlite_version

    version = sqlite_version()
    what = f"SQLite {'.'.join(map(str, version))} in apsw {apsw.apsw_version()}"
    if has_wal_reset_bug(version):
        what += " can lose committed writes (the WAL-reset bug)"
        return Finding("sqlite", False, what, "install apsw 3.51.3 or newer")
    return Finding("sqlite", True, what)


# The disk.


def file_system(folder: Path) -> Finding:
    try:
        mounts = Path("/proc/mounts").read_text()
    except OSError:
        what = f"{platform.system()} does not tell which file system this is"
        return Finding("file system", True, what)
    kind = kind_of(os.path.realpath(folder), mounts)
    problem, advice = "", ""
    if kind in VOLATILE:
        problem, advice = ": nothing there survives a power cut", "keep the database on a disk"
    elif kind.startswith(SHARED):
        problem = ", where locks and syncs may not hold"
        advice = "keep the database on a local disk; in a container, on a volume"
    return Finding("file system", not problem, f"{folder} is on {kind}{problem}", advice)


def kind_of(path: str, mounts: str) -> str:
    """The type of the file system that holds the path; of two at one place the later counts."""
    kind, depth = "an unknown file system", -1
    for line in mounts.splitlines():
        _, place, name, *_ = line.split(" ")
        # Blanks in a mount point stand there as octal escapes.
        place = re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), place)
        inside = path == place or path.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= depth:
            kind, depth = name, len(place)
    return kind


def space(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    what = f"{free / (1 << 30):.1f} GiB are free in {folder}"
    advice = f"free some: below {SPACE_BYTES_MIN >> 30} GiB there is little time to react"
    return Finding("space", free >= SPACE_BYTES_MIN, what, advice)


def sync_rate(folder: Path, sync: Callable[[int], None] = os.fdatasync) -> Finding:
    """How often a second the disk makes a page durable; every commit waits for one."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            took_s = list(probe(file.fileno(), sync))
    except OSError as error:
        what = f"{folder} cannot be written ({error.strerror})"
        return Finding("sync", False, what, "make the folder writable for this user")
    rate = len(took_s) / max(sum(took_s), 1e-9)
    advice = "use a quicker disk: one contract executes at most half as often"
    return Finding("sync", rate >= SYNCS_PER_S_MIN, f"{rate:,.0f} syncs a second", advice)


def probe(file: int, sync: Callable[[int], None]) -> Iterator[float]:
    ends_s = perf_counter() + SYNC_PROBE_S_MAX
    for _ in range(SYNC_PROBES):
        os.write(file, bytes(SYNC_BYTES))
        begun_s = perf_counter()
        sync(file)
        now_s = perf_counter()
        yield now_s - begun_s
        if now_s > ends_s:
            return


# The database.


def database(path: str) -> list[Finding]:
    from laneway.stores.sqlite.database import check_place

    try:
        check_place(path)
    except StoreError as error:
        return [unfit("database", path, error)]
    if not Path(path).exists():
        return [Finding("database", True, f"{path} is not there yet; the first start makes it")]
    holder = holder_of(path)
    if holder is not None:
        what = f"a running laneway (pid {holder}) owns {path}; it was not opened"
        return [Finding("lock", True, what)]
    return contents(path)


def holder_of(path: str) -> str | None:
    """Who holds the database's lock; None if nobody does."""
    from laneway.stores.sqlite.database import lock_path

    try:
        lock = os.open(lock_path(path), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.pread(lock, 32, 0).decode("ascii", "replace").strip() or "unknown"
    finally:
        os.close(lock)
    return None


@contextmanager
def unchanged(path: str) -> "Iterator[apsw.Connection]":
    """A connection that only reads. A log that a crash left stays as it is; one that only we made
    is removed again."""
    import apsw

    from laneway.stores.sqlite.database import translated

    had_log = Path(f"{path}-wal").exists()
    with translated(path):
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(had_log))
            connection.pragma("query_only", 1)
            yield connection
        finally:
            connection.close(True)


def contents(path: str) -> list[Finding]:
    """What the file holds, read without changing it."""
    from laneway.stores.sqlite.database import check_shape, migrations

    findings: list[Finding] = []
    name = "database"
    try:
        with unchanged(path) as connection:
            check_shape(connection, path)
            findings.append(Finding("database", True, f"{path} opens"))
            version, newest = connection.pragma("user_version"), migrations()[-1][0]
            word = "" if version == newest else f"; the next start brings it to {newest}"
            findings.append(Finding("schema", True, f"schema {version}{word}"))
            name = "quick check"
            answer = connection.execute("PRAGMA quick_check(1)").get
            problem = "" if answer == "ok" else f"{path} is damaged: {answer}"
            what, advice = (problem, RECOVERY) if problem else (f"{path} is sound", "")
            findings.append(Finding(name, not problem, what, advice))
    except StoreError as error:
        findings.append(unfit(name, path, error))
    return findings


def lane_states(path: str) -> dict[str, bytes]:
    """The heads of lanes whose kinds ask for them, by lane, in a database file that nobody owns;
    empty where there is none, where it cannot be read, or of a server that many share. They tell
    the lanes' chain from others whose nodes do not name theirs."""
    if "://" in path or not Path(path).is_file() or holder_of(path) is not None:
        return {}
    try:
        with unchanged(path) as connection:
            rows = [
                row
                for kind in kinds().values()
                if kind.needs_states
                for row in connection.execute(
                    LANE_STATES, (f"{kind.name}:", f"{kind.name};", LANE_STATES_MAX)
                )
            ]
    except StoreError:
        return {}  # What is wrong with it is found by `contents`.
    return {str(lane): state for lane, state in rows if isinstance(state, bytes)}


def unfit(name: str, path: str, error: StoreError) -> Finding:
    """A store's own error, parted into what is wrong and what to do."""
    what, _, advice = str(error).removeprefix(f"{path}: ").partition("; ")
    return Finding(name, False, what, advice)
