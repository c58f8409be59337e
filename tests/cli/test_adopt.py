"""`laneway lane adopt`: an account that engine-core ran, taken over from its Redis."""

from pathlib import Path

import pytest
from msgspec import json
from tests.redis_servers import Server
from tests.stores.engine_core_stage import CHAIN, key
from tests.stores.test_redis_adopt import laid_out, redis

from laneway.cli.app import run

__all__ = ["redis"]

SECRET = "LANEWAY_TEST_ADOPTED_KEY"


def written(folder: Path, store: str) -> str:
    path = folder / "laneway.toml"
    path.write_text(f"""
[store]
path = "{store}"
[[evm]]
name = "dev"
chain_id = {CHAIN}
nodes = ["http://127.0.0.1:1"]
[[evm.accounts]]
name = "hot"
signer = "env:{SECRET}"
""")
    return str(path)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, "07" * 32)


@pytest.mark.parametrize("lane", ["contract:Qm1", "cosmos:dev:main", "nobody:x", "hot"])
def test_only_an_account_that_engine_core_can_have_run_is_taken_over(
    lane: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["lane", "adopt", lane, "--config", written(tmp_path, str(tmp_path / "l.db"))]
    assert run(command) == 2
    assert lane in capsys.readouterr().err


@pytest.mark.slow
def test_a_dry_run_changes_nothing_and_the_real_one_takes_it_over(
    redis: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    laid_out(redis)
    redis.say("DEL", key("recycled_nonces"))
    command = ["lane", "adopt", "evm:dev:hot", "--config", written(tmp_path, redis.url)]
    assert run([*command, "--dry-run", "--json"]) == 0
    told = json.decode(capsys.readouterr().out)
    assert (told["taken_over"], bool(told["found"]["pending"])) == (False, True)
    assert run(command) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "taken over"


def test_a_recycled_nonce_of_which_no_node_says_anything_stops_it(
    redis: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    laid_out(redis)
    command = ["lane", "adopt", "evm:dev:hot", "--config", written(tmp_path, redis.url)]
    for words in (["--dry-run"], []):
        assert run([*command, *words]) == 1
        said = capsys.readouterr().out
        assert "PROBLEM: nonce 1 was recycled, maybe after a lost answer" in said
        assert said.splitlines()[-1] == "nothing was changed"


def test_only_a_redis_holds_such_accounts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = written(tmp_path, str(tmp_path / "laneway.db"))
    assert run(["lane", "adopt", "evm:dev:hot", "--config", config]) == 2
    assert "Redis" in capsys.readouterr().err
