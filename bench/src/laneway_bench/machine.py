"""What the numbers were measured on. No host name and no path: a result may be published."""

import os
import platform
import time
from pathlib import Path

from laneway_bench.limits import PROBE_BYTES, PROBE_SYNCS


def machine_facts(folder: Path) -> dict[str, str | int]:
    import apsw

    return {
        "cores": os.cpu_count() or 0,
        "cpu": cpu_model(Path("/proc/cpuinfo").read_text()),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "kernel": platform.release(),
        "filesystem": filesystem(folder.resolve(), Path("/proc/self/mounts").read_text()),
    }


def cpu_model(cpuinfo: str) -> str:
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model"):
            return value.strip()
    return platform.machine()


def filesystem(folder: Path, mounts: str) -> str:
    """The kind of file system that `folder` stands on: the longest mount point wins."""
    best, kind = "", "unknown"
    for line in mounts.splitlines():
        point, found = line.split(" ")[1:3]
        if folder.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, found
    return kind


def fdatasync_per_s(folder: Path) -> float:
    """How often a second this disk makes one appended page durable."""
    page = b"\x5a" * PROBE_BYTES
    path = folder / "probe"
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        begun_s = time.perf_counter()
        for _ in range(PROBE_SYNCS):
            os.write(fd, page)
            os.fdatasync(fd)
        return PROBE_SYNCS / (time.perf_counter() - begun_s)
    finally:
        os.close(fd)
        path.unlink()


def resident_bytes(statm: str) -> int:
    """Current resident memory, from the text of /proc/self/statm."""
    return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE")
