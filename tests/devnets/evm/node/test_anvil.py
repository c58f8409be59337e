"""Where a real node's program is looked for."""

from pathlib import Path

import pytest

from laneway.devnets.evm.node.anvil import anvil_program


def installed(folder: Path) -> Path:
    program = folder / "node_modules/@foundry-rs/anvil-linux-amd64/bin/anvil"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_the_first_folder_that_has_it_wins(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    there = installed(second)
    assert anvil_program(first, second) == str(there)
    assert anvil_program(second, first) == str(there)
    nearer = installed(first)
    assert anvil_program(first, second) == str(nearer)


def test_the_systems_own_is_the_last_resort_and_none_is_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert anvil_program(tmp_path) is None
    own = tmp_path / "anvil"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    assert anvil_program(tmp_path) == str(own)


def test_the_current_folders_tools_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = installed(tmp_path / ".tools")
    monkeypatch.chdir(tmp_path)
    assert anvil_program() == str(there)
