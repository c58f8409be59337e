"""Kinds of other distributions: found by their entry points, or refused with a reason."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest
from tests.rollups.log_kind import LogKind

from laneway.kinds import installed as module
from laneway.kinds.config import ConfigError
from laneway.kinds.installed import installed
from laneway.rollups.default import DEFAULT
from laneway.rollups.kind import KindOfRollup

GROUP = "laneway.rollups"
OWN: tuple[KindOfRollup[Any, Any], ...] = (DEFAULT,)


def named(monkeypatch: pytest.MonkeyPatch, *values: str) -> None:
    def points(group: str) -> list[Any]:
        assert group == GROUP
        return [EntryPoint("log", value, GROUP) for value in values]

    monkeypatch.setattr(module, "entry_points", points)


def test_another_distributions_kinds_come_after_laneways_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    named(monkeypatch, "tests.rollups.log_kind:LogKind")
    found = installed(GROUP, OWN)
    assert list(found) == ["ledger", "log"]
    assert type(found["log"]).__name__ == LogKind.__name__


def test_a_kind_that_cannot_be_imported_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    named(monkeypatch, "tests.rollups.log_kind:Missing")
    with pytest.raises(ConfigError, match=r"the kind log cannot be used: .*Missing"):
        installed(GROUP, OWN)


def test_two_kinds_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    value = "tests.rollups.log_kind:LogKind"
    named(monkeypatch, value, value)
    with pytest.raises(ConfigError, match=r"tests\.rollups\.log_kind: there is a kind log already"):
        installed(GROUP, OWN)
