"""What a caller asks of a call, and the transaction that it is."""

from msgspec import Struct

from laneway.evm.calls.errors import CallHasTwoPrices
from laneway.evm.limits import CALL_GAS_MAX
from laneway.evm.transaction import (
    Access,
    Authorization,
    BlobTransaction,
    DynamicFeeTransaction,
    SetCodeTransaction,
    Transaction,
)

NOBODY = bytes(20)


class CallRequest(Struct, frozen=True, kw_only=True):
    """A transaction that need not be signed. What is left out costs nothing and moves nothing."""

    sender: bytes = NOBODY
    to: bytes | None = None
    """None creates a contract."""
    data: bytes = b""
    value_wei: int = 0
    gas: int | None = None
    gas_price_wei: int | None = None
    fee_wei_max: int | None = None
    tip_wei_max: int | None = None
    access_list: tuple[Access, ...] = ()
    authorizations: tuple[Authorization, ...] = ()
    blob_hashes: tuple[bytes, ...] = ()
    blob_fee_wei_max: int | None = None

    def prices(self) -> tuple[int, int]:
        """The tip and the fee of a unit of gas, both 0 if none is named."""
        if self.gas_price_wei is None:
            return self.tip_wei_max or 0, self.fee_wei_max or 0
        if self.fee_wei_max is not None or self.tip_wei_max is not None:
            raise CallHasTwoPrices()
        return self.gas_price_wei, self.gas_price_wei

    def gas_limit(self) -> int:
        return CALL_GAS_MAX if self.gas is None else min(self.gas, CALL_GAS_MAX)


def transaction_of(
    request: CallRequest, *, chain_id: int, nonce: int, gas_limit: int
) -> Transaction:
    """The transaction that a request describes, unsigned."""
    tip, fee = request.prices()
    shared = (
        *(chain_id, nonce, tip, fee, gas_limit),
        *(request.to, request.value_wei, request.data, request.access_list),
    )
    if request.authorizations:
        return SetCodeTransaction(*shared, authorizations=request.authorizations)
    if request.blob_hashes:
        return BlobTransaction(
            *shared,
            blob_fee_wei_max=request.blob_fee_wei_max or 0,
            blob_hashes=request.blob_hashes,
        )
    return DynamicFeeTransaction(*shared)
