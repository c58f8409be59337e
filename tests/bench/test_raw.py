"""The loops without an engine write the rows that laneway writes."""

import io
import json
import sys
from pathlib import Path

import apsw
import pytest

from laneway_bench.child import BenchFailed
from laneway_bench.contract import raw
from laneway_bench.contract.raw import RawLoop, Shape, bare, shape_of_an_execution

TABLES = ("lanes", "heads", "intents", "results", "rows", "feed")


@pytest.fixture(scope="module")
def shape(tmp_path_factory: pytest.TempPathFactory) -> Shape:
    return shape_of_an_execution(tmp_path_factory.mktemp("sample"))


def counted(path: Path) -> dict[str, int]:
    return {table: raw.one(str(path), f"SELECT count(*) FROM {table}")[0] for table in TABLES}


@pytest.mark.slow
def test_the_shape_is_that_of_a_real_execution(shape: Shape) -> None:
    assert shape.slot[0] == shape.attempt[0] == "1"
    assert all((shape.digest, shape.cursors, shape.intent, shape.result, shape.owner))
    assert shape.state_running != shape.state_idle
    assert b"SlotClaimed" in shape.feed_start
    assert b"SlotSettled" in shape.feed_done
    assert 200 < shape.bytes_per_job() < 2_000


@pytest.mark.slow
@pytest.mark.parametrize("merged", [False, True])
def test_a_raw_loop_leaves_what_laneway_would_leave(
    shape: Shape, tmp_path: Path, merged: bool
) -> None:
    path = tmp_path / "raw.db"
    spent = RawLoop(str(path), shape, contracts=20).run(250, merged=merged)
    assert spent["seconds"] > 0
    found = counted(path)
    assert found["lanes"] == found["heads"] == 20
    assert found["intents"] == found["results"] == 250
    assert found["rows"] == 0
    # Merged, the end of one execution and the start of the next are told together.
    assert found["feed"] == (250 + 50 if merged else 2 * 250)


def test_bare_commits_write_two_rows_a_job(tmp_path: Path) -> None:
    path = tmp_path / "bare.db"
    assert bare(str(path), 10)["seconds"] > 0
    with apsw.Connection(str(path)) as database:
        assert database.execute("SELECT count(*) FROM bare").get == 20


def test_a_row_that_is_not_there_says_which(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    bare(str(path), 0)
    with pytest.raises(BenchFailed, match="SELECT body FROM bare"):
        raw.one(str(path), "SELECT body FROM bare")


@pytest.mark.slow
@pytest.mark.parametrize("loop", ["bare", "raw", "merged"])
def test_the_process_runs_the_loop_it_is_asked_for(
    loop: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    question = {"folder": str(tmp_path), "loop": loop, "jobs": 100, "contracts": 100}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(question) + "\n"))
    raw.main()
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["seconds"] > 0
    assert ("bytes_per_job" in result) is (loop != "bare")
