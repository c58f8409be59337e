"""EIP-7702: accounts that let another one's code run as their own."""

from laneway.evm.limits import NONCE_MAX
from laneway.evm.machine.targets import DELEGATION_PREFIX, delegate_of
from laneway.evm.secp256k1 import HALF_N
from laneway.evm.state.journal import StateJournal
from laneway.evm.transaction import Authorization, authority

EXISTING_ACCOUNT_REFUND = 12_500
"""Every entry pays for a new account; this comes back where the account exists."""
NOBODY = bytes(20)
"""A delegation to it is taken away again."""


def delegate(
    journal: StateJournal, authorizations: tuple[Authorization, ...], chain_id: int
) -> None:
    """Apply each entry in turn; one that does not fit is skipped."""
    for one in authorizations:
        account = signer_of(journal, one, chain_id)
        if account is None:
            continue
        if journal.find(account) is not None:
            journal.refund += EXISTING_ACCOUNT_REFUND
        journal.put_code(account, b"" if one.address == NOBODY else DELEGATION_PREFIX + one.address)
        journal.count(account)


def signer_of(journal: StateJournal, one: Authorization, chain_id: int) -> bytes | None:
    """The account that an entry is of; None if the entry does not fit."""
    if one.chain_id not in (0, chain_id) or one.nonce >= NONCE_MAX or one.s > HALF_N:
        return None
    account = authority(one)
    if account is None:
        return None
    journal.warm_account(account)
    code = journal.code(account)
    if code and delegate_of(code) is None:
        return None
    return account if journal.account(account).nonce == one.nonce else None
