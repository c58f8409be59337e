"""The forks of Ethereum that changed what a transaction may be, in their order."""

from enum import IntEnum


class Fork(IntEnum):
    FRONTIER = 0
    HOMESTEAD = 1
    """EIP-2: the lower s alone, and creating a contract costs more."""
    TANGERINE = 2
    SPURIOUS = 3
    """EIP-155: a signature may name its chain."""
    BYZANTIUM = 4
    CONSTANTINOPLE = 5
    ISTANBUL = 6
    """EIP-2028: data costs less."""
    BERLIN = 7
    """EIP-2930: access lists."""
    LONDON = 8
    """EIP-1559: a base fee and a tip."""
    PARIS = 9
    SHANGHAI = 10
    """EIP-3860: initcode is bounded and paid for."""
    CANCUN = 11
    """EIP-4844: blobs."""
    PRAGUE = 12
    """EIP-7702: accounts with code; EIP-7623: a floor under the price of data."""
    OSAKA = 13
    """EIP-7825: a cap on a transaction's gas; EIP-7594: cell proofs."""
