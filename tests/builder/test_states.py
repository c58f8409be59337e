"""State files: each is whole or not there, and says of itself what it is."""

import logging
import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from msgspec import msgpack
from msgspec.structs import replace

from laneway.builder import states
from laneway.builder.limits import STATE_CHUNK_BYTES
from laneway.builder.past import PastBlock, PastTransaction
from laneway.builder.states import (
    BLOCK_SIZE,
    DIGEST_BYTES,
    MAGIC,
    SIZE,
    SIZES,
    SavedState,
    StateFiles,
    past_of,
)
from laneway.core.errors import BuildFailed

STATE = SavedState(
    kind="ledger", identity=b"id", number=7, block=b"block", root=b"root", payload=b"payload"
)
ENTRIES = [(b"key %d" % number, b"value" * number) for number in range(5)]


def never() -> bool:
    return False


@pytest.fixture
def files(tmp_path: Path) -> StateFiles:
    return StateFiles(str(tmp_path / "builder[1].db"))


def save(files: StateFiles, number: int = 7) -> Path:
    assert files.save(replace(STATE, number=number), iter(ENTRIES), never)
    return Path(files.path(number))


def names(path: Path) -> list[str]:
    return sorted(one.name for one in path.iterdir())


def problem(files: StateFiles, number: int = 7) -> str:
    with pytest.raises(BuildFailed) as failed:
        files.load(number)
    return str(failed.value)


def test_a_state_comes_back_as_it_was_and_is_its_owners_alone(files: StateFiles) -> None:
    path = save(files)
    assert files.load(7) == files.about(7) == STATE
    assert list(files.entries(7)) == ENTRIES
    assert path.stat().st_mode & 0o777 == 0o600
    assert files.saved_s(7) == path.stat().st_mtime
    assert files.saved_s(8) == 0


PAST = [
    PastBlock(7, b"block", b"package", (PastTransaction(b"h" * 32, 0, "ok"),)),
    PastBlock(6, b"before", b"", ()),
]


def test_what_was_executed_comes_back_with_the_state(
    files: StateFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    for size in (STATE_CHUNK_BYTES, 16):
        monkeypatch.setattr(states, "STATE_CHUNK_BYTES", size)
        assert files.save(STATE, ENTRIES, never, PAST)
        assert (files.load(7), list(files.entries(7))) == (STATE, ENTRIES)
        assert list(files.past(7)) == PAST
    assert files.save(STATE, (), never, PAST)
    assert (list(files.entries(7)), list(files.past(7))) == ([], PAST)


def test_a_state_of_the_format_before_is_read_and_knows_no_past(files: StateFiles) -> None:
    path = save(files)
    raw = path.read_bytes()[len(MAGIC) : -DIGEST_BYTES]
    path.write_bytes(sealed(b"laneway-state/1\n" + raw))
    assert (files.load(7), list(files.entries(7)), list(files.past(7))) == (STATE, ENTRIES, [])


def test_a_past_with_a_gap_or_that_cannot_be_read_is_said(files: StateFiles) -> None:
    assert files.save(STATE, ENTRIES, never, PAST[1:])
    with pytest.raises(BuildFailed, match="it has block 6 in the place of 7"):
        list(files.past(7))
    raw = Path(files.path(7)).read_bytes()[:-DIGEST_BYTES]
    Path(files.path(7)).write_bytes(sealed(raw + SIZES.pack(BLOCK_SIZE, 1) + b"x"))
    with pytest.raises(BuildFailed, match="it has block 6"):
        list(files.past(7))
    assert files.save(STATE, ENTRIES, never, [])
    raw = Path(files.path(7)).read_bytes()[:-DIGEST_BYTES]
    Path(files.path(7)).write_bytes(sealed(raw + SIZES.pack(BLOCK_SIZE, 1) + b"x"))
    with pytest.raises(BuildFailed, match="a block before it cannot be read"):
        list(files.past(7))


def test_a_state_without_entries_comes_back(files: StateFiles) -> None:
    assert files.save(STATE, (), never)
    assert (files.load(7), list(files.entries(7))) == (STATE, [])


def test_a_state_of_many_chunks_comes_back(
    files: StateFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "STATE_CHUNK_BYTES", 16)
    save(files)
    assert (files.load(7), list(files.entries(7))) == (STATE, ENTRIES)


def test_the_newest_two_are_kept_and_what_is_unfinished_goes(
    files: StateFiles, tmp_path: Path
) -> None:
    beside = ["builder[1].db-state-x", "builder[1].db-wal", "builder1.db-state-3"]
    for name in (*beside, "builder[1].db-state-3.part"):
        (tmp_path / name).write_bytes(b"")
    for number in (9, 10, 11):
        save(files, number)
    assert files.numbers() == [11, 10]
    kept = ["builder[1].db-state-10", "builder[1].db-state-11"]
    assert names(tmp_path) == sorted([*kept, *beside])


def test_what_cannot_be_deleted_keeps_no_others_from_being_deleted(
    files: StateFiles, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A folder with the name of a state: all states would be kept from then on."""
    save(files, 9)
    for name in ("builder[1].db-state-1", "builder[1].db-state-12", "builder[1].db-state-5.part"):
        (tmp_path / name).mkdir()
    with caplog.at_level(logging.WARNING, "laneway.builder"):
        save(files, 10)
        assert len(caplog.messages) == 3
        save(files, 11)
    assert files.numbers() == [12, 11, 10, 1]
    assert f"{files.path(1)} is of no use any more, and cannot be deleted: " in caplog.text
    caplog.clear()
    (tmp_path / "builder[1].db-state-1").rmdir()
    save(files, 13)
    assert files.numbers() == [13, 12, 11]
    assert len(caplog.messages) == 2


def test_a_folder_does_not_count_as_the_state_before_the_newest(files: StateFiles) -> None:
    save(files, 9)
    Path(files.path(10)).mkdir()
    save(files, 11)
    assert files.numbers() == [11, 10, 9]


def test_states_above_the_newest_final_block_are_of_a_chain_before(files: StateFiles) -> None:
    save(files, 500)
    save(files, 2)
    assert files.numbers() == [2]


def test_without_a_path_there_are_none() -> None:
    files = StateFiles(None)
    assert (files.is_kept(), files.numbers()) == (False, [])


def test_what_is_stopped_leaves_nothing(
    files: StateFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "STATE_CHUNK_BYTES", 16)
    save(files)
    before = names(tmp_path)
    assert not files.save(replace(STATE, number=8), ENTRIES, lambda: True)
    assert names(tmp_path) == before


class Crash(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("place", ["open", "write", "fsync", "replace"])
def test_a_crash_while_one_is_written_leaves_those_before_it(
    files: StateFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    save(files, 5)
    save(files, 6)

    def crash(*_: Any) -> Any:
        raise Crash

    def torn() -> Iterator[tuple[bytes, bytes]]:
        yield ENTRIES[0]
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", lambda _: None)
        if place != "write":
            patch.setattr(os, place, crash)
        with pytest.raises(Crash):
            files.save(STATE, torn() if place == "write" else ENTRIES, never)
    assert files.numbers() == [6, 5]
    assert [files.load(number).number for number in (6, 5)] == [6, 5]
    save(files)
    assert names(tmp_path) == ["builder[1].db-state-6", "builder[1].db-state-7"]


def test_a_name_is_durable_before_those_before_it_go(
    files: StateFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(files, 5)
    save(files, 6)
    steps: list[str] = []

    def noted(name: str, real: Any) -> Any:
        def call(*given: Any) -> Any:
            steps.append(f"{name}, {len(files.numbers())}")
            return real(*given)

        return call

    monkeypatch.setattr(os, "fsync", noted("fsync", os.fsync))
    monkeypatch.setattr(os, "replace", noted("replace", os.replace))
    save(files)
    assert steps == ["fsync, 2", "replace, 2", "fsync, 3"]


def test_a_disk_that_is_full_is_said_and_leaves_those_before_it(
    files: StateFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(files, 6)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BuildFailed, match=r"state-7 cannot be written: .*No space left"):
        files.save(STATE, ENTRIES, never)
    assert names(tmp_path) == ["builder[1].db-state-6"]


def test_a_state_that_is_too_large_is_not_kept(
    files: StateFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = save(files, 6).stat().st_size - DIGEST_BYTES
    monkeypatch.setattr(states, "STATE_BYTES_MAX", size)
    save(files)
    monkeypatch.setattr(states, "STATE_BYTES_MAX", size - 1)
    with pytest.raises(BuildFailed, match=f"more than {size - 1} bytes"):
        files.save(replace(STATE, number=8), ENTRIES, never)
    assert names(tmp_path) == ["builder[1].db-state-6", "builder[1].db-state-7"]
    assert "which no state has" in problem(files)


def test_every_bit_that_is_flipped_and_every_end_that_is_missing_is_noticed(
    files: StateFiles,
) -> None:
    path = save(files)
    whole = path.read_bytes()
    for place in range(len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        assert "its digest is that of other bytes" in problem(files)
        path.write_bytes(whole[:place])
        assert "which no state has" in problem(files) or "other bytes" in problem(files)
    path.write_bytes(whole + b"x")
    assert "other bytes" in problem(files)
    path.write_bytes(whole)
    assert files.load(7) == STATE


def sealed(raw: bytes) -> bytes:
    """Bytes with their digest: a file that lies."""
    return raw + blake2b(raw, digest_size=DIGEST_BYTES).digest()


def test_what_has_a_digest_and_is_no_state_is_said(
    files: StateFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(files, 8)
    path.rename(files.path(7))
    assert problem(files) == "it is of block 8"
    lies = {
        b"laneway-state/3\n": "or of another version of laneway",
        MAGIC + SIZE.pack(1_000): "it ends in the middle",
        MAGIC + SIZE.pack(1 << 31): "its header has 2147483648 bytes",
        MAGIC + SIZE.pack(1) + b"x": "its header cannot be read",
        MAGIC + SIZE.pack(3) + msgpack.encode({"a": 1})[:3]: "its header cannot be read",
    }
    for raw, said in lies.items():
        Path(files.path(7)).write_bytes(sealed(raw))
        assert said in problem(files)
    raw = msgpack.encode(STATE)
    Path(files.path(7)).write_bytes(sealed(MAGIC + SIZE.pack(len(raw)) + raw + b"xx"))
    assert files.load(7) == STATE
    with pytest.raises(BuildFailed, match="it ends in the middle"):
        list(files.entries(7))
    Path(files.path(7)).unlink()
    assert "it cannot be read" in problem(files)


def test_a_flipped_bit_in_a_name_or_a_word_is_said_too(files: StateFiles) -> None:
    path = save(files)
    whole = path.read_bytes()
    for word in (b"identity", STATE.kind.encode()):
        assert word in whole
        path.write_bytes(whole.replace(word, b"\xe9" + word[1:], 1))
        with pytest.raises(BuildFailed, match="its header cannot be read"):
            files.about(7)
    raw = msgpack.encode(PastBlock(7, b"block", b"", (PastTransaction(b"tx", 0, "ok"),)))
    assert past_of(raw).transactions[0].status == "ok"
    with pytest.raises(BuildFailed, match="a block before it cannot be read"):
        past_of(raw.replace(b"ok", b"o\xe9"))


@pytest.mark.parametrize("place", [-1, 1 << 32, (1 << 64) - 1])
def test_a_place_that_no_block_has_is_said(place: int) -> None:
    raw = msgpack.encode(PastBlock(7, b"block", b"", (PastTransaction(b"tx", place, "ok"),)))
    with pytest.raises(BuildFailed, match="a block before it cannot be read"):
        past_of(raw)
