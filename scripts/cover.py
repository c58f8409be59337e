"""Branch coverage: `cover.py` (all tests of the quick tier) or `cover.py --mirror`.

--mirror: each pure module reaches 100 % of its branches by its own mirror test file alone.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock

from coverage import Coverage
from coverage.exceptions import NoDataError

ROOT = Path(__file__).parent.parent
HOME = ROOT / "src/laneway"
OVERALL_PERCENT_MIN = 90
BARE_PYTEST = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p pytest_timeout"}
"""Plugins take two seconds to load, and dozens of processes are started here."""
REPORTING = Lock()
PURE_DEVNETS = (
    "*/model",
    "cosmos/app",
    "cosmos/ledger",
    "cosmos/mempool",
    "cosmos/words",
    "evm/block",
    "evm/pool",
    "evm/rules",
    "evm/words",
    "jam/accumulation",
    "jam/activity",
    "jam/answers",
    "jam/assurers",
    "jam/chain",
    "jam/epochs",
    "jam/faults",
    "jam/genesis",
    "jam/guarantors",
    "jam/keyring",
    "jam/network",
    "jam/parameters",
    "jam/refinery",
    "jam/shards",
    "jam/state",
    "jam/statuses",
    "jam/submissions",
    "jam/transition",
    "jam/values",
    "jam/verdicts",
    "jam/voters",
)
"""A chain model, and what it is made of."""
PURE_BUILDER = ("ledger_batch", "ledger_rollup", "packages", "snapshots")
"""Of a rollup's builder: what is executed, packed and kept, without its thread and its file."""


def pure_modules() -> list[Path]:
    """Every module of the pure packages that has code of its own."""
    found = [
        *(HOME / "core").rglob("*.py"),
        *(HOME / "lanes").rglob("*.py"),
        *(HOME / "evm").rglob("*.py"),
        *(HOME / "cosmos").rglob("*.py"),
        *(HOME / "jam").rglob("*.py"),
        *(file for part in PURE_DEVNETS for file in HOME.glob(f"devnets/{part}.py")),
        *(HOME / f"builder/{part}.py" for part in PURE_BUILDER),
    ]
    return sorted(p for p in found if p.name not in ("__init__.py", "limits.py"))


def mirror(module: Path) -> Path:
    place = module.relative_to(HOME)
    return ROOT / "tests" / place.parent / f"test_{place.name}"


def measure(tests: list[str], include: str, *, data: Path) -> dict[str, dict[str, float]]:
    """The covered branches, by file, when these tests run alone."""
    environment = {
        **os.environ,
        "COVERAGE_FILE": str(data / ".coverage"),
        "COVERAGE_CORE": "ctrace",
        **BARE_PYTEST,
    }
    command = [sys.executable, "-m", "coverage", "run", "--branch"]
    command += [f"--include={include}", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [*command, *tests], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        raise SystemExit(f"{' '.join(tests)} failed:\n{ran.stdout[-3000:]}{ran.stderr[-1000:]}")
    # What is not asked for is not reported: reading all of the package takes five seconds.
    report = data / "report.json"
    found = Coverage(data_file=str(data / ".coverage"), config_file=str(ROOT / "pyproject.toml"))
    with REPORTING:
        try:
            found.combine([str(data)])
            found.json_report(outfile=str(report), include=[include])
        except NoDataError:
            return {}
    return {
        name: {
            "percent": entry["summary"]["percent_covered"],
            "missing": entry["missing_lines"],
            "branches": entry["missing_branches"],
        }
        for name, entry in json.loads(report.read_text())["files"].items()
    }


def check_mirror(module: Path) -> str | None:
    tests = mirror(module)
    place = module.relative_to(ROOT)
    if not tests.exists():
        return f"{place} has no mirror {tests.relative_to(ROOT)}"
    with tempfile.TemporaryDirectory() as folder:
        files = measure([str(tests)], str(module), data=Path(folder))
    entry = files.get(str(place))
    if entry is None:
        return None  # Nothing in it to run.
    if entry["percent"] < 100:
        return f"{place}: {entry['percent']:.1f} %, lines {entry['missing']} {entry['branches']}"
    return None


def mirrors() -> int:
    modules = pure_modules()
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        problems = [problem for problem in pool.map(check_mirror, modules) if problem]
    print(
        f"{len(modules) - len(problems)} of {len(modules)} pure modules at 100 % by their mirrors"
    )
    for problem in problems:
        print(f"  {problem}")
    return 1 if problems else 0


def overall() -> int:
    with tempfile.TemporaryDirectory() as folder:
        files = measure(["-m", "not slow and not vectors"], "src/laneway/*", data=Path(folder))
    percent = sum(entry["percent"] for entry in files.values()) / len(files)
    for name, entry in sorted(files.items()):
        if entry["percent"] < OVERALL_PERCENT_MIN:
            print(f"  {name}: {entry['percent']:.1f} %")
    print(f"{percent:.1f} % of branches overall, by the quick tests")
    return 0 if percent >= OVERALL_PERCENT_MIN else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", action="store_true")
    raise SystemExit(mirrors() if parser.parse_args().mirror else overall())
