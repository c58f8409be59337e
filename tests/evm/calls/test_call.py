"""Calls that no block has."""

from typing import Any

import pytest
from tests.evm.scene import CONTRACT, OTHER, SENDER, Scene, returns

from laneway.evm.calls.call import CallAnswer, call, revert_message
from laneway.evm.calls.request import CallRequest
from laneway.evm.errors import (
    BlobFeeTooLow,
    FeeBelowBase,
    FundsTooLow,
    GasAboveCap,
    IntrinsicGasTooLow,
)
from laneway.evm.fork import Fork
from laneway.evm.limits import CALL_GAS_MAX, NONCE_MAX
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.opcodes.system import created_address

BLOB_HASH = b"\x01" + bytes(31)


def called(scene: Scene, **fields: Any) -> CallAnswer:
    request = CallRequest(**({"sender": SENDER, "to": CONTRACT} | fields))
    return call(scene.state, scene.block, scene.rules, request)


def answered(code: str, **fields: Any) -> int:
    scene = Scene()
    scene.put(CONTRACT, returns(code))
    return int.from_bytes(called(scene, **fields).output, "big")


def test_a_call_answers_and_nothing_stays() -> None:
    scene = Scene()
    scene.put(CONTRACT, "1 1 SSTORE 7 0 MSTORE 32 0 LOG0 32 0 RETURN", storage={1: 9})
    before = scene.state.copy()
    answer = called(scene, value_wei=3)
    assert answer.is_good()
    assert answer.output == (7).to_bytes(32, "big")
    assert answer.logs == (EvmLog(CONTRACT, (), answer.output),)
    assert (scene.state.accounts, scene.state.storages) == (before.accounts, before.storages)


def test_a_revert_and_a_halt_are_answers() -> None:
    scene = Scene()
    scene.put(CONTRACT, "7 0 MSTORE 32 0 REVERT")
    scene.put(OTHER, "INVALID")
    reverted = called(scene)
    assert (reverted.is_reverted, reverted.halt, reverted.is_good()) == (True, "", False)
    assert len(reverted.output) == 32
    halted = called(scene, to=OTHER, gas=100_000)
    assert (halted.is_reverted, halted.halt) == (False, "invalid opcode")
    assert (halted.gas_used, halted.output, halted.is_good()) == (100_000, b"", False)


def test_without_a_price_nothing_is_charged_and_there_is_no_base_fee() -> None:
    assert answered("BASEFEE") == answered("GASPRICE") == 0
    assert answered("ORIGIN BALANCE") == 10**24
    assert answered("BALANCE", sender=b"\x77" * 20, to=CONTRACT) == 0


def test_with_a_price_the_sender_pays_it() -> None:
    assert answered("BASEFEE", gas_price_wei=7) == 7
    assert answered("GASPRICE", fee_wei_max=100, tip_wei_max=2) == 9
    assert answered("ORIGIN BALANCE", gas_price_wei=10, gas=100_000) == 10**24 - 1_000_000
    with pytest.raises(FeeBelowBase):
        answered("1", fee_wei_max=6)


def test_blobs_cost_nothing_if_no_price_is_named() -> None:
    assert answered("BLOBBASEFEE", blob_hashes=(BLOB_HASH,)) == 0
    assert answered("BLOBBASEFEE", blob_hashes=(BLOB_HASH,), blob_fee_wei_max=3) == 3
    assert answered("BLOBBASEFEE") == 3
    with pytest.raises(BlobFeeTooLow):
        answered("1", blob_hashes=(BLOB_HASH,), blob_fee_wei_max=2)


def test_a_sender_needs_what_it_hands_over_and_nothing_else() -> None:
    with pytest.raises(FundsTooLow):
        answered("1", value_wei=10**24 + 1)
    with pytest.raises(FundsTooLow):
        answered("1", value_wei=1, sender=b"\x77" * 20)
    assert answered("CALLVALUE", value_wei=10**24) == 10**24


def test_nonce_and_code_of_the_sender_are_not_asked_for() -> None:
    scene = Scene()
    scene.put(OTHER, "1", nonce=77, balance_wei=5)
    scene.put(CONTRACT, returns("CALLER"))
    assert called(scene, sender=OTHER).output == OTHER.rjust(32, b"\0")


def test_a_creation_answers_its_address_and_code() -> None:
    scene = Scene()
    scene.state.put(SENDER, nonce=3, balance_wei=1)
    made = called(scene, to=None, data=returns("1"))
    assert made.contract == created_address(SENDER, 3)
    assert int.from_bytes(made.output, "big") == 1
    scene.state.put(SENDER, nonce=NONCE_MAX)
    assert called(scene, to=None, data=returns("1")).is_good()


def test_gas_is_that_of_the_request_or_the_cap_of_calls() -> None:
    """EIP-7825 and the block's limit bind transactions and no calls."""
    assert answered("GAS") == CALL_GAS_MAX - 21_000 - 2
    assert answered("GAS", gas=30_000) == 9_000 - 2
    with pytest.raises(IntrinsicGasTooLow):
        answered("GAS", gas=20_999)
    scene = Scene(fork=Fork.OSAKA)
    with pytest.raises(GasAboveCap):
        scene.transact(OTHER, gas_limit=20_000_000)


def test_a_revert_has_its_reason_where_it_names_one() -> None:
    assert revert_message(b"") == "execution reverted"
    panic = bytes.fromhex("4e487b71") + (0x11).to_bytes(32, "big")
    assert revert_message(panic).startswith("execution reverted: Panic(0x11)")
