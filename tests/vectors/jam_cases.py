"""The cases of JAM state transition vectors: found by listing, read when their test runs."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.vectors.folder import folder

from laneway.jam.spec import FULL, TINY


def cases(kind: str) -> list[Any]:
    """The files of one kind, each with the sizes of its chain, or one that is skipped."""
    found = [
        pytest.param(spec, path, id=f"{spec.name}/{path.stem}")
        for spec in (TINY, FULL)
        for path in sorted(folder("jam", "stf", kind, spec.name).rglob("*.json"))
    ]
    reason = f"no vectors in jam/stf/{kind}; set LANEWAY_VECTORS"
    return found or [pytest.param(TINY, Path(), id="none", marks=pytest.mark.skip(reason=reason))]


def read_case(path: Path) -> tuple[Any, Any, Any, Any]:
    """What goes in, the state before, what comes out, the state after."""
    case = msgspec.json.decode(path.read_bytes())
    return case["input"], case["pre_state"], case["output"], case["post_state"]


def ed25519_keys(validators: Any) -> tuple[bytes, ...]:
    """The only key of a validator that reports and assurances are signed with."""
    return tuple(bytes.fromhex(one["ed25519"].removeprefix("0x")) for one in validators)
