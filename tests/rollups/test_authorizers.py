"""Laws of the question whether a rollup's authorizer may move its line."""

from laneway.jam.hashing import blake2b
from laneway.jam.package import authorizer_hash
from laneway.jam.service.commitment import AUTHORIZERS_KEY, authorizer_records
from laneway.rollups.authorizers import authorizer_problem

CODE, CONFIG = blake2b(b"code"), b"config"
OWN, OTHER = authorizer_hash(CODE, CONFIG), authorizer_hash(CODE, b"another config")


def test_a_service_without_a_list_takes_every_authorizer() -> None:
    assert authorizer_problem(None, CODE, CONFIG) == ""


def test_one_that_is_listed_may_move_the_line() -> None:
    raw = authorizer_records([OWN, OTHER])[AUTHORIZERS_KEY]
    assert authorizer_problem(raw, CODE, CONFIG) == ""


def test_one_that_is_not_is_named_with_those_that_are_and_what_to_do() -> None:
    """The code alone is not enough: an authorizer is its code and its config."""
    problem = authorizer_problem(authorizer_records([OTHER])[AUTHORIZERS_KEY], CODE, CONFIG)
    assert OWN.hex() in problem
    assert OTHER.hex() in problem
    assert "set `authorizer`" in problem


def test_what_is_no_list_is_a_problem_of_its_own() -> None:
    assert "cannot be read" in authorizer_problem(b"\x01short", CODE, CONFIG)
