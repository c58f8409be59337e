"""Erasure vectors of davxy/jam-test-vectors: the shards are theirs, and any R of them suffice."""

from pathlib import Path
from random import Random

import msgspec
import pytest
from tests.vectors.folder import folder, unhex

from laneway.jam.codec import BLOB, Many, Record
from laneway.jam.erasure import decode, encode
from laneway.jam.spec import FULL, TINY

pytestmark = pytest.mark.vectors


class Case(msgspec.Struct, frozen=True):
    data: bytes
    shards: tuple[bytes, ...]


class Told(msgspec.Struct, frozen=True):
    """A case as JSON has it."""

    data: str
    shards: tuple[str, ...]


BINARY = Record(Case, data=BLOB, shards=Many(BLOB))
SPECS = {spec.name: spec for spec in (TINY, FULL)}
SUBSETS = 5


def found() -> list[Path]:
    """Each case in both of its forms, below the folders that are named after a chain."""
    place = folder("jam", "erasure")
    return sorted(
        path
        for name in SPECS
        for form in ("json", "bin")
        for path in place.glob(f"{name}/*.{form}")
    )


CASES = [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in found()] or [
    pytest.param(None, id="none", marks=pytest.mark.skip(reason="no vectors in jam/erasure"))
]


def read(path: Path) -> Case:
    if path.suffix == ".bin":
        return BINARY.decode(path.read_bytes())
    told = msgspec.json.decode(path.read_bytes(), type=Told)
    return Case(unhex(told.data), tuple(unhex(shard) for shard in told.shards))


@pytest.mark.parametrize("path", CASES)
def test_data_becomes_the_shards_of_the_vector(path: Path) -> None:
    case = read(path)
    assert encode(SPECS[path.parent.name], case.data) == case.shards


@pytest.mark.parametrize("path", CASES)
def test_any_shards_of_the_vector_give_its_data_back(path: Path) -> None:
    case, spec = read(path), SPECS[path.parent.name]
    shards, count = list(enumerate(case.shards)), spec.recovery_count
    subsets = [Random(seed).sample(shards, count) for seed in range(SUBSETS)]
    for subset in (shards[:count], shards[-count:], *subsets):
        data = decode(spec, subset)
        assert data[: len(case.data)] == case.data
        assert not any(data[len(case.data) :])
