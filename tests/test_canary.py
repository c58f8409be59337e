"""The canary finds a secret in whatever writing; otherwise its silence would prove nothing."""

import base64
import json
import logging
from pathlib import Path

import pytest
from tests.canary import PASSWORD, SECRET, Witness

WRITTEN: list[bytes] = [
    SECRET,
    SECRET.hex().encode(),
    f"0x{SECRET.hex()}".encode(),
    SECRET.hex().upper().encode(),
    f"0X{SECRET.hex().upper()}".encode(),
    SECRET.hex(":").encode(),
    SECRET.hex(" ").upper().encode(),
    str(int.from_bytes(SECRET, "big")).encode(),
    json.dumps(list(SECRET)).encode(),
    json.dumps(list(SECRET), separators=(",", ":")).encode(),
    repr(SECRET).encode(),
    repr(b"key " + SECRET).encode(),
    SECRET[::-1],
    SECRET.hex()[:32].encode(),
    SECRET.hex()[32:].encode(),
    *(base64.b64encode(b"x" * size + SECRET + b"tail") for size in range(6)),
    *(base64.urlsafe_b64encode(b"x" * size + SECRET) for size in range(6)),
    base64.b64encode(SECRET),
]


@pytest.mark.parametrize("content", WRITTEN, ids=range(len(WRITTEN)))
def test_every_writing_of_a_secret_is_found(content: bytes) -> None:
    witness = Witness(SECRET)
    witness.hears("here", b"before " + content + b" after")
    assert witness.seen
    with pytest.raises(AssertionError):
        witness.is_content()


def test_silence_is_heard_as_silence_and_no_hearing_proves_nothing() -> None:
    witness = Witness(SECRET, PASSWORD)
    with pytest.raises(AssertionError):
        witness.is_content()
    witness.hears("here", "nothing to see")
    witness.is_content()


def test_errors_are_searched_with_those_they_hide() -> None:
    witness = Witness(SECRET)
    try:
        try:
            raise ValueError(SECRET.hex())
        except ValueError:
            raise RuntimeError("calm") from None
    except RuntimeError as error:
        witness.hears("error", error)
    assert witness.seen


def test_files_and_their_names_are_searched_besides_the_one_it_was_given_in(
    tmp_path: Path,
) -> None:
    given, leaked = tmp_path / "given", tmp_path / "deep" / "leak"
    leaked.parent.mkdir()
    given.write_bytes(SECRET)
    calm = Witness(SECRET)
    calm.reads(tmp_path, besides=[given])
    calm.is_content()
    leaked.write_bytes(b"..." + SECRET)
    (tmp_path / SECRET.hex()).touch()
    witness = Witness(SECRET)
    witness.reads(tmp_path, besides=[given])
    assert {place.rpartition(":")[0] for place in witness.seen} == {
        str(leaked),
        f"the name {tmp_path / SECRET.hex()}",
    }


def test_all_loggers_are_heard_at_any_level() -> None:
    for name in ("laneway", "laneway.contract", "asyncio", "anybody"):
        witness = Witness(SECRET)
        with witness.logs():
            logging.getLogger(name).debug("key %s", SECRET.hex())
        assert witness.seen, name
