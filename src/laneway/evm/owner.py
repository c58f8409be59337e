"""Proof that an account itself used one of its nonces: its own signature under a transaction."""

from laneway.evm.envelope import decode, hash_of, sender
from laneway.evm.errors import InvalidTransaction


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
