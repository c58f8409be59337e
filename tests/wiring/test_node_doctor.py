"""What the doctor says of nodes, without asking any lane."""

import socket
from pathlib import Path
from typing import NoReturn

import pytest

from laneway.core.errors import BadRequest
from laneway.kinds.evm.kind import EvmKind
from laneway.kinds.extras import ExtraMissing
from laneway.kinds.rollup.kind import RollupKind
from laneway.wiring.config import load
from laneway.wiring.node_doctor import examine_nodes

TOML = """
[[evm]]
name = "dev"
chain_id = 31337
nodes = ["http://ann:secret-word@127.0.0.1:{port}"]
[[cosmos]]
name = "hub"
chain_id = "hub-1"
nodes = ["http://127.0.0.1:{port}"]
[[rollup]]
name = "roll"
service = 1
nodes = ["ws://127.0.0.1:{port}"]
"""


def test_each_node_of_each_chain_has_a_finding(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        (tmp_path / "laneway.toml").write_text(TOML.format(port=port))
        found = examine_nodes(load(str(tmp_path / "laneway.toml"), {}), {})
    assert [(one.name, one.ok) for one in found] == [
        ("evm dev", False), ("cosmos hub", False), ("rollup:1", False), ("rollup:1", False),
    ]  # fmt: skip
    assert all("cannot be reached: connection refused" in one.what for one in found)
    assert all(f"127.0.0.1:{port}" in one.what for one in found)
    assert not any("secret-word" in one.what for one in found)


def test_a_missing_extra_is_a_finding_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> NoReturn:
        raise ExtraMissing("coincurve", "evm")

    def wrong(*_: object) -> NoReturn:
        raise BadRequest("nodes", "none is named")

    monkeypatch.setattr(EvmKind, "open_nodes", missing)
    monkeypatch.setattr(RollupKind, "open_nodes", wrong)
    host = '[host]\nkind = "rest"\nurl = "http://127.0.0.1:1"\n'
    (tmp_path / "laneway.toml").write_text(host)
    first, second, third = examine_nodes(load(str(tmp_path / "laneway.toml"), {}), {})
    assert (first.name, first.ok, "coincurve" in first.what) == ("evm", False, True)
    assert first.advice == "run: pip install 'laneway[evm]'"
    assert (second.name, second.ok, "none is named" in second.what) == ("rollup", False, True)
    assert (third.name, third.ok) == ("contract node", False)
