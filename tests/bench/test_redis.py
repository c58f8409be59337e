"""A Redis for the time of a run."""

from pathlib import Path

import pytest

from laneway_bench.child import BenchFailed
from laneway_bench.redis import Redis, redis, reply_to


def test_a_missing_redis_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BenchFailed, match="apt-get install -y redis-server"), redis(tmp_path):
        pass


@pytest.mark.slow
def test_the_server_syncs_every_write_can_be_cleared_and_is_gone_afterwards(tmp_path: Path) -> None:
    with redis(tmp_path) as server:
        assert server.url() == f"redis://127.0.0.1:{server.port}/0"
        assert b"always" in reply_to(server.port, b"CONFIG GET appendfsync\r\n")
        reply_to(server.port, b"SET a 1\r\n")
        server.clear()
        assert reply_to(server.port, b"DBSIZE\r\n") == b":0\r\n"
    assert reply_to(server.port, b"PING\r\n") == b""
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(BenchFailed, match="cleared"):
        Redis(server.port, "7").clear()
