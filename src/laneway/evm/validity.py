"""What a fork allows a transaction to be. Balances and nonces of accounts are the chain's to judge.

`check` judges the fields and needs no signature, so that a caller learns of a mistake before
anything is signed; `validate` judges the signature as well and returns the account that signed.
"""

from laneway.evm.envelope import decode, hash_of, sender
from laneway.evm.errors import (
    AuthorizationsMissing,
    BlobHashUnknown,
    BlobsMissing,
    BlobsTooMany,
    CostOverflow,
    FieldOverflow,
    GasAboveCap,
    GasBelowFloor,
    InitcodeTooBig,
    IntrinsicGasTooLow,
    InvalidSignature,
    InvalidTransaction,
    MalformedField,
    NonceTooBig,
    RecipientMissing,
    TipAboveFee,
    TypeUnsupported,
    WrongChain,
)
from laneway.evm.fields import BLOB_HASH_VERSION
from laneway.evm.fork import Fork
from laneway.evm.gas import floor_gas, intrinsic_gas
from laneway.evm.limits import (
    BLOBS_CANCUN_MAX,
    BLOBS_OSAKA_MAX,
    BLOBS_PRAGUE_MAX,
    INITCODE_BYTES_MAX,
    TRANSACTION_GAS_MAX,
)
from laneway.evm.secp256k1 import HALF_N
from laneway.evm.transaction import (
    BlobTransaction,
    SetCodeTransaction,
    Transaction,
    fee_wei_max,
    tip_wei_max,
)

TYPES_SINCE = (Fork.FRONTIER, Fork.BERLIN, Fork.LONDON, Fork.CANCUN, Fork.PRAGUE)
WORD = 1 << 64
WIDE = 1 << 256


def validate(transaction: Transaction, fork: Fork, chain_id: int | None = None) -> bytes:
    """The sender of a signed transaction that the fork allows, or InvalidTransaction."""
    check(transaction, fork, chain_id)
    signature = transaction.signature
    if signature is not None and signature.s > HALF_N and fork >= Fork.HOMESTEAD:
        raise InvalidSignature(problem="s is in the upper half (EIP-2)")
    return sender(transaction)


def check(
    transaction: Transaction, fork: Fork, chain_id: int | None = None, *, has_gas_cap: bool = True
) -> None:
    """InvalidTransaction unless the fork, and the chain where it is named, allow these fields.

    Without `has_gas_cap` EIP-7825 does not bind: a call that no block has may take more gas."""
    if fork < TYPES_SINCE[transaction.type]:
        raise TypeUnsupported(type=transaction.type, fork=fork.name.capitalize())
    _check_chain(transaction, fork, chain_id)
    _check_numbers(transaction)
    if isinstance(transaction, BlobTransaction):
        _check_blobs(transaction, fork)
    if isinstance(transaction, SetCodeTransaction) and not transaction.authorizations:
        raise AuthorizationsMissing()
    if transaction.to is None:
        if transaction.type >= BlobTransaction.type:
            raise RecipientMissing(type=transaction.type)
        if fork >= Fork.SHANGHAI and len(transaction.data) > INITCODE_BYTES_MAX:
            raise InitcodeTooBig(given=len(transaction.data), bound=INITCODE_BYTES_MAX)
    elif len(transaction.to) != 20:
        raise MalformedField(field="to", problem="an address has 20 bytes")
    _check_gas(transaction, fork, has_gas_cap)


def _check_chain(transaction: Transaction, fork: Fork, chain_id: int | None) -> None:
    named = transaction.chain_id
    if named is None:
        return
    if not 0 <= named < WORD:
        raise FieldOverflow(field="chain_id", bits=64)
    if fork < Fork.SPURIOUS:
        raise InvalidSignature(problem="v names a chain, which EIP-155 brought later")
    if chain_id is not None and named != chain_id:
        raise WrongChain(given=named, wanted=chain_id)


def _check_numbers(transaction: Transaction) -> None:
    fee, tip = fee_wei_max(transaction), tip_wei_max(transaction)
    if not 0 <= transaction.nonce < WORD:
        raise FieldOverflow(field="nonce", bits=64)
    if not 0 <= transaction.gas_limit < WORD:
        raise FieldOverflow(field="gas_limit", bits=64)
    if not 0 <= transaction.value_wei < WIDE:
        raise FieldOverflow(field="value", bits=256)
    if not 0 <= fee < WIDE:
        raise FieldOverflow(field="fee", bits=256)
    if not 0 <= tip < WIDE:
        raise FieldOverflow(field="tip", bits=256)
    if isinstance(transaction, BlobTransaction) and not 0 <= transaction.blob_fee_wei_max < WIDE:
        raise FieldOverflow(field="blob_fee", bits=256)
    # EIP-2681: the last nonce could never be counted.
    if transaction.nonce == WORD - 1:
        raise NonceTooBig(nonce=transaction.nonce)
    if tip > fee:
        raise TipAboveFee(tip_wei=tip, fee_wei=fee)
    if transaction.gas_limit * fee >= WIDE:
        raise CostOverflow(gas=transaction.gas_limit, fee_wei=fee)


def _check_blobs(transaction: BlobTransaction, fork: Fork) -> None:
    count = len(transaction.blob_hashes)
    if count == 0:
        raise BlobsMissing()
    bound = {Fork.CANCUN: BLOBS_CANCUN_MAX, Fork.PRAGUE: BLOBS_PRAGUE_MAX}.get(
        fork, BLOBS_OSAKA_MAX
    )
    if count > bound:
        raise BlobsTooMany(given=count, bound=bound)
    for index, blob_hash in enumerate(transaction.blob_hashes):
        if blob_hash[:1] != BLOB_HASH_VERSION:
            raise BlobHashUnknown(index=index, version=blob_hash[0])


def _check_gas(transaction: Transaction, fork: Fork, has_gas_cap: bool) -> None:
    gas = transaction.gas_limit
    if has_gas_cap and fork >= Fork.OSAKA and gas > TRANSACTION_GAS_MAX:
        raise GasAboveCap(gas=gas, cap=TRANSACTION_GAS_MAX)
    wanted = intrinsic_gas(transaction, fork)
    if gas < wanted:
        raise IntrinsicGasTooLow(gas=gas, wanted=wanted)
    floor = floor_gas(transaction, fork)
    if gas < floor:
        raise GasBelowFloor(gas=gas, wanted=floor)


def owner_hash(raw: bytes, *, address: bytes, nonce: int, chain_id: int) -> bytes | None:
    """The hash of these bytes, if they are a transaction that this account signed for this nonce
    on this chain; None if they are anything else."""
    try:
        made = decode(raw)
        signer = sender(made)
    except InvalidTransaction:
        return None
    if signer != address or made.nonce != nonce:
        return None
    # Without a chain id a signature holds on every chain (before EIP-155).
    return hash_of(made) if made.chain_id in (None, chain_id) else None
