"""A new key is shown once, and its file has no secret."""

import tomllib
from datetime import UTC, datetime
from hashlib import sha256

import msgspec
import pytest

from laneway.cli import apikey
from laneway.cli.app import run
from laneway.server.access import SCOPES, Key


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
