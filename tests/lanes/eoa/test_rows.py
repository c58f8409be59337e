"""Rows answer small questions about themselves."""

from typing import Any

import pytest
from msgspec.structs import replace

from laneway.lanes.eoa.fees import EvmFee
from laneway.lanes.eoa.rows import Attempt


@pytest.mark.parametrize(
    ("silent", "taken", "dead"),
    [((), (), True), (("a",), (), False), ((), ("a",), False), (("a",), ("b",), False)],
)
def test_an_attempt_is_dead_when_no_node_has_it_or_may_have_it(
    silent: tuple[str, ...], taken: tuple[str, ...], dead: bool
) -> None:
    attempt = Attempt(3, 2, b"h", "intent", EvmFee(1, 1), 21_000, 5, silent, (), taken)
    assert attempt.is_dead() is dead
    assert attempt.key() == "3/2"


@pytest.mark.parametrize(
    ("words", "new"),
    [
        ({"number": 1}, True),
        ({"number": 2}, False),
        ({"doubted": True}, False),
        ({"refused": ("a",)}, False),
        ({"denied": ("a",)}, False),
    ],
)
def test_a_first_attempt_that_was_offered_once_is_new(words: dict[str, Any], new: bool) -> None:
    attempt = Attempt(3, 1, b"h", "intent", EvmFee(1, 1), 21_000, 5, ("a", "b"))
    assert replace(attempt, **words).is_new() is new


def test_whoever_did_not_answer_is_asked_again() -> None:
    attempt = Attempt(3, 2, b"h", "intent", EvmFee(1, 1), 21_000, 5, ("a", "b"))
    assert (attempt.asked(), attempt.is_denied()) == (("a", "b"), False)


def test_a_node_that_refused_for_good_is_not_asked_again() -> None:
    """And yet its number is not free: an earlier offer may have been taken."""
    attempt = Attempt(3, 2, b"h", "intent", EvmFee(1, 1), 21_000, 5, ("a", "b"), denied=("a",))
    assert (attempt.asked(), attempt.is_denied()) == (("b",), False)
    attempt = Attempt(3, 2, b"h", "intent", EvmFee(1, 1), 21_000, 5, ("a", "b"), denied=("a", "b"))
    assert (attempt.is_denied(), attempt.is_dead()) == (True, False)


@pytest.mark.parametrize(
    ("words", "had"),
    [({}, False), ({"taken": ("a",)}, True), ({"cheap": True}, True), ({"doubted": True}, False)],
)
def test_a_node_had_the_bytes_that_it_took_or_whose_price_it_judged(
    words: dict[str, Any], had: bool
) -> None:
    attempt = Attempt(3, 1, b"h", "intent", EvmFee(1, 1), 21_000, 5, ("a", "b"))
    assert replace(attempt, **words).was_had() is had


@pytest.mark.parametrize(
    ("words", "outvoted"),
    [
        ({"silent": ("a", "b", "c"), "denied": ("b", "c")}, False),
        ({"silent": ("a", "b", "c"), "denied": ("a", "b", "c")}, True),
        ({"silent": ("b", "c"), "denied": ("b", "c"), "taken": ("a",)}, True),
        ({"silent": ("b",), "denied": ("b",), "refused": ("c",), "taken": ("a",)}, True),
        ({"silent": ("a", "b", "c"), "denied": ("b",)}, False),
        ({"silent": ("b",), "denied": ("b",), "taken": ("a",)}, False),
        ({"silent": ("a",), "denied": ("a",)}, True),
    ],
)
def test_an_attempt_is_outvoted_when_all_refuse_it_or_most_against_one_that_took_it(
    words: dict[str, Any], outvoted: bool
) -> None:
    attempt = Attempt(3, 1, b"h", "intent", EvmFee(1, 1), 21_000, 5, ())
    assert replace(attempt, **words).is_outvoted() is outvoted
