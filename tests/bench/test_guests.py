"""Who can come, who stays away, and why."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from laneway_bench import guests
from laneway_bench.child import BenchFailed
from laneway_bench.guests import Guests, Need, invited
from laneway_bench.peers import scripts

NEEDS: dict[str, tuple[Need, ...]] = {
    "huey": ("peers",),
    "procrastinate": ("peers", "postgres"),
    "arq": ("peers", "redis"),
}


def fail(*_: object) -> Path:
    raise BenchFailed("it cannot be had")


def asked(tmp_path: Path, *, quick: bool) -> Guests:
    with ExitStack() as stack:
        return invited(stack, tmp_path, tmp_path, NEEDS, ("huey",), quick=quick)


def test_a_full_run_ends_without_its_guests_and_a_quick_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("environment", "postgres", "redis"):
        monkeypatch.setattr(guests, name, fail)
    found = asked(tmp_path, quick=True)
    assert found.missing == dict.fromkeys(NEEDS, "it cannot be had")
    assert found.words == found.missing
    with pytest.raises(BenchFailed, match="it cannot be had"):
        asked(tmp_path, quick=False)


def test_only_those_stay_away_whose_needs_are_not_met(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guests, "environment", lambda *_: Path("python"))
    monkeypatch.setattr(guests, "versions", lambda *_: {"huey": "2"})
    monkeypatch.setattr(guests, "postgres", fail)
    monkeypatch.setattr(guests, "redis", fail)
    found = asked(tmp_path, quick=True)
    assert set(found.missing) == {"procrastinate", "arq"}
    assert found.words["huey"] == "2"
    assert found.script("huey_noop.py") == ["python", str(scripts() / "huey_noop.py")]
