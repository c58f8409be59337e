"""Laws of the key that signs a rollup's packages: where it comes from, and that nobody sees it."""

from pathlib import Path

import pytest
from tests.canary import SECRET, Witness

from laneway.jam.ed25519 import HeldEd25519Key
from laneway.signers.authorizer import make_package_key, open_package_key
from laneway.signers.place import SignerUnusable

PUBLIC = HeldEd25519Key(SECRET).public_key


def written(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


def test_a_file_or_a_variable_holds_the_seed_of_a_key(tmp_path: Path) -> None:
    file = written(tmp_path / "key", SECRET.hex().encode() + b"\n")
    assert open_package_key(f"file:{file}").public_key == PUBLIC
    assert open_package_key("env:PAY", {"PAY": f"0x{SECRET.hex()}"}).public_key == PUBLIC


def test_the_environment_is_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAY_KEY", SECRET.hex())
    assert open_package_key("env:PAY_KEY").public_key == PUBLIC


def test_every_number_is_a_seed() -> None:
    """Also those that are no key of the curve of EVM accounts."""
    for digits in ("0" * 64, "f" * 64):
        assert open_package_key("env:PAY", {"PAY": digits}).public_key


def test_a_key_that_cannot_be_used_is_named_and_never_shown(tmp_path: Path) -> None:
    witness = Witness(SECRET)
    shared = written(tmp_path / "shared", SECRET.hex().encode(), 0o640)
    broken = written(tmp_path / "broken", SECRET.hex().encode() + b"0")
    cases = {
        f"file:{shared}": "chmod 600",
        f"file:{broken}": "64 hex digits",
        f"file:{tmp_path / 'gone'}": "cannot be read",
        "env:BAD": "64 hex digits",
        "env:GONE": "no such variable",
        f"keystore:{broken}": "file:, env:",
        SECRET.hex(): "looks like a key itself",
        f"file:{SECRET.hex()}": "looks like a key itself",
    }
    with witness.logs():
        for uri, words in cases.items():
            with pytest.raises(SignerUnusable, match=words) as caught:
                open_package_key(uri, {"BAD": f"{SECRET.hex()}!"})
            witness.hears(words, caught.value)
    witness.is_content()


def test_a_key_that_is_open_shows_its_public_half_alone() -> None:
    witness = Witness(SECRET)
    key = open_package_key("env:PAY", {"PAY": SECRET.hex()})
    witness.hears("key", key)
    witness.hears("signature", key.sign(b"package"))
    witness.is_content()


def test_a_key_that_is_made_is_for_its_owner_alone_and_never_the_same(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    (tmp_path / "one.part").write_text("what a start left that was cut short")
    for path in (one, other):
        make_package_key(str(path))
        assert path.stat().st_mode & 0o777 == 0o600
    keys = [open_package_key(f"file:{path}").public_key for path in (one, other)]
    assert len(set(keys)) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other"]
