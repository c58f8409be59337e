"""What generated code can name: the accounts of a case by their kind, and numbers at edges."""

from random import Random

from msgspec import Struct, field
from tests.differential.precompile_inputs import precompiles

from laneway.evm.keccak import keccak
from laneway.evm.rlp import encode
from laneway.evm.secp256k1 import address as address_of_secret

EDGES = [
    *(0, 1, 2, 3, 5, 31, 32, 33, 255, 256, 257, 1 << 16, 1 << 31, (1 << 32) - 1, 1 << 32),
    *((1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, (1 << 128) - 1, 1 << 128, (1 << 160) - 1),
    *((1 << 255) - 1, 1 << 255, (1 << 255) + 1, (1 << 256) - 2, (1 << 256) - 1, 1 << 248),
]
WIDTHS = (8, 16, 64, 160, 255, 256)
MINUS = 1 << 256


def number(rng: Random) -> int:
    """A word, more often than not at an edge."""
    chosen = rng.random()
    if chosen < 0.65:
        return rng.choice(EDGES)
    if chosen < 0.75:
        return MINUS - rng.choice([1, 2, 3, 7, 31, 255, 256, 1 << 64, 1 << 128])
    return rng.getrandbits(rng.choice(WIDTHS))


def small(rng: Random) -> int:
    return rng.choice([0, 1, 2, 3, 4, 7, 8, 15, 16, 30, 31, 32, 33, 63, 64, 65, 100, 255, 256])


def offset(rng: Random) -> int:
    """Of memory or of data: mostly near, now and then so far that nobody can pay for it."""
    chosen = rng.random()
    if chosen < 0.94:
        return rng.choice([0, 0, 1, 31, 32, 33, 64, 95, 96, 128, 200, 512, 1_000])
    if chosen < 0.985:
        return rng.choice([4_095, 10_000, 1 << 15, 1 << 16])
    return rng.choice([1 << 20, 1 << 32, (1 << 64) - 1, 1 << 64, 1 << 255, (1 << 256) - 1])


def length(rng: Random) -> int:
    chosen = rng.random()
    if chosen < 0.95:
        return rng.choice([0, 0, 1, 2, 31, 32, 33, 64, 65, 96, 128, 300])
    if chosen < 0.99:
        return rng.choice([1_024, 5_000, 24_576])
    return rng.choice([1 << 20, 1 << 32, (1 << 64) - 1, 1 << 64, (1 << 256) - 1])


class World(Struct):
    """The cast of a case."""

    rng: Random
    fork: str
    secrets: list[bytes] = field(default_factory=list)
    """Of the accounts that sign."""
    senders: list[bytes] = field(default_factory=list)
    contracts: list[bytes] = field(default_factory=list)
    viewers: list[bytes] = field(default_factory=list)
    """Contracts that write nothing, or one thing alone, which a static call may not."""
    writers: list[bytes] = field(default_factory=list)
    """Contracts that do one thing that a static call may not, and that is all."""
    misers: list[bytes] = field(default_factory=list)
    """Contracts that write with hardly more gas than the stipend."""
    mirrors: list[bytes] = field(default_factory=list)
    """Contracts that return what they know of themselves."""
    delegated: list[bytes] = field(default_factory=list)
    """Accounts whose code points to another account (EIP-7702)."""
    libraries: list[bytes] = field(default_factory=list)
    """Accounts whose code is an init code, to be copied or called."""
    victims: list[bytes] = field(default_factory=list)
    """Accounts with one opcode each, mostly misused, to be called one after the other."""
    others: list[bytes] = field(default_factory=list)
    """Funded, empty, or with storage alone."""
    missing: list[bytes] = field(default_factory=list)
    coinbase: bytes = bytes(20)
    is_quiet: bool = False
    """Whether the program being made writes nothing, so that a static call goes through it."""
    self_address: bytes = bytes(20)
    """The account whose program is being made."""

    def precompile(self) -> bytes:
        """An address of a precompile, or of none yet."""
        known = precompiles(self.fork)
        return self.rng.choice([*known, 0, 11, 18, 255, 256, 257]).to_bytes(20, "big")

    def contract(self) -> bytes:
        return self.rng.choice(self.contracts)

    def later(self) -> bytes:
        """A contract after this one, so that most calls end; sometimes any contract."""
        rng, known = self.rng, self.contracts
        if self.self_address in known and rng.random() < 0.75:
            after = known[known.index(self.self_address) + 1 :]
            if after:
                return rng.choice(after)
        return rng.choice(known)

    def address(self) -> bytes:
        rng = self.rng
        chosen = rng.random()
        if chosen < 0.4:
            return self.later()
        for share, pool in (
            (0.52, self.delegated),
            (0.6, self.libraries),
            (0.7, self.others),
            (0.8, self.missing),
            (0.85, self.senders),
        ):
            if chosen < share and pool:
                return rng.choice(pool)
        if chosen < 0.9:
            return self.coinbase
        if chosen < 0.93:
            return self.self_address
        return self.precompile()

    def address_word(self) -> int:
        """An address as a word; the upper twelve bytes mean nothing, and sometimes are not zero."""
        word = int.from_bytes(self.address(), "big")
        if self.rng.random() < 0.05:
            word |= self.rng.getrandbits(96) << 160
        return word


def created(sender: bytes, nonce: int) -> bytes:
    """The address of a contract that CREATE or a transaction makes."""
    return keccak(encode((sender, nonce)))[12:]


def created2(sender: bytes, salt: int, init_code: bytes) -> bytes:
    return keccak(b"\xff" + sender + salt.to_bytes(32, "big") + keccak(init_code))[12:]


def account(secret: bytes) -> bytes:
    return address_of_secret(secret)
