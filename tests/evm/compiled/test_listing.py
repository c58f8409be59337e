"""What code is compiled to, as text."""

import ast

import pytest
from tests.evm.scene import assemble

from laneway.evm.compiled import listing as module
from laneway.evm.compiled.listing import listing
from laneway.evm.fork import Fork

LOOP = assemble("5 JUMPDEST 1 SWAP1 SUB DUP1 2 JUMPI STOP JUMPDEST STOP")


def names(found: dict[int, str]) -> list[str]:
    nodes = ast.parse("\n".join(found.values())).body
    return [node.name for node in nodes if isinstance(node, ast.FunctionDef)]


def test_there_is_a_function_for_the_beginning_and_for_each_destination() -> None:
    found = listing(LOOP, Fork.OSAKA)
    assert list(found) == [0, 2, 12]
    assert names(found) == ["at_0", "at_2", "at_12"]
    assert found == listing(LOOP, Fork.OSAKA)
    assert names(listing(b"\x5b", Fork.OSAKA)) == ["at_0"]
    assert names(listing(b"", Fork.OSAKA)) == ["at_0"]


def test_the_text_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMPILED_BYTES_MIN", -800)
    found = listing(LOOP, Fork.OSAKA)
    assert len(names(found)) < 3
    assert list(found.values())[-1].endswith("the text has its bound.\n")
