"""Laws of storage while a service accumulates."""

from laneway.jam.service.storage import Overlay, Stored, put

BELOW = {b"kept": b"1", b"changed": b"2", b"gone": b"3"}


def test_what_was_written_is_read_and_what_lies_below_stays() -> None:
    below = dict(BELOW)
    overlay = Overlay(Stored(below))
    overlay.write(b"changed", b"4")
    overlay.write(b"gone", None)
    overlay.write(b"new", b"5")
    read = [overlay.read(key) for key in (b"kept", b"changed", b"gone", b"new", b"never")]
    assert read == [b"1", b"4", None, b"5", None]
    assert below == BELOW


def test_writes_are_sorted_and_leave_out_what_is_as_it_was() -> None:
    overlay = Overlay(Stored(BELOW))
    for key, value in ((b"new", b"5"), (b"kept", b"0"), (b"gone", None), (b"never", None)):
        overlay.write(key, value)
    overlay.write(b"kept", b"1")
    assert overlay.writes() == ((b"gone", None), (b"new", b"5"))


def test_writes_that_are_carried_out_are_what_the_overlay_read() -> None:
    records = dict(BELOW)
    overlay = Overlay(Stored(BELOW))
    overlay.write(b"gone", None)
    overlay.write(b"changed", b"")
    put(records, overlay.writes())
    put(records, ((b"never", None),))
    assert records == {b"kept": b"1", b"changed": b""}
