"""`laneway up` is called with the configuration that the command line describes."""

from pathlib import Path

import pytest

from laneway.cli.app import run
from laneway.wiring import server
from laneway.wiring.config import Configuration


def test_the_server_is_started_as_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Configuration] = []

    async def serve(configuration: Configuration, say: object) -> int:
        seen.append(configuration)
        return 3

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(server, "serve", serve)
    assert run(["up", "--listen", "127.0.0.1:9000", "--db", "q.db"]) == 3
    config = seen[0].config
    assert (config.server.listen, config.server.port, config.store.path) == (
        "127.0.0.1",
        9000,
        "q.db",
    )


def test_a_server_for_others_does_not_start_without_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["up", "--listen", "0.0.0.0:9000"]) == 2
    assert "needs API keys" in capsys.readouterr().err
    assert run(["up", "--listen", "127.0.0.1:many"]) == 2


def test_a_rollup_brings_a_chain_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Configuration] = []

    async def serve(configuration: Configuration, say: object) -> int:
        seen.append(configuration)
        return 0

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(server, "serve", serve)
    assert run(["up", "--rollup", "ledger", "--slot-ms", "300"]) == 0
    assert run(["up", "--rollup", "ledger"]) == 0
    assert run(["up"]) == 0
    (quick,), (usual,), nothing = (one.config.rollup for one in seen)
    assert (quick.slot_ms, usual.slot_ms, nothing) == (300, None, ())
    assert quick.is_embedded()
    assert run(["up", "--slot-ms", "300"]) == 2
    assert "--slot-ms is for the chain of --rollup" in capsys.readouterr().err
    assert run(["up", "--rollup", "evm"]) == 2
    assert len(seen) == 3


def test_accounts_bring_a_chain_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen: list[Configuration] = []

    async def serve(configuration: Configuration, say: object) -> int:
        seen.append(configuration)
        return 0

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(server, "serve", serve)
    assert run(["up", "--dev", "--block-ms", "300"]) == 0
    assert run(["up", "--dev"]) == 0
    assert run(["up"]) == 0
    (quick,), (usual,), nothing = (one.config.evm for one in seen)
    assert (quick.block_ms, usual.block_ms, nothing) == (300, 500, ())
    assert run(["up", "--block-ms", "300"]) == 2
    assert "--block-ms is for the chain of --dev" in capsys.readouterr().err
    assert run(["up", "--dev", "--db", "kept.db"]) == 2
    assert "name no database" in capsys.readouterr().err
    assert len(seen) == 3
