"""Files that hold what was queued and what was signed: only their owner may read them."""

import os
from collections.abc import Iterable
from contextlib import suppress
from glob import escape
from pathlib import Path

OTHERS = 0o077


def make_private(path: str | Path) -> None:
    """Create the file, empty and for its owner alone, unless it is there. SQLite gives its log and
    its index the rights of the database."""
    with suppress(FileExistsError):
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        # Only a file that was just made is closed here: closing drops SQLite's locks on it.
        os.close(os.open(os.path.realpath(path), flags, 0o600))


def open_to_others(paths: Iterable[str]) -> list[Path]:
    """Of these databases and the files beside them, logs and copies included, those that other
    users of this machine may read or write."""
    found: list[Path] = []
    for path in map(Path, paths):
        beside = sorted(path.parent.glob(f"{escape(path.name)}-*"))
        found += [one for one in (path, *beside) if one.is_file() and one.stat().st_mode & OTHERS]
    return found


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
