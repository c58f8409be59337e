"""A directory of keystores: whole files, for their owner alone, under geth's names."""

import os
import re
import stat
from pathlib import Path

import pytest

from laneway.evm.secp256k1 import address
from laneway.signers import folder as module
from laneway.signers.folder import default_folder, file_name, keep, listed
from laneway.signers.keystore import decrypt
from laneway.signers.place import SignerUnusable

SECRET = b"\x46" * 32
NOW_NS = 1_458_651_475_920_751_759


def put(folder: Path, secret: bytes = SECRET) -> module.KeptKeystore:
    return keep(folder, secret, b"pw", now_ns=NOW_NS, scrypt_n=1024)


def test_the_name_is_geths() -> None:
    account = bytes.fromhex("7ef5a6135f1fd6a02593eedc869c6d41d934aef8")
    expected = "UTC--2016-03-22T12-57-55.920751759Z--7ef5a6135f1fd6a02593eedc869c6d41d934aef8"
    assert file_name(account, NOW_NS) == expected
    assert ".000000007Z" in file_name(account, NOW_NS // 10**9 * 10**9 + 7)


def test_a_kept_key_opens_and_is_its_owners_alone(tmp_path: Path) -> None:
    place = tmp_path / "a" / "keystore"
    kept = put(place)
    assert kept.address == address(SECRET)
    assert decrypt("k", kept.path.read_bytes(), b"pw") == SECRET
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert [path.name for path in place.iterdir()] == [kept.path.name]


def test_a_key_is_kept_once(tmp_path: Path) -> None:
    first = put(tmp_path)
    with pytest.raises(SignerUnusable, match="already"):
        put(tmp_path)
    assert [kept.path for kept in listed(tmp_path)] == [first.path]


def test_a_keystore_is_on_the_disk_before_anybody_hears_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[list[str]] = []

    def sync(descriptor: int) -> None:
        synced.append([re.sub("-.*", "", path.name) for path in tmp_path.iterdir()])

    monkeypatch.setattr(os, "fsync", sync)
    put(tmp_path)
    assert synced == [[".UTC"], ["UTC"]]


def test_a_list_passes_over_what_is_no_keystore(tmp_path: Path) -> None:
    assert listed(tmp_path / "nowhere") == []
    kept = put(tmp_path)
    (tmp_path / "note.txt").write_text("hello")
    (tmp_path / ".UTC--draft.tmp").write_bytes(kept.path.read_bytes())
    (tmp_path / "large").write_bytes(b" " * 100_000)
    (tmp_path / "folder").mkdir()
    nameless = re.sub(rb'"address":"[^"]*",', b"", kept.path.read_bytes())
    (tmp_path / "foundry").write_bytes(nameless)
    assert [(found.address, found.path.name) for found in listed(tmp_path)] == [
        (address(SECRET), kept.path.name),
        (None, "foundry"),
    ]


def test_keys_live_at_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".laneway" / "keystore"
