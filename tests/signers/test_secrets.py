"""Secrets as they are given: in files that nobody else may read, and never in an error."""

import os
from pathlib import Path

import pytest

from laneway.signers.limits import SECRET_BYTES_MAX
from laneway.signers.place import SignerUnusable
from laneway.signers.secrets import find_password, parse_secret, read_password, read_secret

HEX = "46" * 32


def written(path: Path, content: bytes, mode: int = 0o600) -> str:
    path.write_bytes(content)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize("text", [HEX, f"0x{HEX}", f"  0x{HEX}\r\n", HEX.upper()])
def test_a_key_is_64_hex_digits(text: str) -> None:
    assert parse_secret("k", text.encode()) == bytes.fromhex(HEX)


@pytest.mark.parametrize(
    "content", [b"", HEX[:-1].encode(), f"{HEX}0".encode(), f"{HEX} {HEX}".encode(), b"\xff" * 64]
)
def test_anything_else_is_refused_and_not_shown(content: bytes) -> None:
    with pytest.raises(SignerUnusable) as caught:
        parse_secret("file:k", content)
    assert str(caught.value).startswith("file:k: it does not hold a key")
    assert HEX[:16] not in str(caught.value)


@pytest.mark.parametrize("number", ["0" * 64, "f" * 64])
def test_a_number_beyond_the_curve_is_refused(number: str) -> None:
    with pytest.raises(SignerUnusable, match="no key of the curve"):
        parse_secret("k", number.encode())


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_file_of_its_owner_alone_is_read(tmp_path: Path, mode: int) -> None:
    assert read_secret(written(tmp_path / "key", b"abc", mode)) == b"abc"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o601])
def test_a_file_that_others_may_touch_is_refused_with_the_command_that_mends_it(
    tmp_path: Path, mode: int
) -> None:
    path = written(tmp_path / "my key", b"abc", mode)
    with pytest.raises(SignerUnusable) as caught:
        read_secret(path)
    assert f"(mode {mode:04o}); run: chmod 600 '{path}'" in str(caught.value)
    assert os.system(str(caught.value).partition("run: ")[2]) == 0
    assert read_secret(path) == b"abc"


def test_what_is_not_a_small_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for path, words in [
        (str(tmp_path / "none"), "No such file"),
        (str(tmp_path), "not a file"),
        (str(tmp_path / "pipe"), "not a file"),
        ("a\0b", "null byte"),
        (written(tmp_path / "large", b"x" * (SECRET_BYTES_MAX + 1)), "the right file"),
    ]:
        with pytest.raises(SignerUnusable, match=words):
            read_secret(path)


def test_a_key_given_as_a_path_is_not_repeated() -> None:
    for path in (HEX, f"0x{HEX}", f"/tmp/{HEX.upper()}"):
        with pytest.raises(SignerUnusable) as caught:
            read_secret(path)
        assert str(caught.value) == "(not shown): cannot be read: No such file or directory"


def test_a_password_is_one_line(tmp_path: Path) -> None:
    for content, password in [
        (b"pw", b"pw"), (b"pw\n", b"pw"), (b"pw\r\n", b"pw"), (b" p w ", b" p w "), (b"", b""),
    ]:  # fmt: skip
        assert read_password(written(tmp_path / "pw", content)) == password
    with pytest.raises(SignerUnusable, match="more than one line"):
        read_password(written(tmp_path / "pw", b"one\ntwo\n"))


def test_a_password_is_found_in_the_nearest_place(tmp_path: Path) -> None:
    named = written(tmp_path / "named", b"named")
    environ = {"LANEWAY_PASSWORD": "wörd"}
    assert find_password(None, {}) is None
    assert find_password(None, environ) == "wörd".encode()
    environ["LANEWAY_PASSWORD_FILE"] = written(tmp_path / "file", b"file")
    assert find_password(None, environ) == b"file"
    assert find_password(named, environ) == b"named"
