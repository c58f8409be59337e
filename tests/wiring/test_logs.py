"""Laws of log lines: text for people, one JSON object a line for machines."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from laneway.kinds.contract.log import line
from laneway.wiring.logs import FOREIGN, OURS, set_up_logs
from laneway.wiring.schema import LogSection


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in (OURS, *FOREIGN)]
    before = [(one.handlers, one.propagate, one.level) for one in loggers]
    yield
    for one, (handlers, propagates, level) in zip(loggers, before, strict=True):
        one.handlers, one.propagate = handlers, propagates
        one.setLevel(level)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_line_for_machines_is_one_object_with_its_fields() -> None:
    stream = io.StringIO()
    set_up_logs(LogSection(), stream)
    line(logging.INFO, "EXECUTION START", reqID="tx_1", executeCount=3)
    said = json.loads(stream.getvalue())
    assert said.pop("ts").endswith("Z")
    assert said == {
        "level": "info",
        "event": "EXECUTION START",
        "logger": "laneway.contract",
        "reqID": "tx_1",
        "executeCount": 3,
    }


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_line_whose_words_stand_alone_keeps_its_fields(form: str) -> None:
    stream = io.StringIO()
    set_up_logs(LogSection(format=form), stream)  # type: ignore[arg-type]
    logging.getLogger("laneway.desk").info("retried", extra={"fields": {"tx": "tx_1"}})
    (said,) = stream.getvalue().splitlines()
    assert said.endswith("[INFO] retried tx=tx_1") or form == "json"
    if form == "json":
        assert json.loads(said)["event"] == "retried"
        assert json.loads(said)["tx"] == "tx_1"


def test_a_line_for_people_has_the_form_of_the_seed() -> None:
    stream = Terminal()
    set_up_logs(LogSection(), stream)
    line(logging.INFO, "EXECUTION START", reqID="tx_1", executeCount=3)
    assert stream.getvalue().rstrip().endswith("[INFO] EXECUTION START reqID=tx_1 executeCount=3")


@pytest.mark.parametrize("form", ["json", "text"])
def test_an_error_keeps_its_traceback(form: str) -> None:
    stream = io.StringIO()
    set_up_logs(LogSection(format=form), stream)  # type: ignore[arg-type]
    try:
        raise ValueError("the reason")
    except ValueError:
        logging.getLogger("laneway.engine").exception("it broke")
    said = stream.getvalue()
    assert "it broke" in said
    assert "the reason" in said
    if form == "json":
        assert said.count("\n") == 1


def test_what_is_below_the_level_is_not_written() -> None:
    stream = io.StringIO()
    set_up_logs(LogSection(level="warning"), stream)
    line(logging.INFO, "EXECUTION START", reqID="tx_1")
    assert stream.getvalue() == ""


@pytest.mark.parametrize("form", ["json", "text"])
def test_what_others_said_commands_no_terminal_and_begins_no_line(form: str) -> None:
    stream = io.StringIO()
    set_up_logs(LogSection(format=form), stream)  # type: ignore[arg-type]
    line(logging.INFO, "REFUSED", reason="\x1b[2J\x9b\n2026-11-16T00:00:00.000Z [INFO] all is paid")
    try:
        raise ValueError("\x1b[2J\x9b")
    except ValueError:
        logging.getLogger("laneway.engine").exception("it broke")
    said = stream.getvalue()
    assert all(char.isprintable() or char == "\n" for char in said)
    assert not any(each.startswith("2026-11-16") for each in said.splitlines())


@pytest.mark.parametrize("form", ["json", "text"])
def test_an_address_in_a_line_or_a_traceback_shows_no_secret(form: str) -> None:
    stream = io.StringIO()
    set_up_logs(LogSection(format=form), stream)  # type: ignore[arg-type]
    url = "wss://me:hidden-key-7@node:1/v3/hidden-key-7"
    line(logging.INFO, "LOST", node=url)
    try:
        raise ValueError(f"403, message='no', url={url!r}")
    except ValueError:
        logging.getLogger("laneway.engine").exception("%s broke", url)
    assert "hidden-key-7" not in stream.getvalue()
    assert stream.getvalue().count("node:1/v3/") >= 3


@pytest.mark.parametrize("name", FOREIGN)
def test_what_a_library_logs_is_written_as_ours_is(name: str) -> None:
    stream = io.StringIO()
    set_up_logs(LogSection(format="json"), stream)
    logging.getLogger(name).error("never retrieved: %s", "redis://:hidden-key-7@h:1/0")
    logging.getLogger(name).info("nothing to see")
    said = json.loads(stream.getvalue())
    assert said["event"] == "never retrieved: redis://(redacted)@h:1/0"
