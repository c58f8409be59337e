"""Laws of README.md: every snippet and every command runs as printed, in order."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.readme import PAGE, ROOT, Block, Reader, blocks
from tests.servers import PostgresServer

import laneway
from laneway import evm, ubt

KINDS = {"sh", "toml", "python", "text"}
COMMANDS = ("laneway", "pip", "python", "make", "curl")


def imported() -> set[str]:
    """The names that snippets import from laneway."""
    found: set[str] = set()
    for block in blocks():
        if block.kind == "python":
            for node in ast.walk(ast.parse(block.text)):
                if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("laneway"):
                    found |= {name.name for name in node.names}
    return found


def test_every_block_says_what_it_is_and_what_is_not_run_says_why() -> None:
    for block in blocks():
        assert block.kind in KINDS, block.text
        assert block.not_run is None or len(block.not_run.split()) > 3, block.text
        if block.kind == "text":
            assert not block.text.startswith(COMMANDS), "what is typed is marked sh"
    assert PAGE.count("```") == 2 * len(blocks())
    assert sum(block.not_run is not None for block in blocks()) <= 1


def test_the_first_screen_has_two_commands_and_they_are_the_makefiles() -> None:
    first, *_ = blocks()
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    commands = [line.split()[:2] for line in first.lines()]
    assert commands == [["make", "demo"], ["make", "test"]]
    assert {target for _, target in commands} <= set(targets)


def test_the_page_shows_an_import_of_every_name_it_uses() -> None:
    prose = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    spans = re.findall(r"`([^`]+)`", prose)
    named = {
        name for span in spans for name in re.findall(r"\b[A-Z][a-z]+[A-Z]\w+|\bClient\b", span)
    }
    assert named <= imported()


def test_every_name_that_the_package_offers_can_be_imported() -> None:
    offered = {"encoded_call", "namespace_of", "DynamicFeeTransaction"}
    for package in (laneway, evm):
        assert sorted(package.__all__) == sorted(package.PLACES)
        for name in package.__all__:
            assert getattr(package, name).__name__ == name
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            getattr(package, "nothing")  # noqa: B009
        offered |= set(package.__all__)
    assert imported() <= offered | set(ubt.__all__)


@pytest.mark.parametrize("line", ["false", "no-such-command", "exit 3 | cat; test -e nothing"])
def test_a_line_that_fails_is_noticed(line: str, tmp_path: Path) -> None:
    with Reader(tmp_path, Path(sys.prefix)) as reader:
        assert reader.type("echo hello").strip() == "hello"
        with pytest.raises(AssertionError, match="ended with"):
            reader.type(line)
        with pytest.raises(AssertionError, match="Traceback"):
            reader.type("python3 -c 'import nothing_here' || true")
        nameless = Block("", "python", "print(1)\n", None, None)
        with pytest.raises(AssertionError, match="a file needs its name first"):
            reader.follow(nameless)


@pytest.mark.slow
def test_what_is_not_run_is_a_command() -> None:
    for block in blocks():
        for line in block.lines() if block.not_run is not None else ():
            words = line.partition(" # ")[0].split()
            assert words[0] == "laneway"
            command = [sys.executable, "-m", *words, "--help"]
            subprocess.run(command, check=True, capture_output=True, timeout=60)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_line_of_the_readme_runs_as_printed_and_in_order(
    tmp_path: Path, postgres_server: PostgresServer
) -> None:
    at_postgres = {"PGHOST": str(postgres_server.folder), "PGUSER": "postgres"}
    postgres_server.run("DROP DATABASE IF EXISTS laneway")
    typed = 0
    said: dict[str, str] = {}
    with Reader(tmp_path, Path(sys.prefix), **at_postgres) as reader:
        for block in blocks()[1:]:
            if block.kind != "text" and block.not_run is None:
                said[block.text.partition("\n")[0]] = reader.follow(block)
                typed += 1
    assert typed == len(blocks()) - 3, "all but make, its output and what is not run"
    assert "confirmed" in said["# execute.py"]
    assert re.search(r"0x[0-9a-f]{64}", said["# pay.py"])
