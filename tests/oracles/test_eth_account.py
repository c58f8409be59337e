"""eth-account signs the same fields with the same key: bytes, hash and sender are identical."""

from random import Random
from typing import Any

import pytest
from eth_account import Account

from laneway.evm.envelope import decode, draft, seal, sender
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import (
    Access,
    AccessListTransaction,
    Authorization,
    BlobTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
    Transaction,
    authority,
    authorization_digest,
    signed,
)

pytestmark = pytest.mark.slow

COUNT = 1_000


def number(dice: Random, bits: int) -> int:
    """Small as often as large, and often at an edge."""
    if dice.random() < 0.1:
        return dice.choice([0, 1, 0x7F, 0x80, (1 << bits) - 2])
    return dice.getrandbits(dice.randint(1, bits))


def accesses(dice: Random) -> tuple[Access, ...]:
    return tuple(
        Access(dice.randbytes(20), tuple(dice.randbytes(32) for _ in range(dice.randint(0, 3))))
        for _ in range(dice.choice([0, 0, 1, 3]))
    )


def authorization(dice: Random) -> Authorization:
    bare = Authorization(number(dice, 64), dice.randbytes(20), number(dice, 63))
    key = HeldEvmKey(dice.randbytes(32))
    made = key.sign(authorization_digest(bare))
    full = Authorization(bare.chain_id, bare.address, bare.nonce, made.y_parity, made.r, made.s)
    assert authority(full) == key.address
    return full


def imagined(dice: Random, type_: int) -> Transaction:
    nonce, gas, value = number(dice, 63), number(dice, 63), number(dice, 256)
    data = dice.randbytes(dice.choice([0, 0, 1, 4, 55, 56, 300]))
    to = dice.randbytes(20)
    to_or_none = None if dice.random() < 0.2 else to
    chain_id = dice.choice([1, 10, 8453, 31337, number(dice, 40) + 1])
    fee = number(dice, 120) + 1
    tip = dice.randint(0, fee)
    if type_ == 0:
        named = None if dice.random() < 0.3 else chain_id
        return LegacyTransaction(nonce, fee, gas, to_or_none, value, data, named)
    if type_ == 1:
        return AccessListTransaction(
            chain_id, nonce, fee, gas, to_or_none, value, data, accesses(dice)
        )
    common = (chain_id, nonce, tip, fee, gas)
    if type_ == 2:
        return DynamicFeeTransaction(*common, to_or_none, value, data, accesses(dice))
    if type_ == 3:
        hashes = tuple(b"\x01" + dice.randbytes(31) for _ in range(dice.randint(1, 6)))
        return BlobTransaction(*common, to, value, data, accesses(dice), number(dice, 120), hashes)
    granted = tuple(authorization(dice) for _ in range(dice.randint(1, 2)))
    return SetCodeTransaction(*common, to, value, data, accesses(dice), granted)


def foreign(made: Transaction) -> dict[str, Any]:
    """The same transaction in eth-account's words."""
    words: dict[str, Any] = {
        "nonce": made.nonce,
        "gas": made.gas_limit,
        "to": made.to or b"",
        "value": made.value_wei,
        "data": made.data,
    }
    if made.chain_id is not None:
        words["chainId"] = made.chain_id
    if isinstance(made, LegacyTransaction):
        return {**words, "gasPrice": made.gas_price_wei}
    words["type"] = made.type
    words["accessList"] = [
        {"address": hexed(entry.address), "storageKeys": [hexed(key) for key in entry.keys]}
        for entry in made.access_list
    ]
    if isinstance(made, AccessListTransaction):
        return {**words, "gasPrice": made.gas_price_wei}
    words["maxPriorityFeePerGas"] = made.tip_wei_max
    words["maxFeePerGas"] = made.fee_wei_max
    if isinstance(made, BlobTransaction):
        words["maxFeePerBlobGas"] = made.blob_fee_wei_max
        words["blobVersionedHashes"] = [hexed(each) for each in made.blob_hashes]
    if isinstance(made, SetCodeTransaction):
        words["authorizationList"] = [
            {
                "chainId": entry.chain_id,
                "address": hexed(entry.address),
                "nonce": entry.nonce,
                "yParity": entry.y_parity,
                "r": entry.r,
                "s": entry.s,
            }
            for entry in made.authorizations
        ]
    return words


def hexed(raw: bytes) -> str:
    return "0x" + raw.hex()


@pytest.mark.parametrize("type_", range(5))
def test_a_random_transaction_has_the_same_bytes_hash_and_sender(type_: int) -> None:
    dice = Random(type_)
    for _ in range(COUNT):
        secret = dice.randbytes(32)
        key = HeldEvmKey(secret)
        made = imagined(dice, type_)
        drafted = draft(made)
        signature = key.sign(keccak(drafted.payload))
        ours = seal(drafted, signature)
        theirs = Account.sign_transaction(foreign(made), secret)
        assert ours.raw == bytes(theirs.raw_transaction)
        assert ours.hash == bytes(theirs.hash)
        assert (signature.r, signature.s) == (theirs.r, theirs.s)
        read = decode(bytes(theirs.raw_transaction))
        assert read == signed(made, signature)
        assert sender(read) == key.address
        assert Account.recover_transaction(ours.raw) == Account.from_key(secret).address
