"""Laws of starting and ending a process."""

import gc
import sys
from collections.abc import Iterator

import pytest

from laneway.core.errors import (
    BadRequest,
    Bug,
    ChainUnreachable,
    IntentNotFound,
    LaneFull,
    LaneNotFound,
    StoreCorrupt,
    StoreFull,
)
from laneway.wiring.process import Optimised, calm_collector, check_interpreter, exit_code, run


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (BadRequest("key", "is empty"), 2),
        (Optimised(), 2),
        (IntentNotFound("tx_1"), 3),
        (LaneNotFound("contract:x"), 3),
        (LaneFull("contract:x", bound="intents", limit=1, retry_after_s=1), 75),
        (StoreFull("laneway.db"), 75),
        (ChainUnreachable("http://node", "refused"), 75),
        (StoreCorrupt("laneway.db", "x"), 1),
        (Bug("x"), 1),
    ],
)
def test_the_exit_code_says_whose_turn_it_is(error: BadRequest, code: int) -> None:
    assert exit_code(error) == code


def test_asserts_must_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    check_interpreter()

    class Flags:
        optimize = 1

    monkeypatch.setattr(sys, "flags", Flags)
    with pytest.raises(Optimised, match="-O"):
        check_interpreter()


@pytest.fixture
def collector() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


def test_a_calm_collector_leaves_what_exists_alone(collector: None) -> None:
    calm_collector()
    assert gc.get_freeze_count() > 0
    assert gc.get_threshold()[0] == 50_000


def test_a_coroutine_runs_to_its_end_on_either_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer() -> int:
        return 42

    assert run(answer()) == 42
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert run(answer()) == 42
