"""Makes a case of one seed: a fork, a block, accounts with code of every kind, transactions.

The same seed is the same case for ever, as long as this package does not change.
"""

from random import Random

from msgspec import structs
from tests.differential import calls, programs, scenarios
from tests.differential.case import Case, CaseAccount, CaseBlock, Draft
from tests.differential.drafts import Drafter
from tests.differential.precompile_inputs import precompiles
from tests.differential.snippets import SLOTS
from tests.differential.world import World, account, created, number

from laneway.evm.keccak import keccak
from laneway.evm.transaction import DynamicFeeTransaction, LegacyTransaction

FORKS = ("Prague",) * 9 + ("Osaka",) * 8 + ("Cancun",) * 2 + ("BPO1", "BPO2")
ETHER = 10**18
RICH_WEI = 1 << 128
"""Enough for blobs at any price that a case has."""
DEEP_GAS = 1 << 46
"""Enough that a call is 1,024 deep before 63/64 of the gas, again and again, are nothing."""


def _secret(rng: Random) -> bytes:
    return rng.randbytes(31).rjust(32, b"\x01")


def _delegation(target: bytes) -> programs.Program:
    return ((b"\xef\x01\x00" + target,),)


def make_block(rng: Random) -> CaseBlock:
    block_number = rng.choice([1, 2, 255, 256, 257, 300, 1_000, 20_000_000])
    hashes = [
        keccak(back.to_bytes(8, "big")) for back in range(max(0, block_number - 256), block_number)
    ]
    return CaseBlock(
        chain_id=rng.choice([1, 1, 1_337, 31_337, (1 << 32) - 1]),
        number=block_number,
        time_s=rng.choice([1, 1_700_000_000, (1 << 40) - 1]),
        gas_limit=rng.choice([30_000_000] * 6 + [36_000_000, 1_000_000, 500_000]),
        coinbase=rng.randbytes(20),
        base_fee_wei=rng.choice([0, 1, 7, 7, 1_000_000_000, 10**11]),
        randao=rng.randbytes(32),
        excess_blob_gas=rng.choice([0, 0, 393_216, 10_000_000, 60_000_000]),
        hashes=tuple(hashes),
    )


def _storage(rng: Random) -> dict[int, int]:
    if rng.random() < 0.3:
        return {}
    return {
        slot: rng.choice([1, 1, 2, 3, number(rng) or 1])
        for slot in range(SLOTS)
        if rng.random() < 0.5
    }


def _balance(rng: Random) -> int:
    return rng.choice([0, 0, 1, 1_000, ETHER])


class Maker:
    """Makes one case."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = rng = Random(seed)
        self.world = World(rng, rng.choice(FORKS))
        self.block = make_block(rng)
        self.accounts: dict[bytes, CaseAccount] = {}
        self.secret_of: dict[bytes, bytes] = {}

    def case(self) -> Case:
        rng = self.rng
        self._name()
        self._fund()
        self._fill()
        if rng.random() < 0.008:
            drafts = self._deep_drafts()
        else:
            drafter = Drafter(self.world, self.block, self.accounts, self.secret_of)
            drafts = tuple(drafter.draft() for _ in range(rng.choice([2, 3, 3, 4, 5, 6])))
        return Case(str(self.seed), self.world.fork, self.block, self.accounts, drafts)

    def _signer(self) -> bytes:
        secret = _secret(self.rng)
        address = account(secret)
        self.secret_of[address] = secret
        return address

    def _name(self) -> None:
        """Give everybody an address, so that code can name them."""
        rng, world = self.rng, self.world
        world.senders = [self._signer() for _ in range(5)]
        world.delegated = [self._signer() for _ in range(3)]
        world.contracts = [rng.randbytes(20) for _ in range(rng.randrange(2, 6))]
        world.viewers = [rng.randbytes(20) for _ in range(rng.randrange(3))]
        world.writers = [rng.randbytes(20) for _ in range(2)]
        world.mirrors = [rng.randbytes(20)]
        world.misers = [rng.randbytes(20)]
        world.libraries = [rng.randbytes(20) for _ in range(2)]
        world.victims = [rng.randbytes(20) for _ in range(rng.choice([0, 3, 6, 9]))]
        world.others = [rng.randbytes(20) for _ in range(3)]
        world.missing = [rng.randbytes(20) for _ in range(2)]
        world.missing += [created(world.contracts[0], 1), created(world.contracts[-1], 1)]
        world.missing += [created(world.senders[0], 0)]
        chosen = rng.random()
        if chosen < 0.5:
            everyone = [*world.senders, *world.contracts, *world.delegated, *world.others]
            world.coinbase = rng.choice([*everyone, *world.missing, world.precompile()])
            self.block = structs.replace(self.block, coinbase=world.coinbase)
        world.coinbase = self.block.coinbase

    def _fund(self) -> None:
        rng, world = self.rng, self.world
        for place, sender in enumerate(world.senders):
            nonce = rng.choice([0, 0, 1, 7, 1 << 32])
            made = CaseAccount(nonce, rng.choice([1_000 * ETHER, RICH_WEI, RICH_WEI]))
            if place == 3:
                # Poor, or at the end of its nonces.
                poor = rng.choice([0, 1, 10**6, 10**14])
                last = CaseAccount((1 << 64) - rng.choice([1, 2]), ETHER)
                made = last if rng.random() < 0.3 else CaseAccount(nonce, poor)
            elif place == 4:
                code = _delegation(world.contract())
                if rng.random() < 0.3:
                    code = (("STOP",),)
                made = structs.replace(made, program=code)
            if made != CaseAccount():
                self.accounts[sender] = made
        if rng.random() < 0.3:
            self.accounts[world.precompile()] = CaseAccount(0, rng.choice([1, ETHER]))

    def _fill(self) -> None:
        rng, world = self.rng, self.world
        for address in world.contracts:
            world.self_address = address
            nonce = rng.choice([1, 1, 1, 1, 0, 5, (1 << 64) - 1])
            made = programs.program(world)
            self.accounts[address] = CaseAccount(nonce, _balance(rng), made, _storage(rng))
        for address in world.viewers:
            world.self_address = address
            made = programs.viewer(world)
            self.accounts[address] = CaseAccount(1, rng.choice([1, ETHER]), made, _storage(rng))
        for address in world.mirrors:
            self.accounts[address] = CaseAccount(1, 7, (scenarios.MIRROR,))
        for address in world.misers:
            self.accounts[address] = CaseAccount(1, 7, (scenarios.MISER,), _storage(rng))
        for address in world.writers:
            self.accounts[address] = CaseAccount(1, 7, (scenarios.write(world), ("STOP",)))
        for address in world.victims:
            self.accounts[address] = CaseAccount(1, 0, programs.victim(world))
        for address in world.libraries:
            world.self_address = address
            made = ((calls.init_code(world),),)
            self.accounts[address] = CaseAccount(1, _balance(rng), made)
        for place, address in enumerate(world.delegated):
            targets = [world.contract(), world.contract(), rng.choice(world.delegated)]
            targets += [rng.choice(precompiles(world.fork)).to_bytes(20, "big"), world.address()]
            code = _delegation(rng.choice(targets)) if place or rng.random() < 0.5 else ()
            # Who delegated has a nonce, so no account with storage is empty.
            nonce = rng.choice([1, 1, 3]) if code else rng.choice([0, 1])
            held = _storage(rng) if nonce else {}
            if code or nonce:
                self.accounts[address] = CaseAccount(nonce, _balance(rng), code, held)
        self.accounts[world.others[0]] = CaseAccount(0, rng.choice([1, ETHER]))
        if rng.random() < 0.15:
            # Exists and is empty, which no chain since EIP-161 has.
            self.accounts[world.others[1]] = CaseAccount()
        self._collide()

    def _collide(self) -> None:
        """Somebody sits where a contract will be created, in a way that matters or not."""
        rng, world = self.rng, self.world
        for address in world.missing[2:]:
            if rng.random() < 0.3:
                self.accounts[address] = rng.choice(
                    [
                        CaseAccount(0, 1, (), {1: 1}),
                        CaseAccount(1, 0),
                        CaseAccount(0, 0, (("STOP",),)),
                        CaseAccount(0, 5),
                        CaseAccount(0, 5),
                    ]
                )

    def _deep_drafts(self) -> tuple[Draft, ...]:
        """One call that goes as deep as the EVM allows; a transaction's gas is capped in Osaka."""
        rng, world = self.rng, self.world
        if world.fork not in ("Prague", "Cancun"):
            world.fork = "Prague"
        self.block = structs.replace(self.block, gas_limit=1 << 50, base_fee_wei=7)
        address, sender = world.contracts[0], world.senders[0]
        program = rng.choice([programs.deep, programs.nest])(world)
        self.accounts[address] = CaseAccount(1, 1, program)
        self.accounts[sender] = CaseAccount(0, 1_000_000_000 * ETHER)
        secret = self.secret_of[sender]
        made = LegacyTransaction(0, 7, DEEP_GAS, address, 0, b"", self.block.chain_id)
        more = DynamicFeeTransaction(
            self.block.chain_id, 1, 0, 7, 21_000, rng.choice(world.others), 1
        )
        return Draft(made, secret), Draft(more, secret)


def make_case(seed: int) -> Case:
    return Maker(seed).case()


def case_named(name: str) -> Case:
    """The case of a name: `SEED`, or `SEED/INDEX=GAS` with another gas limit."""
    seed, *changes = name.split("/")
    case = make_case(int(seed))
    for change in changes:
        index, _, gas = change.partition("=")
        case = case.with_gas(int(index), int(gas))
    return case
