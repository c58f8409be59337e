"""Signatures at the edges of Ed25519 (jam-conformance): all of them hold by ZIP-215.

Keys and commitments are points of small order, in canonical encodings and in others. libsodium
refuses every one of them, so this is what `verifies` adds to it.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.jam.zip215 import zip215_verifies
from tests.vectors.folder import folder, unhex

from laneway.jam.ed25519 import is_weak, verifies

pytestmark = pytest.mark.vectors


def listed() -> Iterator[Any]:
    place = folder("jam", "ed25519")
    for path in sorted(place.rglob("*.json")):
        for case in msgspec.json.decode(path.read_bytes()):
            yield pytest.param(case, id=f"{path.stem}:{case['number']}")


NONE = [pytest.param(None, id="none", marks=pytest.mark.skip(reason="no vectors in jam/ed25519"))]


@pytest.mark.parametrize("case", list(listed()) or NONE)
def test_an_edge_case_is_judged_by_zip215(case: dict[str, Any]) -> None:
    key, message = unhex(case["pk"]), unhex(case["msg"])
    signature = unhex(case["r"]) + unhex(case["s"])
    assert verifies(key, signature, message)
    assert zip215_verifies(key, signature, message)
    # A point of small order vouches for every message: that is why votes leave such keys out.
    assert verifies(key, signature, message + b"?") or not is_weak(key)
