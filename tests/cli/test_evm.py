"""`laneway evm`."""

import json
from pathlib import Path

import pytest

from laneway.cli.app import run

RETURNED = "5f5260205ff3"
ADD = "0x6001600201" + RETURNED


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(["evm", "compile", *arguments]) == 0
    return capsys.readouterr().out


def test_code_is_printed_as_the_functions_that_it_becomes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = printed(capsys, ADD)
    assert text.startswith("def at_0(frame, stack):")
    assert "\\x03'" in text
    (tmp_path / "hex").write_text(ADD + "\n")
    (tmp_path / "raw").write_bytes(bytes.fromhex("60fe600201" + RETURNED))
    assert printed(capsys, str(tmp_path / "hex")) == text
    assert "\\x01\\x00'" in printed(capsys, str(tmp_path / "raw"))


def test_each_function_is_an_object_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "5b" + ADD[2:], "--json").splitlines()
    (only,) = [json.loads(line) for line in lines]
    assert (only["begin"], only["text"].startswith("def at_0(")) == (0, True)


def test_a_fork_has_its_own_opcodes(capsys: pytest.CaptureFixture[str]) -> None:
    assert "\\xff'" in printed(capsys, "60011e" + RETURNED)
    assert "\\xff'" not in printed(capsys, "60011e" + RETURNED, "--fork", "prague")


@pytest.mark.parametrize("code", ["nothing-here", "0x123", ""])
def test_what_is_no_code_is_said_to_be_none(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    ended = run(["evm", "compile", code])
    said = capsys.readouterr()
    if code:
        assert ended == 2
        assert "CODE: is neither hex nor a file that holds code" in said.err
    else:
        assert (ended, said.out.startswith("def at_0")) == (0, True)
