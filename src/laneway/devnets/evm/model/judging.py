"""Whether a node takes a transaction: by its bytes and fields, and by how its sender stands."""

from msgspec import Struct

from laneway.devnets.evm.model.pool import NodePool, PooledTransaction
from laneway.devnets.evm.model.rules import REASONS, EvmRules, RefusalReason
from laneway.devnets.evm.model.states import EvmAccountState
from laneway.devnets.evm.model.values import TransactionRefused
from laneway.evm.blob_proofs import check_proofs
from laneway.evm.envelope import decode, encode_canonical, hash_of
from laneway.evm.errors import InvalidTransaction, SidecarMissing, TypeUnsupported
from laneway.evm.fork import Fork
from laneway.evm.keccak import keccak
from laneway.evm.rlp import encode_bytes
from laneway.evm.secp256k1 import Signature
from laneway.evm.transaction import BlobTransaction, Transaction, fee_wei_max, signed
from laneway.evm.validity import check, validate

PLAIN_TYPES = (0, 1, 2)
"""Of a chain that moves value alone: blobs and delegations change more than balances."""
NO_SIGNATURE = Signature(0, 0, 0)
"""What stands in a transaction of an account that a node impersonates."""


class PoolGround(Struct, frozen=True):
    """What a node's judgement of a transaction rests on."""

    pool: NodePool
    account: EvmAccountState
    """Of the sender."""
    base_fee_wei: int
    blob_fee_wei: int
    block_gas_max: int


def read(raw: bytes, *, fork: Fork, chain_id: int, executes: bool, order: int) -> PooledTransaction:
    """The transaction of these bytes; InvalidTransaction if no chain takes it."""
    made = decode(raw)
    check_type(made, executes)
    sender = validate(made, fork, chain_id)
    digest = keccak(raw)
    if isinstance(made, BlobTransaction):
        if made.sidecar is None:
            raise SidecarMissing()
        check_proofs(made.sidecar)
        digest = hash_of(made)
    return PooledTransaction(digest, raw, made, sender, order)


def impersonated(
    made: Transaction, sender: bytes, *, fork: Fork, chain_id: int, executes: bool, order: int
) -> PooledTransaction:
    """A transaction that nobody signed. As of anvil, its hash is of its sender too, for two
    accounts may send the same."""
    check_type(made, executes)
    check(made, fork, chain_id)
    made = signed(made, NO_SIGNATURE)
    raw = encode_canonical(made)
    item = encode_bytes(raw) if made.type else raw
    return PooledTransaction(keccak(item + sender), raw, made, sender, order, is_impersonated=True)


def check_type(made: Transaction, executes: bool) -> None:
    if not executes and made.type not in PLAIN_TYPES:
        raise TypeUnsupported(type=made.type, fork="this devnet")


def refused(rules: EvmRules, reason: RefusalReason, **operands: int | str) -> TransactionRefused:
    code, message = rules.refusals[reason]
    return TransactionRefused(code, message.format(**operands))


def refused_as(rules: EvmRules, error: InvalidTransaction) -> TransactionRefused:
    """The refusal of a transaction that no chain takes."""
    return refused(rules, REASONS.get(error.code, RefusalReason.MALFORMED), **error.operands)


def judged(rules: EvmRules, view: PoolGround, sent: PooledTransaction) -> TransactionRefused | None:
    """The refusal of a transaction by a node's state; the pool itself judges its place."""
    made, account = sent.transaction, view.account
    size = sent.size_bytes()
    if rules.size_bytes_max is not None and size > rules.size_bytes_max:
        return refused(rules, RefusalReason.OVERSIZED, size=size, limit=rules.size_bytes_max)
    if made.gas_limit > view.block_gas_max:
        return refused(rules, RefusalReason.GAS_ABOVE_BLOCK)
    if made.nonce < account.nonce:
        return refused(rules, RefusalReason.NONCE_TOO_LOW, next=account.nonce, nonce=made.nonce)
    if rules.refuses_below_base:
        if fee_wei_max(made) < view.base_fee_wei:
            return refused(rules, RefusalReason.FEE_BELOW_BASE)
        if isinstance(made, BlobTransaction) and made.blob_fee_wei_max < view.blob_fee_wei:
            return refused(rules, RefusalReason.BLOB_FEE_TOO_LOW)
    cost = sent.cost_wei()
    if rules.sums_costs:
        cost += view.pool.cost_wei(sent.sender, without=made.nonce)
    if cost > account.balance_wei:
        operands = {"cost": cost, "overshot": cost - account.balance_wei}
        return refused(rules, RefusalReason.NO_FUNDS, balance=account.balance_wei, **operands)
    full = rules.pool_count_max is not None and len(view.pool) >= rules.pool_count_max
    if full and view.pool.at(sent.sender, made.nonce) is None:
        return refused(rules, RefusalReason.POOL_FULL)
    return None
