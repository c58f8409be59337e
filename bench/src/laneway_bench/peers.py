"""The peers: an environment of their own, and the scripts that run in it."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from laneway_bench.child import BenchFailed


def scripts() -> Path:
    """Where the peers' scripts are: beside the sources, and not in the package."""
    here = Path("bench/peers")
    beside = Path(__file__).parents[2] / "peers"
    for folder in (here, beside):
        if (folder / "requirements.txt").is_file():
            return folder.resolve()
    raise BenchFailed(f"{here} is not here: run this from a checkout of laneway")


def environment(folder: Path, packages: Sequence[str]) -> Path:
    """The Python of an environment in `folder` that has these packages; it is made on demand."""
    wanted = str(scripts() / "requirements.txt")
    python = folder.resolve() / "bin" / "python"
    if not python.exists():
        run([sys.executable, "-m", "venv", str(folder)], "make an environment for the peers")
    try:
        versions(python, packages)
    except BenchFailed:
        run([str(python), "-m", "pip", "install", "--quiet", "-r", wanted], "install the peers")
    return python


def versions(python: Path, packages: Sequence[str]) -> dict[str, str]:
    code = f"import importlib.metadata as m; print(*map(m.version, {list(packages)!r}))"
    found = run([str(python), "-c", code], "ask the peers for their versions").split()
    return dict(zip(packages, found, strict=True))


def run(command: list[str], purpose: str, user: str | None = None) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
    if done.returncode != 0:
        output = (done.stderr or done.stdout).strip()
        raise BenchFailed(f"could not {purpose}: {output[-2_000:]}")
    return done.stdout
