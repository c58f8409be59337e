"""What others say is printed, and commands no terminal."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.core.text import printable, printable_json


@pytest.mark.parametrize("text", ["", "plain words", "größe 3 µs → ok", "日本"])
def test_words_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J\x1b]0;owned\x07", r"\x1b[2J\x1b]0;owned\x07"),
        ("a\r\nb", r"a\r\nb"),
        ("\x9b31m", r"\x9b31m"),
        ("pay \u202egnp", r"pay \u202egnp"),
        ("\u2028", r"\u2028"),
        ("\ud800", r"\ud800"),
        ("\x7f\x00", r"\x7f\x00"),
    ],
)
def test_what_commands_a_terminal_is_written_as_an_escape(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_caller_may_keep_characters_of_its_own() -> None:
    assert printable("a\n\x1bb", keep="\n") == "a\n\\x1bb"


@given(st.text())
def test_nothing_invisible_is_left(text: str) -> None:
    assert printable(text).isprintable()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_keeps_its_value_and_holds_nothing_invisible(text: str) -> None:
    written = printable_json(json.dumps({"said": text}, ensure_ascii=False, indent=1))
    assert json.loads(written) == {"said": text}
    assert written.replace("\n", "").isprintable()


def test_json_that_is_visible_stays_as_it_is() -> None:
    assert printable_json('{"a": 1}') == '{"a": 1}'
    assert printable_json('"\x9b\U000e0001"') == r'"\u009b\udb40\udc01"'
