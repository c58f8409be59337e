"""Transactions of accounts by their numbers, whatever a caller writes for a number."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from laneway.core.errors import IntentNotFound
from laneway.core.ids import IntentId, LaneId
from laneway.kinds.common.views import AccountServed

LANE = LaneId("evm:7:0xaa")
FIRST = IntentId("tx_" + "0" * 32)


class Served(AccountServed[Any, Any]):
    """Number 7 is bound."""

    number_index = "nonce"

    def lane_name(self, _: str) -> LaneId:
        return LANE

    def bound_at(self, _: LaneId, number: int) -> IntentId | None:
        return FIRST if number == 7 else None


class NoStore:
    async def find(self, *_: str) -> None:
        return None


def found(digits: str) -> IntentId:
    served = Served(None)
    served.home = cast(Any, SimpleNamespace(store=NoStore()))
    return asyncio.run(served.at_number(LANE, digits))


def test_a_number_finds_whose_it_is() -> None:
    assert found("7") == found("007") == FIRST


@pytest.mark.parametrize(
    "digits", ["8", "", "-7", "7x", "\u0667", "\u00b2", str(1 << 53), "9" * 5_000]
)
def test_any_other_text_finds_nothing_and_breaks_nothing(digits: str) -> None:
    with pytest.raises(IntentNotFound):
        found(digits)
