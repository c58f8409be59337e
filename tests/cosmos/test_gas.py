"""Gas and fees, in whole numbers."""

import pytest

from laneway.cosmos.blobs import SHARE_BYTES, Blob, namespace_of
from laneway.cosmos.gas import blob_gas, fee_for

NAMESPACE = namespace_of(b"gas")


def blob(size: int, share_version: int = 0) -> Blob:
    return Blob(NAMESPACE, bytes(size), share_version, bytes(20) if share_version else b"")


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [([1], 1), ([478], 1), ([479], 2), ([478 + 482], 2), ([478 + 483], 3), ([1, 1, 479], 4)],
)
def test_a_blob_costs_by_the_shares_it_takes(sizes: list[int], shares: int) -> None:
    wanted = shares * SHARE_BYTES * 8 + 700 * len(sizes) + 75_000
    assert blob_gas([blob(size) for size in sizes]) == wanted


def test_a_blob_that_names_its_signer_takes_his_twenty_bytes_too() -> None:
    assert blob_gas([blob(458, 1)]) == blob_gas([blob(458)])
    assert blob_gas([blob(459, 1)]) == blob_gas([blob(479)])


@pytest.mark.parametrize(
    ("gas", "price_micro", "fee"),
    [
        (100_000, 4_000, 400),
        (100_001, 4_000, 401),
        (1, 1, 1),
        (1_000_000, 1, 1),
        (1_000_001, 1, 2),
        (0, 4_000, 0),
        (5, 0, 0),
    ],
)
def test_a_fee_is_rounded_up_for_a_node_takes_nothing_below_its_price(
    gas: int, price_micro: int, fee: int
) -> None:
    assert fee_for(gas, price_micro) == fee
