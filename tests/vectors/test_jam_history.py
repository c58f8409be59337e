"""The recent history moves on as the vectors say, in their JSON and in their bytes."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct
from tests.vectors.folder import folder
from tests.vectors.jam_json import from_json

from laneway.jam.codec import HASH, Many, Record
from laneway.jam.history import advanced
from laneway.jam.mmr import Mmr
from laneway.jam.rules.checks import RecentBlock, ReportedPackage
from laneway.jam.state import RECENT_HISTORY, REPORTED_PACKAGE, RecentHistory

pytestmark = pytest.mark.vectors


class Given(Struct, frozen=True, kw_only=True):
    header_hash: bytes
    parent_state_root: bytes
    accumulate_root: bytes
    work_packages: tuple[ReportedPackage, ...]


class Case(Struct, frozen=True, kw_only=True):
    """The output of this transition is nothing, and has no bytes."""

    input: Given
    pre_state: RecentHistory
    post_state: RecentHistory


GIVEN = Record(
    Given,
    header_hash=HASH,
    parent_state_root=HASH,
    accumulate_root=HASH,
    work_packages=Many(REPORTED_PACKAGE),
)
CASE = Record(Case, input=GIVEN, pre_state=RECENT_HISTORY, post_state=RECENT_HISTORY)


class Range(Struct, frozen=True):
    peaks: Mmr


class Beta(Struct, frozen=True):
    history: tuple[RecentBlock, ...]
    mmr: Range


class State(Struct, frozen=True):
    beta: Beta


def paths(suffix: str) -> list[Any]:
    place = folder("jam", "stf", "history")
    found = [
        pytest.param(path, id=str(path.relative_to(place).with_suffix("")))
        for path in sorted(place.rglob(f"*{suffix}"))
    ]
    reason = f"no {suffix} vectors in jam/stf/history; set LANEWAY_VECTORS"
    return found or [pytest.param(Path(), id="none", marks=pytest.mark.skip(reason=reason))]


def told(path: Path) -> Case:
    """The case as its JSON says it."""
    said = msgspec.json.decode(path.read_bytes())
    assert said["output"] is None
    return Case(
        input=from_json(Given, said["input"]),
        pre_state=state(said["pre_state"]),
        post_state=state(said["post_state"]),
    )


def state(said: Any) -> RecentHistory:
    beta: Beta = from_json(State, said).beta
    return RecentHistory(beta.history, beta.mmr.peaks)


def check(case: Case) -> None:
    found = advanced(
        case.pre_state,
        header_hash=case.input.header_hash,
        parent_state_root=case.input.parent_state_root,
        accumulate_root=case.input.accumulate_root,
        reported=case.input.work_packages,
    )
    assert found == case.post_state
    for one in (case.pre_state, case.post_state):
        assert RECENT_HISTORY.decode(RECENT_HISTORY.encode(one)) == one


@pytest.mark.parametrize("path", paths(".json"))
def test_a_history_moves_on_as_its_json_says(path: Path) -> None:
    check(told(path))


@pytest.mark.parametrize("path", paths(".bin"))
def test_a_history_moves_on_as_its_bytes_say(path: Path) -> None:
    raw = path.read_bytes()
    case = CASE.decode(raw, path.stem)
    assert CASE.encode(case) == raw
    check(case)
    beside = path.with_suffix(".json")
    if beside.exists():
        assert told(beside) == case
