"""One case: a fork, a block, the accounts before it, and the transactions that are tried in it.

Programs are kept as the snippets they were made of, so that a shrinker can leave some out.
"""

from typing import Any

from msgspec import Struct, structs
from tests.differential.assembly import Snippet, assemble

from laneway.evm.envelope import draft, seal
from laneway.evm.secp256k1 import N, Signature, sign
from laneway.evm.transaction import Authorization, Transaction

Answer = dict[str, Any]
"""What an engine says of a case, in the words of eels.py."""


class CaseAccount(Struct, frozen=True):
    nonce: int = 0
    balance_wei: int = 0
    program: tuple[Snippet, ...] = ()
    storage: dict[int, int] = {}

    @property
    def code(self) -> bytes:
        return assemble(self.program)


class CaseBlock(Struct, frozen=True, kw_only=True):
    chain_id: int
    number: int
    time_s: int
    gas_limit: int
    coinbase: bytes
    base_fee_wei: int
    randao: bytes
    excess_blob_gas: int
    hashes: tuple[bytes, ...]
    """Of the blocks before it, the oldest first; at most 256."""


class Damage(Struct, frozen=True):
    """What is wrong with the bytes themselves."""

    kind: str
    """`parity`, `high_s`, `zero_r`, `zero_s`, `big_r` or `flip`."""
    at: int = 0


class Draft(Struct, frozen=True):
    """A transaction that can still be changed and signed again."""

    transaction: Transaction
    secret: bytes
    damage: Damage | None = None

    def raw(self) -> bytes:
        drafted = draft(self.transaction)
        signature = sign(digest(drafted.payload), self.secret)
        damage = self.damage
        if damage is None:
            return seal(drafted, signature).raw
        if damage.kind != "flip":
            return seal(drafted, damaged(signature, damage.kind)).raw
        raw = bytearray(seal(drafted, signature).raw)
        at = damage.at % (len(raw) * 8)
        raw[at // 8] ^= 1 << at % 8
        return bytes(raw)


def digest(payload: bytes) -> bytes:
    from laneway.evm.keccak import keccak

    return keccak(payload)


def damaged(signature: Signature, kind: str) -> Signature:
    y_parity, r, s = signature.y_parity, signature.r, signature.s
    match kind:
        case "parity":
            return Signature(y_parity ^ 1, r, s)
        case "high_s":
            return Signature(y_parity ^ 1, r, N - s)
        case "zero_r":
            return Signature(y_parity, 0, s)
        case "zero_s":
            return Signature(y_parity, r, 0)
        case "big_r":
            return Signature(y_parity, N + 1, s)
        case "bad_parity":
            return Signature(2 + y_parity, r, s)
        case _:
            pass
    raise ValueError(kind)


class Case(Struct, frozen=True):
    name: str
    """From which the generator makes it again."""
    fork: str
    block: CaseBlock
    accounts: dict[bytes, CaseAccount]
    drafts: tuple[Draft, ...]

    def request(self, *, watched: bool = False, steps: bool = False) -> dict[str, Any]:
        """The case in JSON's words, for an engine."""
        return {
            "name": self.name,
            "fork": self.fork,
            "block": shown_block(self.block),
            "accounts": {
                "0x" + address.hex(): shown_account(account)
                for address, account in self.accounts.items()
            },
            "transactions": ["0x" + one.raw().hex() for one in self.drafts],
            "watched": watched,
            "steps": steps,
            "root": True,
        }

    def with_gas(self, index: int, gas: int) -> "Case":
        """The same case with another gas limit of one transaction."""
        drafts = list(self.drafts)
        drafts[index] = structs.replace(
            drafts[index],
            transaction=structs.replace(drafts[index].transaction, gas_limit=gas),
        )
        return structs.replace(self, name=f"{self.name}/{index}={gas}", drafts=tuple(drafts))


def shown_block(block: CaseBlock) -> dict[str, Any]:
    return {
        "chain_id": hex(block.chain_id),
        "number": hex(block.number),
        "time": hex(block.time_s),
        "gas_limit": hex(block.gas_limit),
        "coinbase": "0x" + block.coinbase.hex(),
        "base_fee": hex(block.base_fee_wei),
        "randao": "0x" + block.randao.hex(),
        "excess_blob_gas": hex(block.excess_blob_gas),
        "hashes": ["0x" + one.hex() for one in block.hashes],
    }


def shown_account(account: CaseAccount) -> dict[str, Any]:
    return {
        "nonce": hex(account.nonce),
        "balance": hex(account.balance_wei),
        "code": "0x" + account.code.hex(),
        "storage": {hex(key): hex(value) for key, value in account.storage.items()},
    }


def signed_authorization(chain_id: int, address: bytes, nonce: int, secret: bytes) -> Authorization:
    """EIP-7702: an account's word that the code of this address is its own."""
    from laneway.evm.rlp import encode

    made = sign(digest(b"\x05" + encode((chain_id, address, nonce))), secret)
    return Authorization(chain_id, address, nonce, made.y_parity, made.r, made.s)
