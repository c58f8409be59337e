"""Transactions of accounts by their numbers, whatever a caller writes for a number."""

import asyncio
from typing import Any

import pytest

from laneway.core.errors import IntentNotFound
from laneway.core.ids import IntentId, LaneId
from laneway.wiring.account_desk import AccountDesk

LANE = LaneId("evm:7:0xaa")
FIRST = IntentId("tx_" + "0" * 32)


class Teller:
    """Number 7 is bound."""

    number_index = "nonce"

    def name(self, _: str) -> LaneId:
        return LANE

    def at_number(self, _: LaneId, number: int) -> IntentId | None:
        return FIRST if number == 7 else None


class NoStore:
    async def find(self, *_: str) -> None:
        return None


def found(digits: str) -> IntentId:
    desk: AccountDesk[Any] = AccountDesk(NoStore(), Teller())  # type: ignore[arg-type]
    return asyncio.run(desk.at_number(LANE, digits))


def test_a_number_finds_whose_it_is() -> None:
    assert found("7") == found("007") == FIRST


@pytest.mark.parametrize(
    "digits", ["8", "", "-7", "7x", "\u0667", "\u00b2", str(1 << 53), "9" * 5_000]
)
def test_any_other_text_finds_nothing_and_breaks_nothing(digits: str) -> None:
    with pytest.raises(IntentNotFound):
        found(digits)
