"""Where the conformance data is, and what stands there now.

Tests list folders and rows; no name of a file is written down, so further files run as they are.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

ROOT = Path(__file__).parent.parent.parent
DEFAULT = ROOT.parent / "shared" / "vectors"


def folder(*parts: str) -> Path:
    return Path(os.environ.get("LANEWAY_VECTORS") or DEFAULT).joinpath(*parts)


def rows(*parts: str) -> list[Any]:
    """Every named case of every JSON file below, or one that is skipped where there is none."""
    found = [pytest.param(case, id=name) for name, case in read(folder(*parts))]
    reason = f"no vectors in {'/'.join(parts)}; set LANEWAY_VECTORS"
    return found or [pytest.param(None, id="none", marks=pytest.mark.skip(reason=reason))]


def read(place: Path) -> Iterator[tuple[str, Any]]:
    for path in sorted(place.rglob("*.json")):
        cases = msgspec.json.decode(path.read_bytes())
        for name, case in cases.items():
            yield f"{path.relative_to(place).with_suffix('')}:{name}", case


def unhex(text: str) -> bytes:
    return bytes.fromhex(text.removeprefix("0x"))
