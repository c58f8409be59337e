"""EIP-7702."""

from typing import Any

import pytest
from msgspec import structs
from tests.evm.scene import CONTRACT, Scene

from laneway.evm.execution.authorizations import EXISTING_ACCOUNT_REFUND, delegate
from laneway.evm.keccak import keccak
from laneway.evm.limits import NONCE_MAX
from laneway.evm.secp256k1 import N, address, sign
from laneway.evm.transaction import Authorization, authorization_digest

SECRET = keccak(b"an account")
ACCOUNT = address(SECRET)


def signed(chain_id: int = 1, to: bytes = CONTRACT, nonce: int = 0) -> Authorization:
    made = Authorization(chain_id, to, nonce)
    signature = sign(authorization_digest(made), SECRET)
    return structs.replace(made, y_parity=signature.y_parity, r=signature.r, s=signature.s)


def applied(*entries: Authorization, **account: Any) -> Scene:
    scene = Scene()
    if account:
        scene.put(ACCOUNT, **account)
    delegate(scene.journal, entries, 1)
    return scene


def test_an_account_runs_the_code_that_it_named() -> None:
    scene = applied(signed(), balance_wei=1)
    assert scene.journal.code(ACCOUNT) == b"\xef\x01\x00" + CONTRACT
    assert scene.journal.account(ACCOUNT).nonce == 1
    assert scene.journal.refund == EXISTING_ACCOUNT_REFUND
    assert ACCOUNT in scene.journal.warm


def test_an_account_that_does_not_exist_is_made_without_a_refund() -> None:
    scene = applied(signed(chain_id=0))
    assert scene.journal.account(ACCOUNT).nonce == 1
    assert scene.journal.refund == 0


def test_the_last_entry_of_an_account_counts() -> None:
    other = b"\x77" * 20
    scene = applied(signed(), signed(to=other, nonce=1), balance_wei=1)
    assert scene.journal.code(ACCOUNT) == b"\xef\x01\x00" + other


def test_a_delegation_to_nobody_takes_the_code_away() -> None:
    scene = applied(signed(to=bytes(20), nonce=3), code=b"\xef\x01\x00" + CONTRACT, nonce=3)
    assert scene.journal.code(ACCOUNT) == b""
    assert scene.journal.account(ACCOUNT).nonce == 4


@pytest.mark.parametrize(
    ("entry", "is_warm"),
    [
        (signed(chain_id=2), False),
        (signed(nonce=NONCE_MAX), False),
        (structs.replace(signed(), s=N - signed().s, y_parity=1 - signed().y_parity), False),
        (structs.replace(signed(), r=0), False),
        (signed(nonce=1), True),
    ],
)
def test_an_entry_that_does_not_fit_is_skipped(entry: Authorization, is_warm: bool) -> None:
    scene = applied(entry, balance_wei=1)
    assert scene.journal.code(ACCOUNT) == b""
    assert scene.journal.account(ACCOUNT).nonce == 0
    assert (ACCOUNT in scene.journal.warm) == is_warm


def test_a_contract_delegates_nothing() -> None:
    scene = applied(signed(), code=b"\x00")
    assert scene.journal.code(ACCOUNT) == b"\x00"
