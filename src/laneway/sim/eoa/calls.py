"""What a caller of these worlds wants of an account, and the bytes that do it."""

from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from laneway.evm.envelope import Sealed, draft, seal
from laneway.evm.secp256k1 import HeldKey
from laneway.evm.transaction import DynamicFeeTransaction
from laneway.lanes.eoa.fees import Fee

CHAIN_ID = 31_337
SHOP = b"\x5a" * 20
WALL = b"\x0f" * 20
"""An address that takes no value: what is sent to it reverts."""
FOREIGN = b"foreign"
"""What someone else's transactions say."""


class Transfer(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The payload of an intent. Its data name it on the chain."""

    to: bytes
    value_wei: int
    data: bytes


encode_transfer = msgspec.msgpack.Encoder().encode
decode_transfer = msgspec.msgpack.Decoder(Transfer).decode


@cache
def key_of(account: int) -> HeldKey:
    """The accounts of every world; making a key ready costs as much as a signature."""
    return HeldKey(bytes([account + 1]) * 32)


def signed(key: HeldKey, nonce: int, call: Transfer, fee: Fee, gas: int) -> Sealed:
    fields: dict[str, Any] = {
        "chain_id": CHAIN_ID,
        "nonce": nonce,
        "tip_wei_max": fee.tip,
        "fee_wei_max": fee.cap,
        "gas_limit": gas,
        "to": call.to,
        "value_wei": call.value_wei,
        "data": call.data,
    }
    drafted = draft(DynamicFeeTransaction(**fields))
    return seal(drafted, key.sign(drafted.digest))
