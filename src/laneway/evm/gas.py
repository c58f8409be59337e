"""What a transaction pays before its first step: intrinsic gas, and the floor of EIP-7623."""

from laneway.evm.fork import Fork
from laneway.evm.transaction import SetCodeTransaction, Transaction, access_list

BASE = 21_000
CREATION = 32_000
ZERO_BYTE = 4
BYTE_BEFORE_ISTANBUL, BYTE = 68, 16
ACCESS_ADDRESS, ACCESS_KEY = 2_400, 1_900
INITCODE_WORD = 2
AUTHORIZATION = 25_000
"""EIP-7702: the price of an empty account; a part comes back where the account exists."""
TOKENS_PER_BYTE, FLOOR_PER_TOKEN = 4, 10


def intrinsic_gas(transaction: Transaction, fork: Fork) -> int:
    data = transaction.data
    zeros = data.count(0)
    per_byte = BYTE if fork >= Fork.ISTANBUL else BYTE_BEFORE_ISTANBUL
    gas = BASE + zeros * ZERO_BYTE + (len(data) - zeros) * per_byte
    if transaction.to is None:
        if fork >= Fork.HOMESTEAD:
            gas += CREATION
        if fork >= Fork.SHANGHAI:
            gas += (len(data) + 31) // 32 * INITCODE_WORD
    for entry in access_list(transaction):
        gas += ACCESS_ADDRESS + len(entry.keys) * ACCESS_KEY
    if isinstance(transaction, SetCodeTransaction):
        gas += len(transaction.authorizations) * AUTHORIZATION
    return gas


def floor_gas(transaction: Transaction, fork: Fork) -> int:
    """The least that is paid, however little is executed; the gas limit must cover it."""
    if fork < Fork.PRAGUE:
        return 0
    zeros = transaction.data.count(0)
    tokens = zeros + (len(transaction.data) - zeros) * TOKENS_PER_BYTE
    return BASE + tokens * FLOOR_PER_TOKEN
