"""A new key is shown once, and its file has no secret."""

import tomllib
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest

from laneway.cli import apikey
from laneway.cli.app import run
from laneway.client.place import read_token
from laneway.server.access import SCOPES, Key


def test_the_token_is_not_among_the_lines_for_the_file_of_hashes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["apikey", "ann"]) == 0
    said = capsys.readouterr()
    token = said.err.strip().rpartition(" ")[2]
    stored = tomllib.loads(said.out)["keys"][0]
    assert token not in said.out
    assert stored["id"] == "ann"
    assert stored["sha256"] == sha256(token.encode()).hexdigest()
    assert stored["lanes"] == ["*"]


def test_a_token_may_go_to_a_file_that_only_its_owner_may_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "ann.token"
    assert run(["apikey", "ann", "--token-file", str(file)]) == 0
    said = capsys.readouterr()
    token = read_token(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert token not in said.out + said.err
    assert tomllib.loads(said.out)["keys"][0]["sha256"] == sha256(token.encode()).hexdigest()
    assert run(["apikey", "bob", "--token-file", str(file)]) == 1
    assert capsys.readouterr().out == ""
    assert read_token(file) == token


@pytest.mark.parametrize("name", ["Ann", "a_b", "", "a" * 33])
def test_a_name_that_cannot_be_a_key_is_refused(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["apikey", name]) == 2
    assert "small letters" in capsys.readouterr().err


def test_a_key_may_be_narrow_and_short_lived(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--scope", "tx:read", "--lane", "contract:A*", "--per-minute", "60"]
    assert run(["apikey", "ann", *words, "--expires", "2030-01-01T00:00:00Z"]) == 0
    stored = tomllib.loads(capsys.readouterr().out)["keys"][0]
    key = msgspec.convert(stored, Key)
    assert (key.scopes, key.lanes, key.requests_per_minute) == (("tx:read",), ("contract:A*",), 60)
    assert key.expires == datetime(2030, 1, 1, tzinfo=UTC)
    assert run(["apikey", "ann", "--expires", "tomorrow"]) == 2
    assert "--expires" in capsys.readouterr().err


def test_a_program_gets_the_token_and_the_lines_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["apikey", "ann", "--json"]) == 0
    said = msgspec.json.decode(capsys.readouterr().out)
    assert said["key"]["sha256"] == sha256(said["token"].encode()).hexdigest()
    assert tomllib.loads(said["toml"])["keys"][0]["id"] == "ann"


def test_the_scopes_of_the_help_are_those_of_the_server() -> None:
    assert apikey.SCOPES == SCOPES
