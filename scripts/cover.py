"""Branch coverage: `cover.py` (all tests of the quick tier) or `cover.py --mirror`.

--mirror: each pure module reaches 100 % of its branches by its own mirror test file alone.
"""

import argparse
import importlib
import io
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage
from coverage.exceptions import NoDataError

sys.path.insert(0, str(Path(__file__).parent.parent))

from scripts.pure import HOME, ROOT, has_code, pure_files

OVERALL_PERCENT_MIN = 90
BARE_PYTEST = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p pytest_timeout"}
"""Plugins take two seconds to load, and none of them is needed."""
TRACER = {"COVERAGE_CORE": "ctrace"}
PRELOADED = ("hypothesis",)
"""Read once, and not by each of the processes; nothing of laneway, for what an import runs counts
for the module whose mirror asked for it."""
QUIET = ["-q", "-x", "-p", "no:cacheprovider"]
EXCLUDED = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["coverage"]["report"][
    "exclude_also"
]


def pure_modules() -> list[Path]:
    """Every pure module that has code of its own."""
    return [path for path in pure_files() if path.name != "__init__.py" and has_code(path)]


def mirror(module: Path) -> Path:
    place = module.relative_to(HOME)
    return ROOT / "tests" / place.parent / f"test_{place.name}"


Branches = dict[str, dict[str, Any]]


def read(found: Coverage, report: Path, *include: str) -> Branches:
    """The covered branches, by file. What is not asked for is not reported: reading all of the
    package takes five seconds."""
    try:
        found.json_report(outfile=str(report), include=list(include))
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


def measure_alone(tests: Path, module: Path, *chosen: str) -> Branches:
    """The branches of one module, in this process; it began as a copy of one that had read neither
    the module nor its tests."""
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    os.environ.update(BARE_PYTEST | TRACER)
    found = Coverage(data_file=None, branch=True, include=[str(module)], config_file=False)
    for lines in EXCLUDED:
        found.exclude(lines)
    told = io.StringIO()
    with redirect_stdout(told), redirect_stderr(told), found.collect():
        ended = pytest.main([*QUIET, *chosen, str(tests)])
    if ended not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"{tests.relative_to(ROOT)} failed:\n{told.getvalue()[-3000:]}")
    with tempfile.TemporaryDirectory() as folder:
        return read(found, Path(folder) / "report.json", str(module))


def check_mirror(module: Path, *chosen: str) -> str | None:
    tests = mirror(module)
    place = module.relative_to(ROOT)
    if not tests.exists():
        return f"{place} has no mirror {tests.relative_to(ROOT)}"
    entry = measure_alone(tests, module, *chosen).get(str(place))
    if entry is None:
        return f"{place} is not read by its mirror"
    if entry["percent"] < 100:
        return f"{place}: {entry['percent']:.1f} %, lines {entry['missing']} {entry['branches']}"
    return None


def check_quickly(module: Path) -> str | None:
    return check_mirror(module, "-m", "not slow")


def mirrors() -> int:
    """By the quick tests of a mirror, and where these are not enough by all of them."""
    modules = pure_modules()
    for name in PRELOADED:
        importlib.import_module(name)
    forks = multiprocessing.get_context("fork")
    with forks.Pool(os.cpu_count() or 1, maxtasksperchild=1) as pool:
        first = pool.map(check_quickly, modules, chunksize=1)
        left = [module for module, problem in zip(modules, first, strict=True) if problem]
        problems = [problem for problem in pool.imap(check_mirror, left) if problem]
    print(
        f"{len(modules) - len(problems)} of {len(modules)} pure modules at 100 % by their mirrors"
    )
    for problem in problems:
        print(f"  {problem}")
    return 1 if problems else 0


def measure_all(data: Path) -> Branches:
    """Those of the whole package, by the quick tests and the processes that they start."""
    environment = {**os.environ, "COVERAGE_FILE": str(data / ".coverage"), **TRACER, **BARE_PYTEST}
    command = [sys.executable, "-m", "coverage", "run", "--branch", "-m", "pytest", *QUIET]
    ran = subprocess.run(
        [*command, "-m", "not slow and not vectors"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode != 0:
        raise SystemExit(f"the quick tests failed:\n{ran.stdout[-3000:]}{ran.stderr[-1000:]}")
    found = Coverage(data_file=str(data / ".coverage"), config_file=str(ROOT / "pyproject.toml"))
    found.combine([str(data)])
    return read(found, data / "report.json", "src/laneway/*", "bench/src/*")


def overall() -> int:
    with tempfile.TemporaryDirectory() as folder:
        files = measure_all(Path(folder))
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
