"""What others said commands no terminal and begins no line of its own."""

import json
from typing import Any

import pytest
from msgspec import Struct

from laneway.cli import print_bug
from laneway.console.printing import say, say_json
from laneway.console.remote import Output

EVIL = "\x1b[2J\x1b]0;owned\x07\nlaneway: all is paid\r\x9b31m\u202e"


class Said(Struct):
    reason: str = EVIL


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert all(char.isprintable() or char == "\n" for char in text)
    return text


def test_a_line_stays_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"refused: {EVIL}")
    say(f"refused: {EVIL}", err=True)
    assert printed(capsys).count("\n") == 2


def test_json_keeps_what_was_said(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"reason": EVIL})
    text = printed(capsys)
    assert text.count("\n") == 1
    assert json.loads(text) == {"reason": EVIL}
    say_json({"reason": EVIL}, indent=2)
    assert json.loads(printed(capsys)) == {"reason": EVIL}


def test_a_table_and_a_list_of_facts_have_the_lines_that_they_should(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = Output(as_json=False)
    output.facts(Said(), [("reason", EVIL), ("number", 5), ("nothing", None)])
    assert printed(capsys).count("\n") == 2
    output.table([Said(), Said()], ["why"], lambda said: [said.reason])
    assert printed(capsys).count("\n") == 3


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_what_a_server_says_is_neutralised_in_every_form(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    output = Output(as_json=bool(options))
    said: Any = Said()
    output.value(said, f"why {said.reason}")
    assert printed(capsys).count("\n") == 1


def test_a_bug_that_ends_a_command_shows_no_secret_of_an_address(
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        raise ValueError("no answer of redis://:hidden-key-7@h:1/0 \x1b[2J")
    except ValueError as error:
        print_bug(type(error), error, error.__traceback__)
    text = printed(capsys)
    assert "redis://(redacted)@h:1/0" in text
    assert "hidden-key-7" not in text.rpartition("ValueError: ")[2]
