"""Breaks laneway on purpose, one listed mutation at a time, and sees that a test goes red.

`mutants.py [--only M03] [--every N] [--jobs N]` reads tests/mutations.md. Each mutation is applied
to a copy of the sources, and the command that is said to catch it runs against that copy. `--texts`
only sees that what each of them changes stands in the sources.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
LIST = ROOT / "tests/mutations.md"
COMMAND_S_MAX = 180


class Mutation(NamedTuple):
    name: str
    title: str
    file: str
    before: str
    after: str
    caught_by: str


def mutations() -> list[Mutation]:
    """Every section `## M01 title` with its file, its two blocks and its command."""
    found = []
    for section in re.split(r"^## ", LIST.read_text(), flags=re.M)[1:]:
        name, _, title = section.splitlines()[0].partition(" ")
        file = re.search(r"^In `(.+)`", section, flags=re.M)
        blocks = re.findall(r"^```(?:python|lua)\n(.*?)^```", section, flags=re.M | re.S)
        command = re.search(r"^Caught by `(.+)`", section, flags=re.M)
        if file is None or command is None or len(blocks) != 2:
            raise SystemExit(f"tests/mutations.md: {name} is not complete")
        found.append(Mutation(name, title, file[1], blocks[0], blocks[1], command[1]))
    return found


def try_one(mutation: Mutation) -> tuple[Mutation, str, float]:
    """'caught', or what is wrong with it."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "src"
        # With what is compiled: only the mutated file is newer than its bytecode.
        shutil.copytree(ROOT / "src", sources)
        target = Path(folder) / mutation.file
        text = target.read_text()
        if text.count(mutation.before) != 1:
            return mutation, f"its text stands {text.count(mutation.before)} times", 0.0
        target.write_text(text.replace(mutation.before, mutation.after))
        environment = {
            **os.environ,
            # Plugins take two seconds to load, and there are more than a hundred of these.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_ADDOPTS": "-p pytest_timeout",
            "PYTHONPATH": str(sources),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LANEWAY_MUTANT": mutation.name,
        }
        command = [sys.executable, *mutation.caught_by.split()]
        try:
            ran = subprocess.run(
                command,
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=COMMAND_S_MAX,
            )
        except subprocess.TimeoutExpired:
            return mutation, "caught (it hangs)", time.monotonic() - begun
    took_s = time.monotonic() - begun
    if ran.returncode == 0:
        return mutation, "SURVIVED", took_s
    if ran.returncode != 1:
        return mutation, f"could not be tried: {ran.stdout[-500:]}{ran.stderr[-500:]}", took_s
    return mutation, "caught", took_s


def count_texts(chosen: list[Mutation]) -> int:
    stale = 0
    for one in chosen:
        count = (ROOT / one.file).read_text().count(one.before)
        if count != 1:
            stale += 1
            print(f"tests/mutations.md: {one.name}: its text stands {count} times in {one.file}")
    return 1 if stale else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--every", type=int, default=1, help="a slice: one of so many, in order")
    parser.add_argument("--texts", action="store_true")
    options = parser.parse_args()
    chosen = [m for m in mutations() if not options.only or m.name in options.only]
    chosen = chosen[:: options.every]
    if options.texts:
        return count_texts(chosen)
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for mutation, verdict, took_s in pool.map(try_one, chosen):
            caught = verdict.startswith("caught")
            failed += not caught
            print(f"{mutation.name}  {verdict:<18} {took_s:5.1f} s  {mutation.title}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} mutations caught")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
