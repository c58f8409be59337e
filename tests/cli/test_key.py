"""Keys from a terminal: made, imported and listed, and never taken from the command line."""

import io
import json
import os
import stat
import sys
from pathlib import Path

import click
import pytest
from eth_account import Account

from laneway.cli import key as module
from laneway.cli.app import run

HEX = "46" * 32
LETTERS = "fa" * 32
ADDRESS = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"
QUICK = ("--scrypt-n", "1024")


class Stdin(io.TextIOWrapper):
    def __init__(self, content: str = "", *, tty: bool = False) -> None:
        super().__init__(io.BytesIO(content.encode()))
        self.tty = tty

    def isatty(self) -> bool:
        return self.tty


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", Stdin())
    for name in ("LANEWAY_PASSWORD", "LANEWAY_PASSWORD_FILE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def password(home: Path) -> str:
    return private(home / "pw", "word\n")


def private(path: Path, content: str) -> str:
    path.write_text(content)
    path.chmod(0o600)
    return str(path)


def test_a_new_key_opens_elsewhere_and_is_listed(
    home: Path, password: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["key", "new", "--password-file", password, *QUICK, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    path = Path(told["path"])
    assert path.parent == home / ".laneway/keystore"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    secret = Account.decrypt(path.read_text(), "word")
    assert Account.from_key(secret).address == told["address"]
    assert run(["key", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == told
    assert run(["key", "list"]) == 0
    assert capsys.readouterr().out == f"{told['address']} {path}\n"
    assert run(["key", "check", f"keystore:{path}", "--password-file", password]) == 0
    assert capsys.readouterr().out == f"{told['address']} signs\n"


def test_no_two_new_keys_are_alike(password: str, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(3):
        assert run(["key", "new", "--password-file", password, *QUICK]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len({line.split()[0] for line in lines}) == 3


def test_a_key_is_imported_from_stdin_once(
    home: Path, password: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANEWAY_PASSWORD_FILE", password)
    where = ["--dir", str(home / "keys")]
    monkeypatch.setattr(sys, "stdin", Stdin(f"0x{HEX}\n"))
    assert run(["key", "import", *where, *QUICK]) == 0
    assert capsys.readouterr().out.startswith(f"{ADDRESS} {home}/keys/UTC--")
    monkeypatch.setattr(sys, "stdin", Stdin(HEX))
    assert run(["key", "import", *where, *QUICK]) == 2
    assert f"holds {ADDRESS} already" in capsys.readouterr().err


def test_a_key_is_imported_from_a_file_of_its_owner_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LANEWAY_PASSWORD", "word")
    path = private(home / "key", HEX)
    os.chmod(path, 0o644)
    assert run(["key", "import", "--key-file", path, *QUICK]) == 2
    assert f"chmod 600 {path}" in capsys.readouterr().err
    os.chmod(path, 0o600)
    assert run(["key", "import", "--key-file", path, *QUICK, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["address"] == ADDRESS
    assert run(["key", "check", f"file:{path}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "address": ADDRESS}


def test_a_person_is_asked_for_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, object]] = []

    def prompt(text: str, **given: object) -> str:
        assert given["hide_input"]
        asked.append((text, given.get("confirmation_prompt")))
        return HEX if text.startswith("Key") else "word"

    monkeypatch.setattr(click, "prompt", prompt)
    monkeypatch.setattr(sys, "stdin", Stdin(tty=True))
    assert run(["key", "import", *QUICK]) == 0
    assert asked == [("Key (64 hex digits, not shown)", None), ("Password", True)]


def test_without_a_person_a_password_must_be_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["key", "new"]) == 2
    assert "LANEWAY_PASSWORD_FILE" in capsys.readouterr().err
    assert run(["key", "new", "--password-file", private(home / "empty", "\n")]) == 2
    assert "empty" in capsys.readouterr().err
    assert not (home / ".laneway").exists()


@pytest.mark.parametrize("work", ["0", "512", "1000", "524288"])
def test_too_little_or_impossible_work_is_refused(
    work: str, password: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["key", "new", "--password-file", password, "--scrypt-n", work]) == 2
    assert "a power of two from 1024 to 262144" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["key", "import", LETTERS],
        ["key", "import", f"0x{LETTERS}"],
        ["key", LETTERS],
        ["key", "new", LETTERS],
        ["key", "list", "--dir", ".", LETTERS],
        ["key", "check", "env:A", LETTERS],
        ["key", "check", LETTERS],
        ["key", "check", f"env:{LETTERS}"],
        ["key", "import", "--key-file", LETTERS],
        ["key", "import", f"--{LETTERS}"],
        ["key", "new", "--scrypt-n", LETTERS],
        ["key", "new", "--password-file", LETTERS],
    ],
)
def test_a_key_on_the_command_line_is_not_taken_and_not_repeated(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    said = capsys.readouterr()
    assert LETTERS not in said.out + said.err
    assert "(not shown)" in said.err or "looks like a key" in said.err


def test_a_short_mistake_is_still_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["key", "lst"]) == 2
    assert "'lst'" in capsys.readouterr().err


def test_a_keystore_that_names_no_account_is_listed(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = dict(Account.encrypt(bytes.fromhex(HEX), "word", iterations=1024))
    del body["address"]
    (home / "foundry").write_text(json.dumps(body))
    assert run(["key", "list", "--dir", str(home)]) == 0
    assert capsys.readouterr().out.split() == ["(not", "named)", f"{home}/foundry"]


def test_a_machine_without_the_curve_is_told_which_extra_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], password: str
) -> None:
    def absent(*given: object) -> bytes:
        raise ModuleNotFoundError(name="coincurve")

    monkeypatch.setattr(module, "new_password", absent)
    assert run(["key", "new"]) == 1
    assert "pip install 'laneway[evm]'" in capsys.readouterr().err
