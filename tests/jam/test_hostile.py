"""A slice of the hostile bytes that the runner tries; the soak tries two hundred thousand."""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from tests.jam import hostile
from tests.jam.hostile import Accepted, Kind

from laneway.jam.codec import NATURAL


@pytest.mark.slow
def test_damaged_bytes_are_refused_or_are_the_one_encoding_of_what_they_say() -> None:
    tally = hostile.run(seed=7, first=0, count=4_000)
    assert tally.refused.total() > 2_000
    assert tally.taken.total() > 100
    assert len(tally.refused) > 60


def test_a_decoder_that_takes_two_encodings_for_one_value_is_found() -> None:
    sloppy = Kind("sloppy", Random.random, lambda value: b"\x00", lambda raw: 0)
    with pytest.raises(Accepted):
        hostile.attempt(sloppy, b"\x80\x00")


@pytest.mark.slow
def test_a_case_follows_from_its_seed_and_number_alone() -> None:
    everything = list(hostile.cases(3, 0, 20))
    assert [raw for _, _, raw in hostile.cases(3, 12, 8)] == [raw for _, _, raw in everything[12:]]


def test_an_error_that_does_not_say_where_is_found() -> None:
    nameless = hostile.coded("", NATURAL, Random.random)
    with pytest.raises(Accepted):
        hostile.attempt(nameless, b"")


@pytest.mark.slow
def test_the_runner_is_called_by_path() -> None:
    command = [sys.executable, str(Path(hostile.__file__)), "--count", "50", "--seed", "2"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("50 encodings:")
