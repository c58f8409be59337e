"""From a request to the transaction that it describes."""

import pytest

from laneway.evm.calls.errors import CallHasTwoPrices
from laneway.evm.calls.request import CallRequest, transaction_of
from laneway.evm.limits import CALL_GAS_MAX
from laneway.evm.transaction import Authorization, BlobTransaction, SetCodeTransaction, Transaction

BLOB_HASH = b"\x01" + bytes(31)


def made(request: CallRequest) -> Transaction:
    return transaction_of(request, chain_id=1, nonce=5, gas_limit=7)


def test_the_type_follows_the_fields() -> None:
    entry = Authorization(0, bytes(20), 0)
    plain = made(CallRequest(to=b"\1" * 20, data=b"\2", value_wei=3))
    assert (plain.type, plain.nonce, plain.gas_limit) == (2, 5, 7)
    assert (plain.to, plain.data, plain.value_wei) == (b"\1" * 20, b"\2", 3)
    delegating = made(CallRequest(authorizations=(entry,)))
    assert isinstance(delegating, SetCodeTransaction)
    assert delegating.authorizations == (entry,)
    carrying = made(CallRequest(blob_hashes=(BLOB_HASH,)))
    assert isinstance(carrying, BlobTransaction)
    assert (carrying.blob_hashes, carrying.blob_fee_wei_max) == ((BLOB_HASH,), 0)


def test_a_gas_price_is_fee_and_tip() -> None:
    assert CallRequest(gas_price_wei=9).prices() == (9, 9)
    assert CallRequest(fee_wei_max=9).prices() == (0, 9)
    assert CallRequest(fee_wei_max=9, tip_wei_max=2).prices() == (2, 9)
    assert CallRequest().prices() == (0, 0)


@pytest.mark.parametrize("field", ["fee_wei_max", "tip_wei_max"])
def test_two_kinds_of_price_are_refused(field: str) -> None:
    with pytest.raises(CallHasTwoPrices):
        CallRequest(gas_price_wei=1, **{field: 1}).prices()  # type: ignore[arg-type]


def test_gas_has_a_cap_and_is_the_cap_if_none_is_named() -> None:
    assert CallRequest().gas_limit() == CALL_GAS_MAX
    assert CallRequest(gas=CALL_GAS_MAX + 1).gas_limit() == CALL_GAS_MAX
    assert CallRequest(gas=0).gas_limit() == 0
