"""Transactions of all types, right ones and wrong ones, for the accounts of a case."""

from random import Random
from typing import Any

from msgspec import Struct, field, structs
from tests.differential.assembly import assemble
from tests.differential.calls import init_code
from tests.differential.case import (
    CaseAccount,
    CaseBlock,
    Damage,
    Draft,
    damaged,
    signed_authorization,
)
from tests.differential.precompile_inputs import data_for, precompiles
from tests.differential.world import World, created, number

from laneway.evm.fork import Fork
from laneway.evm.gas import floor_gas, intrinsic_gas
from laneway.evm.secp256k1 import N, Signature
from laneway.evm.transaction import (
    Access,
    AccessListTransaction,
    Authorization,
    BlobTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
    Transaction,
)

SIGNATURE_DAMAGES = ("parity", "high_s", "zero_r", "zero_s", "big_r", "bad_parity", "flip", "flip")
GAS_CAP = 1 << 24
INIT_CODE_MAX = 49_152
BLOB_GAS = 1 << 17


LARGE_END = b"\x5f\xf3"
LARGE_GAS = 5_000_000
"""More than 24,576 bytes of code cost to leave behind."""


def large_code(rng: Random) -> bytes:
    """Init code that leaves the largest code, or one byte more or less."""
    return assemble([(rng.choice([24_575, 24_576, 24_577, 24_600]), 0, "RETURN")])


class Drafter(Struct):
    """Makes transactions one after the other, and keeps the nonces it expects."""

    world: World
    block: CaseBlock
    accounts: dict[bytes, CaseAccount]
    secret_of: dict[bytes, bytes]
    nonces: dict[bytes, int] = field(default_factory=dict)
    reached: list[bytes] = field(default_factory=list)

    @property
    def rng(self) -> Random:
        return self.world.rng

    def nonce(self, address: bytes) -> int:
        known = self.accounts.get(address)
        return self.nonces.get(address, known.nonce if known else 0)

    def draft(self) -> Draft:
        rng = self.rng
        signers = self.world.senders
        sender = rng.choice(signers[:3]) if rng.random() < 0.88 else rng.choice(signers)
        kinds = [0, 0, 1, 2, 2, 3, 4, 4, 4]
        if self.world.fork == "Cancun":
            kinds = [0, 0, 1, 1, 2, 2, 3, 3, 4 if rng.random() < 0.2 else 2]
        made = self._made(rng.choice(kinds), sender)
        damage: Damage | None = None
        flaw = rng.random()
        if flaw < 0.07:
            made = self._flawed(made)
        elif flaw < 0.09:
            kind = rng.choice(SIGNATURE_DAMAGES)
            damage = Damage(kind, rng.randrange(1 << 16))
        if damage is None and flaw >= 0.07:
            self._expect(made, sender)
        return Draft(made, self.secret_of[sender], damage)

    def _expect(self, made: Transaction, sender: bytes) -> None:
        if made.to is None:
            self.reached.append(created(sender, made.nonce))
        self.nonces[sender] = self.nonce(sender) + 1

    def _made(self, kind: int, sender: bytes) -> Transaction:
        rng, chain_id = self.rng, self.block.chain_id
        to, data = self._aim(kind)
        base = self.block.base_fee_wei
        tip = rng.choice([0, 1, 10, 1_000_000_000])
        fee = base + rng.choice([0, 1, tip, tip, 2 * tip, 10**9])
        nonce = self.nonce(sender)
        value = rng.choice([0, 0, 0, 0, 1, 1, 1_000, 10**15])
        shared: dict[str, Any] = {"nonce": nonce, "to": to, "value_wei": value, "data": data}
        shared["gas_limit"] = 0
        made: Transaction
        if kind == 0:
            named = None if rng.random() < 0.2 else chain_id
            made = LegacyTransaction(gas_price_wei=fee, chain_id=named, **shared)
        else:
            shared |= {"chain_id": chain_id, "access_list": self._access_list()}
            fees: dict[str, Any] = {"tip_wei_max": min(tip, fee), "fee_wei_max": fee}
            if kind == 1:
                made = AccessListTransaction(gas_price_wei=fee, **shared)
            elif kind == 2:
                made = DynamicFeeTransaction(**fees, **shared)
            elif kind == 3:
                made = BlobTransaction(**fees, **shared, **self._blobs())
            else:
                authorizations = self._authorizations(sender, nonce)
                made = SetCodeTransaction(**fees, **shared, authorizations=authorizations)
        return structs.replace(made, gas_limit=self._gas(made))

    def _aim(self, kind: int) -> tuple[bytes | None, bytes]:
        """Whom it calls, with what; nobody where it creates."""
        rng, world = self.rng, self.world
        chosen = rng.random()
        if kind < 3 and chosen < 0.14:
            if chosen < 0.02:
                return None, large_code(rng)
            return None, init_code(world)
        if chosen < 0.17:
            address = rng.choice(precompiles(world.fork))
            return address.to_bytes(20, "big"), data_for(rng, address)
        to = rng.choice(world.contracts)
        if self.reached and rng.random() < 0.35:
            # Again, or what was made there: what an earlier transaction left is seen.
            to = rng.choice(self.reached)
        elif chosen > 0.85:
            pools = [world.delegated, world.delegated, world.libraries, world.others]
            pools += [world.missing, world.senders, [world.coinbase], [world.precompile()]]
            to = rng.choice([rng.choice(pool) for pool in pools if pool])
        self.reached += [to, to, created(to, 1)] if rng.random() < 0.3 else [to]
        return to, self._data()

    def _data(self) -> bytes:
        rng = self.rng
        chosen = rng.random()
        if chosen < 0.25:
            return b""
        if chosen < 0.75:
            words = [number(rng) for _ in range(rng.randrange(1, 5))]
            made = b"".join(word.to_bytes(32, "big") for word in words)
            return made[: rng.randrange(len(made) + 1)] if rng.random() < 0.3 else made
        if chosen < 0.9:
            return rng.randbytes(rng.randrange(1, 200))
        # So much that the floor of EIP-7623 is what is paid.
        return rng.choice([b"\x00", b"\x01"]) * rng.choice([500, 2_000, 6_000])

    def _access_list(self) -> tuple[Access, ...]:
        rng, world = self.rng, self.world
        if rng.random() < 0.5:
            return ()
        made = [
            Access(
                world.address(),
                tuple(
                    (rng.randrange(7) if rng.random() < 0.9 else number(rng)).to_bytes(32, "big")
                    for _ in range(rng.choice([0, 0, 1, 2, 5]))
                ),
            )
            for _ in range(rng.randrange(1, 4))
        ]
        if rng.random() < 0.3:
            made.append(made[0])
        return tuple(made)

    def _blobs(self) -> dict[str, Any]:
        rng = self.rng
        hashes = tuple(b"\x01" + rng.randbytes(31) for _ in range(rng.choice([1, 1, 2, 3, 6])))
        return {"blob_fee_wei_max": rng.choice([10**12, 10**10, 1 << 100]), "blob_hashes": hashes}

    def _authorizations(self, sender: bytes, nonce: int) -> tuple[Authorization, ...]:
        rng = self.rng
        expected: dict[bytes, int] = {sender: nonce + 1}
        made = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            signer = rng.choice([*self.world.delegated, *self.world.senders, sender])
            if signer not in self.secret_of:
                signer = sender
            due = expected.get(signer, self.nonce(signer))
            one, is_good = self._authorization(signer, due)
            if is_good:
                expected[signer] = due + 1
            made.append(one)
        for address, due in expected.items():
            if address != sender:
                self.nonces[address] = due
            elif due > nonce + 1:
                # The next transaction of this sender comes after its own words.
                self.nonces[address] = due - 1
        return tuple(made)

    def _authorization(self, signer: bytes, due: int) -> tuple[Authorization, bool]:
        rng, world = self.rng, self.world
        pools = [world.contracts, world.contracts, world.delegated, world.missing, [signer]]
        pools += [[bytes(20)], [world.precompile()], world.libraries, world.others]
        target = rng.choice([rng.choice(pool) for pool in pools if pool])
        chain_id = rng.choice([self.block.chain_id, self.block.chain_id, 0])
        is_good = True
        if rng.random() < 0.15:
            is_good = False
            chain_id = rng.choice([self.block.chain_id + 1, 1 << 64, (1 << 256) - 1])
        if rng.random() < 0.15:
            is_good = False
            due = rng.choice([due + 1, max(0, due - 1), (1 << 64) - 1, (1 << 64) - 2])
        made = signed_authorization(chain_id, target, due, self.secret_of[signer])
        if rng.random() < 0.15:
            is_good = False
            kind = rng.choice(SIGNATURE_DAMAGES[:6])
            bad = damaged(Signature(made.y_parity, made.r, made.s), kind)
            if rng.random() < 0.2:
                bad = rng.choice([Signature(0, 5, 5), Signature(255, 1, 1), Signature(0, N - 1, 1)])
            made = structs.replace(made, y_parity=bad.y_parity, r=bad.r, s=bad.s)
        return made, is_good

    def _gas(self, made: Transaction) -> int:
        rng = self.rng
        fork = Fork[self.world.fork.upper()] if self.world.fork[:3] != "BPO" else Fork.OSAKA
        least = max(intrinsic_gas(made, fork), floor_gas(made, fork))
        chosen = rng.random()
        if made.to is None and made.data[-2:] == LARGE_END:
            return least + LARGE_GAS
        if chosen < 0.06:
            return least
        if chosen < 0.12:
            return least + rng.choice([1, 2, 3, 100, 2_300, 5_000])
        return least + rng.choice([50_000, 150_000, 300_000, 500_000, 700_000, 1_000_000])

    def _flawed(self, made: Transaction) -> Transaction:
        """One thing wrong, that excludes it; or right by a hair."""
        rng = self.rng
        fork = Fork[self.world.fork.upper()] if self.world.fork[:3] != "BPO" else Fork.OSAKA
        changes: list[dict[str, Any]] = [
            {"nonce": made.nonce + 1},
            {"nonce": max(0, made.nonce - 1)},
            {"nonce": (1 << 64) - 1},
            {"nonce": (1 << 64) - 2},
            {"value_wei": 10**30},
            {"value_wei": (1 << 256) - 1},
            {"gas_limit": intrinsic_gas(made, fork) - 1},
            {"gas_limit": floor_gas(made, fork) - 1 if fork >= Fork.PRAGUE else 20_999},
            {"gas_limit": GAS_CAP + 1},
            {"gas_limit": self.block.gas_limit + 1},
            {"chain_id": self.block.chain_id + 1},
        ]
        base = self.block.base_fee_wei
        if isinstance(made, LegacyTransaction | AccessListTransaction):
            changes += [{"gas_price_wei": max(0, base - 1)}, {"gas_price_wei": 10**30}]
        else:
            changes += [
                {"fee_wei_max": max(0, base - 1), "tip_wei_max": 0},
                {"tip_wei_max": made.fee_wei_max + 1},
                {"fee_wei_max": 10**30},
            ]
        if made.type < 3:
            size = rng.choice([INIT_CODE_MAX, INIT_CODE_MAX + 1])
            big = structs.replace(made, to=None, data=bytes(size))
            gas = max(intrinsic_gas(big, fork), floor_gas(big, fork)) + 10_000
            changes += [{"to": None, "data": bytes(size), "gas_limit": gas}] * 2
        if isinstance(made, BlobTransaction):
            many = made.blob_hashes * 10
            wrong = (b"\x02" + bytes(31), *made.blob_hashes)
            changes = [
                *changes[:2],
                {"blob_hashes": ()},
                {"blob_hashes": many[:7]},
                {"blob_hashes": many[:10]},
                {"blob_hashes": wrong},
                {"blob_fee_wei_max": 0},
                {"blob_fee_wei_max": 1},
                {"blob_fee_wei_max": (1 << 256) - 1},
                {"to": None},
            ]
        if isinstance(made, SetCodeTransaction):
            changes += [{"to": None}, {"authorizations": ()}] * 3
        return structs.replace(made, **rng.choice(changes))
