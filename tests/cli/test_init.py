"""Laws of `laneway init`: every key, each with its true default, and nothing overwritten."""

import re
from pathlib import Path

import pytest

from laneway.cli.app import run
from laneway.wiring.config import load
from laneway.wiring.redaction import free_texts
from laneway.wiring.schema import lookup, paths


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commented(text: str) -> str:
    """Each key in force, as if every number sign before one was taken away."""
    return re.sub(r"^# (?=\w+ = )", "", text, flags=re.M)


def test_what_it_writes_changes_nothing() -> None:
    assert run(["init"]) == 0
    assert run(["config", "check"]) == 0
    assert load("laneway.toml").config == load(None).config
    assert load("laneway.toml").origins == {}


def test_every_key_stands_there_with_its_default(here: Path) -> None:
    assert run(["init", "mine.toml"]) == 0
    file = here / "mine.toml"
    text = commented(file.read_text())
    file.write_text(text.replace('preset = "seed-004"\n', ""))
    defaults = load(None).config
    shown = load("mine.toml")
    for path in paths():
        if path in (*free_texts().secrets, "preset"):
            continue
        assert path in shown.origins, f"{path} is not in the template"
        default = lookup(defaults, path)
        # A key without a default shows an example instead.
        assert default is None or lookup(shown.config, path) == default, path


def test_a_file_that_is_there_is_left_as_it_is(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "laneway.toml").write_text("# mine\n")
    assert run(["init"]) == 2
    assert (here / "laneway.toml").read_text() == "# mine\n"
    assert "was left as it is" in capsys.readouterr().err


def test_a_folder_that_is_not_there_is_told() -> None:
    assert run(["init", "no/where.toml"]) == 1
