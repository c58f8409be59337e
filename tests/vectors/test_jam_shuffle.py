"""The shuffle vectors of w3f: a count and an entropy, and the order that they give."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.vectors.folder import folder, unhex

from laneway.jam.rotation import shuffled

pytestmark = pytest.mark.vectors


def listed() -> Iterator[Any]:
    place = folder("jam", "shuffle")
    for path in sorted(place.rglob("*.json")):
        for number, case in enumerate(msgspec.json.decode(path.read_bytes())):
            yield pytest.param(case, id=f"{path.relative_to(place).with_suffix('')}:{number}")


NONE = [pytest.param(None, id="none", marks=pytest.mark.skip(reason="no vectors in jam/shuffle"))]


@pytest.mark.parametrize("case", list(listed()) or NONE)
def test_the_order_is_that_of_the_vectors(case: dict[str, Any]) -> None:
    found = shuffled(range(case["input"]), unhex(case["entropy"]))
    assert list(found) == case["output"]
