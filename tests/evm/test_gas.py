"""Gas that is paid before the first step."""

import pytest

from laneway.evm.fork import Fork
from laneway.evm.gas import floor_gas, intrinsic_gas
from laneway.evm.transaction import (
    Access,
    Authorization,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
)

TO = b"\x35" * 20
DATA = b"\x00\x01\x02"


@pytest.mark.parametrize(
    ("fork", "gas"),
    [
        (Fork.FRONTIER, 21_000 + 4 + 2 * 68),
        (Fork.HOMESTEAD, 53_000 + 4 + 2 * 68),
        (Fork.ISTANBUL, 53_000 + 4 + 2 * 16),
        (Fork.SHANGHAI, 53_000 + 4 + 2 * 16 + 2),
    ],
)
def test_creating_a_contract_has_its_price_in_each_fork(fork: Fork, gas: int) -> None:
    assert intrinsic_gas(LegacyTransaction(0, 1, 0, None, data=DATA), fork) == gas


def test_lists_are_paid_by_their_entries() -> None:
    listed = (Access(TO), Access(TO, (b"\x01" * 32, b"\x02" * 32)))
    plain = DynamicFeeTransaction(1, 0, 1, 1, 0, TO, access_list=listed)
    assert intrinsic_gas(plain, Fork.LONDON) == 21_000 + 2 * 2_400 + 2 * 1_900
    granted = (Authorization(1, TO, 0), Authorization(0, TO, 1))
    setting = SetCodeTransaction(1, 0, 1, 1, 0, TO, authorizations=granted)
    assert intrinsic_gas(setting, Fork.PRAGUE) == 21_000 + 2 * 25_000


def test_data_has_a_floor_since_prague() -> None:
    sent = LegacyTransaction(0, 1, 0, TO, data=DATA)
    assert floor_gas(sent, Fork.CANCUN) == 0
    assert floor_gas(sent, Fork.PRAGUE) == 21_000 + 10 * (1 + 2 * 4)
