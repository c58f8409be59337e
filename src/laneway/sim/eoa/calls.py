"""What a caller of these worlds wants of an account, and the bytes that do it.

The input of a request names its intent on the chain.
"""

from functools import cache

import msgspec

from laneway.core.units import value
from laneway.evm.envelope import SealedTransaction, draft, seal
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import DynamicFeeTransaction
from laneway.lanes.eoa.fees import EvmFee
from laneway.ports import EvmRequest

CHAIN_ID = 31_337
SHOP = b"\x5a" * 20
WALL = b"\x0f" * 20
"""An address that takes no value: what is sent to it reverts."""
FOREIGN = b"foreign"
"""What someone else's transactions say."""


encode_request = msgspec.msgpack.Encoder().encode


@cache
def key_of(account: int) -> HeldEvmKey:
    """The accounts of every world; making a key ready costs as much as a signature."""
    return HeldEvmKey(bytes([account + 1]) * 32)


def signed(
    key: HeldEvmKey, nonce: int, request: EvmRequest, fee: EvmFee, gas: int
) -> SealedTransaction:
    drafted = draft(
        DynamicFeeTransaction(
            chain_id=CHAIN_ID,
            nonce=nonce,
            tip_wei_max=fee.tip,
            fee_wei_max=fee.cap,
            gas_limit=gas,
            to=request.to,
            value_wei=value(request.value_wei),
            data=request.input,
        )
    )
    return seal(drafted, key.sign(keccak(drafted.payload)))
