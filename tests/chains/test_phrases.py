"""Laws of reading error messages, whichever chain's node sends them."""

from collections.abc import Callable
from enum import Enum

import pytest

from laneway.chains.cosmos import phrases as cosmos
from laneway.chains.evm import phrases as evm
from laneway.chains.jam import phrases as jam
from laneway.core.cosmos import OfferKind
from laneway.core.facts import SendKind
from laneway.core.jam import PackageKind
from laneway.core.limits import REASON_CHARS_MAX

LONG = 200_000
OWN = "not .*served .*here .*now"

jam_kind = jam.JamPhrases("", jam.read_rows([("queue_full", OWN)])).kind
evm_kind = evm.EvmPhrases("", evm.read_rows([("pool_full", OWN)])).kind
cosmos_phrases = cosmos.CosmosPhrases(cosmos.read_rows([("mempool_full", OWN)]))


def of_log(code: int, message: str) -> OfferKind:
    return cosmos_phrases.of_code(code, "wasm", message)


def of_error(_: int, message: str) -> OfferKind:
    return cosmos_phrases.of_error(message)


Reading = Callable[[int, str], Enum]
READINGS: list[tuple[Reading, Enum, Enum]] = [
    (jam_kind, PackageKind.QUEUE_FULL, PackageKind.UNKNOWN),
    (evm_kind, SendKind.POOL_FULL, SendKind.UNKNOWN),
    (of_log, OfferKind.MEMPOOL_FULL, OfferKind.REFUSED),
    (of_error, OfferKind.MEMPOOL_FULL, OfferKind.UNKNOWN),
]
REPEATED = (
    "the authorizer refuses what is not signed ",
    "could not parse rlp ",
    "gas price below configured minimum gas price ",
    "cannot decode ",
    "not served here ",
)
"""Beginnings of phrases of several parts, which a search takes up again at each of them."""


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("part", REPEATED)
def test_a_message_of_any_length_is_read_at_once(
    reading: tuple[Reading, Enum, Enum], part: str
) -> None:
    kind_of, _, unknown = reading
    assert type(kind_of(99, part * (LONG // len(part)))) is type(unknown)


@pytest.mark.parametrize("reading", READINGS)
def test_a_message_is_judged_by_the_part_that_is_shown(
    reading: tuple[Reading, Enum, Enum],
) -> None:
    kind_of, known, unknown = reading
    phrase = "not served here now"
    assert kind_of(99, phrase.rjust(REASON_CHARS_MAX)) is known
    assert kind_of(99, phrase.rjust(REASON_CHARS_MAX + 1)) is unknown
