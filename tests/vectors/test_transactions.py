"""TransactionTests of ethereum/tests: accepted with the same hash, sender and gas, or refused.

The reason must be of the family that the vectors name. Where bytes have several faults the order
of the checks decides which one is told, so a family has more than one code.
"""

from typing import Any

import pytest
from tests.vectors.folder import rows, unhex

from laneway.evm.envelope import decode, encode_canonical, encode_network, hash_of
from laneway.evm.errors import InvalidTransaction
from laneway.evm.fork import Fork
from laneway.evm.gas import intrinsic_gas
from laneway.evm.validity import validate

pytestmark = pytest.mark.vectors

CHAIN = 1
FORKS = {
    "EIP150": Fork.TANGERINE,
    "EIP158": Fork.SPURIOUS,
    "ConstantinopleFix": Fork.CONSTANTINOPLE,
    "Merge": Fork.PARIS,
}
"""Where a name differs from ours; a fork that we do not know is judged by the newest rules."""

FORM = {"rlp_malformed", "field_malformed", "field_count_wrong", "field_overflow"}
SIGNATURE = {"signature_invalid", "chain_wrong", "field_overflow"}
FAMILIES = {
    "RLP_": FORM | {"type_unsupported"},
    "ADDRESS_": {"field_malformed"},
    "TYPE_NOT_SUPPORTED": FORM | {"type_unsupported"},
    "INVALID_SIGNATURE_VRS": SIGNATURE,
    "INVALID_CHAINID": SIGNATURE,
    "EC_RECOVERY_FAIL": SIGNATURE,
    "NONCE_OVERFLOW": {"field_overflow"},
    "NONCE_TOO_BIG": {"nonce_too_big"},
    "NONCE_IS_MAX": {"nonce_too_big"},
    "GASLIMIT_OVERFLOW": {"field_overflow", "field_malformed"},
    "GASPRICE_OVERFLOW": {"field_overflow"},
    "PRIORITY_OVERFLOW": {"field_overflow"},
    "VALUE_OVERFLOW": {"field_overflow"},
    "GASLIMIT_PRICE_PRODUCT_OVERFLOW": {"cost_overflow", "field_overflow"},
    "PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS": {"tip_above_fee"},
    "INTRINSIC_GAS_TOO_LOW": {"intrinsic_gas_too_low", "gas_below_floor"},
    "INTRINSIC_GAS_BELOW_FLOOR_GAS_COST": {"intrinsic_gas_too_low", "gas_below_floor"},
    "GAS_LIMIT_EXCEEDS_MAXIMUM": {"gas_above_cap"},
    "INITCODE_SIZE_EXCEEDED": {"initcode_too_big"},
    "TYPE_3_TX_CONTRACT_CREATION": {"recipient_missing", "field_malformed"},
    "TYPE_3_TX_ZERO_BLOBS": {"blobs_missing"},
    "TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH": {"blob_hash_unknown"},
    "TYPE_3_TX_BLOB_COUNT_EXCEEDED": {"blobs_too_many"},
    "TYPE_4_TX_CONTRACT_CREATION": {"recipient_missing", "field_malformed"},
    "TYPE_4_EMPTY_AUTHORIZATION_LIST": {"authorizations_missing"},
}
"""The codes that may answer a word of the vectors, by how the word begins."""


def fork_of(name: str) -> Fork:
    return FORKS.get(name) or Fork.__members__.get(name.upper(), max(Fork))


def codes(words: str) -> set[str]:
    """All codes that fit; empty where the vectors use a word that is not listed."""
    found: set[str] = set()
    for word in words.split("|"):
        word = word.strip().removeprefix("TransactionException.")
        for begin, family in FAMILIES.items():
            found |= family if word.startswith(begin) else set()
    return found


@pytest.mark.parametrize("case", rows("evm", "ethtests", "TransactionTests"))
def test_a_transaction_is_judged_as_the_vectors_say(case: dict[str, Any]) -> None:
    raw = unhex(case["txbytes"])
    for name, result in case["result"].items():
        fork = fork_of(name)
        if "exception" in result:
            with pytest.raises(InvalidTransaction) as refused:
                validate(decode(raw), fork, CHAIN)
            expected = codes(result["exception"])
            assert not expected or refused.value.code in expected, (name, result["exception"])
            continue
        read = decode(raw)
        assert validate(read, fork, CHAIN) == unhex(result["sender"]), name
        assert hash_of(read) == unhex(result["hash"])
        assert intrinsic_gas(read, fork) == int(result["intrinsicGas"], 16), name
        assert raw in (encode_canonical(read), encode_network(read))
