"""Breaks laneway on purpose, one listed mutation at a time, and sees that a law or assertion fails.

`mutants.py [--only M03] [--every N] [--jobs N]` reads tests/mutations.md. Each mutation is applied
to a copy of the sources, and the command that is said to catch it runs against that copy. A command
that goes red without a failed law or assertion has caught nothing: `judge` says what counts.
`--texts` only sees that what each of them changes stands in the sources.
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

sys.path.insert(0, str(Path(__file__).parent.parent))

from scripts import failures

ROOT = Path(__file__).parent.parent
LIST = ROOT / "tests/mutations.md"
COMMAND_S_MAX = 180
# What a subprocess printed may stand at the end of a long message.
PYTEST_OPTIONS = (
    "-p pytest_timeout -p scripts.failures -o truncation_limit_lines=0 -o truncation_limit_chars=0"
)


class Mutation(NamedTuple):
    name: str
    title: str
    file: str
    before: str
    after: str
    caught_by: str
    hangs: bool = False
    """Whether a time-out is what catches it."""
    red_by: str | None = None
    """The class of the one exception, no assertion, that is allowed to catch it."""


def mutations(text: str) -> list[Mutation]:
    """Every section `## M01 title` with its file, its two blocks, its command, and what beside an
    assertion may catch it: a line `Hangs.`, or `Red by KeyError: reason`."""
    found = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        name, _, title = section.splitlines()[0].partition(" ")
        file = re.search(r"^In `(.+)`", section, flags=re.M)
        blocks = re.findall(r"^```(?:python|lua)\n(.*?)^```", section, flags=re.M | re.S)
        command = re.search(r"^Caught by `(.+)`", section, flags=re.M)
        if file is None or command is None or len(blocks) != 2:
            raise SystemExit(f"tests/mutations.md: {name} is not complete")
        hangs = re.search(r"^Hangs\.", section, flags=re.M) is not None
        red_by = re.search(r"^Red by (\w+): \S", section, flags=re.M)
        found.append(
            Mutation(
                name,
                title,
                file[1],
                blocks[0],
                blocks[1],
                command[1],
                hangs=hangs,
                red_by=None if red_by is None else red_by[1],
            )
        )
    return found


def judge(mutation: Mutation, code: int | None, output: str) -> str:
    """'caught', or why it was not; `code` is the command's exit code, None if it was ended for
    taking too long. Code that falls over is never a catch, whatever else went red with it."""
    found = failures.read(output)
    fallen = [one.name for one in found if one.kind == "falls over"]
    if code == 0:
        return "SURVIVED"
    if fallen:
        return f"FALLS OVER: {', '.join(fallen)}"
    if code is None or any(one.kind == "time-out" for one in found):
        return "caught (it hangs)" if mutation.hangs else "hangs, and its section does not say so"
    if code != 1:
        return f"could not be tried: {output[-1000:]}"
    if any(one.kind == "assertion" for one in found):
        return "caught"
    others = [one.name for one in found]
    if mutation.red_by in others:
        return f"caught (by {mutation.red_by}, as its section says)"
    if others:
        return f"another error: {', '.join(others)}"
    return f"red for no known reason: {output[-1000:]}"


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
            "PYTEST_ADDOPTS": PYTEST_OPTIONS,
            "PYTHONPATH": f"{sources}{os.pathsep}{ROOT}",
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
        except subprocess.TimeoutExpired as error:
            said = b"".join(part for part in (error.stdout, error.stderr) if part is not None)
            verdict = judge(mutation, None, said.decode(errors="replace"))
        else:
            verdict = judge(mutation, ran.returncode, ran.stdout + ran.stderr)
    return mutation, verdict, time.monotonic() - begun


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
    chosen = [m for m in mutations(LIST.read_text()) if not options.only or m.name in options.only]
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
