"""A new key is shown once, and its file has no secret."""

import tomllib
from hashlib import sha256

import pytest

from laneway.cli.app import run


def test_a_key_is_printed_with_the_lines_for_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["apikey", "ann"]) == 0
    said = capsys.readouterr().out
    token = said.splitlines()[0].rpartition(" ")[2]
    stored = tomllib.loads(said)["keys"][0]
    assert stored["id"] == "ann"
    assert stored["sha256"] == sha256(token.encode()).hexdigest()
    assert stored["lanes"] == ["*"]


@pytest.mark.parametrize("name", ["Ann", "a_b", "", "a" * 33])
def test_a_name_that_cannot_be_a_key_is_refused(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["apikey", name]) == 2
    assert "small letters" in capsys.readouterr().err
