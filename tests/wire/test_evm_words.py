"""Laws of what callers may name: a file, whose text is read, or the text itself."""

from pathlib import Path

import pytest

from laneway.core.errors import BadRequest
from laneway.wire.evm_words import abi_source, code_source
from laneway.wire.limits import ABI_BYTES_MAX


def test_a_text_that_is_json_or_has_a_bracket_is_no_files_name() -> None:
    for text in ("[]", ' {"abi": []}', "transfer(address)", "\nfunction f()\nerror E()"):
        assert abi_source(text) == text
    for text in ("0x6080", ' {"bytecode": "0x"}'):
        assert code_source(text) == text
    others: tuple[object, ...] = ([1], {"abi": []}, b"\x60", 5)
    for other in others:
        assert abi_source(other) is code_source(other) is other


def test_what_is_named_is_read(tmp_path: Path) -> None:
    file = tmp_path / "Token.json"
    file.write_text("[]\n")
    for name in (file, str(file)):
        assert abi_source(name) == code_source(name) == "[]\n"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "long").write_bytes(bytes(ABI_BYTES_MAX + 1))
    for name, problem in (
        ("absent", "No such file"),
        ("", "Is a directory"),
        ("binary", "is no text"),
        ("long", "more than 4194304 bytes"),
        ("with\0in it", "is no text"),
    ):
        with pytest.raises(BadRequest, match=f"^abi: the file .*{problem}"):
            abi_source(f"{tmp_path}/{name}")
        with pytest.raises(BadRequest, match=r"^deploy: the file "):
            code_source(f"{tmp_path}/{name}")
