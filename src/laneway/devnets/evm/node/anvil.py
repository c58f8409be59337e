"""Where the program of a real node is: the one that `make setup` installs, or the system's own."""

import shutil
from pathlib import Path

TOOLS = ".tools"
"""The folder of a checkout that `scripts/setup.sh` puts programs into; it is in no wheel."""

BESIDE_SOURCES = Path(__file__).parents[5] / TOOLS


def anvil_program(*folders: Path) -> str | None:
    """anvil's path; None where it is not installed. Folders are tried in their order, by default
    that of the current folder and that of this checkout; then the search path."""
    for folder in folders or (Path(TOOLS), BESIDE_SOURCES):
        for found in sorted(folder.glob("node_modules/@foundry-rs/anvil-*/bin/anvil")):
            return str(found.resolve())
    return shutil.which("anvil")
