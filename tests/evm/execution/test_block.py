"""Transactions in a block that is being made."""

from typing import Any

import pytest
from msgspec import structs
from tests.evm.scene import COINBASE, CONTRACT, OTHER, SENDER, Scene, assemble

from laneway.core.errors import LanewayError
from laneway.evm.errors import (
    BlobFeeTooLow,
    BlockBlobsExceeded,
    BlockGasExceeded,
    Excluded,
    FeeBelowBase,
    FundsTooLow,
    IntrinsicGasTooLow,
    NonceTooHigh,
    NonceTooLow,
    SenderHasCode,
)
from laneway.evm.fork import Fork
from laneway.evm.limits import BLOB_GAS
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.opcodes.system import created_address
from laneway.evm.precompiles.table import Precompile
from laneway.evm.rules import BPO2_BLOBS, BlobSchedule
from laneway.evm.state.changes import WriteSet
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

RICH = 10**24
BLOB_HASH = b"\x01" + bytes(31)


def blob(count: int = 1, **fields: Any) -> BlobTransaction:
    given: dict[str, Any] = {"blob_fee_wei_max": 10, "blob_hashes": (BLOB_HASH,) * count} | fields
    return BlobTransaction(1, given.pop("nonce", 0), 1, 100, 100_000, OTHER, **given)


# Who pays what.


def test_a_transfer_moves_its_value_and_pays_for_its_gas() -> None:
    scene = Scene()
    receipt = scene.transact(OTHER, value_wei=5)
    assert (receipt.succeeded, receipt.gas_used, receipt.effective_price_wei) == (True, 21_000, 8)
    journal = scene.journal
    assert journal.account(OTHER).balance_wei == 5
    assert journal.account(SENDER).balance_wei == RICH - 5 - 21_000 * 8
    assert journal.account(SENDER).nonce == 1
    assert journal.account(COINBASE).balance_wei == 21_000
    assert scene.execution.gas_used == 21_000


def test_without_a_tip_nobody_is_paid() -> None:
    scene = Scene()
    scene.transact(OTHER, tip_wei_max=0)
    assert COINBASE not in scene.journal.write_set().accounts


def test_the_base_fee_and_blob_gas_are_burnt() -> None:
    scene = Scene()
    receipt = scene.send(blob())
    assert receipt.blob_gas == scene.execution.blob_gas_used == BLOB_GAS
    assert scene.journal.account(SENDER).balance_wei == RICH - 21_000 * 8 - BLOB_GAS * 3


@pytest.mark.parametrize("end", ["0 0 REVERT", "INVALID"])
def test_a_transaction_that_fails_pays_and_moves_nothing(end: str) -> None:
    scene = Scene()
    scene.put(CONTRACT, f"1 1 SSTORE {end}")
    receipt = scene.transact(value_wei=5, gas_limit=100_000)
    assert not receipt.succeeded
    assert receipt.halt == ("" if "REVERT" in end else "invalid opcode")
    assert (receipt.gas_used < 100_000) == ("REVERT" in end)
    accounts = scene.journal.write_set()
    assert set(accounts.accounts) == {SENDER, COINBASE}
    assert accounts.storage == {}


def test_a_fifth_of_the_gas_comes_back_at_most() -> None:
    scene = Scene()
    scene.put(CONTRACT, "0 0 SSTORE", storage={0: 1})
    few = scene.transact()
    assert (few.gas_used, few.refund) == (21_000 + 4 + 5_000 - 4_800, 4_800)
    scene = Scene()
    clears = " ".join(f"0 {key} SSTORE" for key in range(1, 10))
    scene.put(CONTRACT, clears, storage=dict.fromkeys(range(1, 10), 1))
    many = scene.transact()
    spent = 21_000 + 9 * 5_005
    assert (many.gas_used, many.refund) == (spent - spent // 5, spent // 5)


@pytest.mark.parametrize(("fork", "gas"), [(Fork.CANCUN, 21_000 + 1_600), (Fork.PRAGUE, 25_000)])
def test_data_pays_its_floor_since_prague(fork: Fork, gas: int) -> None:
    assert Scene(fork=fork).transact(OTHER, data=b"\x01" * 100).gas_used == gas


def test_a_receipt_has_logs_and_output() -> None:
    scene = Scene()
    scene.put(CONTRACT, "7 0 MSTORE8 1 0 LOG0 1 0 RETURN")
    receipt = scene.transact()
    assert receipt.logs == (EvmLog(CONTRACT, (), b"\x07"),)
    assert (receipt.output, receipt.contract) == (b"\x07", None)
    assert scene.transact(OTHER).logs == ()


# Creations.


def test_a_creation_names_its_contract_whether_it_succeeds_or_not() -> None:
    scene = Scene()
    receipt = scene.transact(None, assemble("0 0 MSTORE8 1 0 RETURN"))
    assert receipt.contract == created_address(SENDER, 0)
    assert scene.journal.code(receipt.contract) == b"\0"
    failed = scene.transact(None, assemble("INVALID"))
    assert (failed.succeeded, failed.contract) == (False, created_address(SENDER, 1))


def test_a_creation_on_a_taken_address_takes_all_of_the_gas() -> None:
    scene = Scene()
    scene.put(created_address(SENDER, 0), nonce=1)
    receipt = scene.transact(None, gas_limit=100_000)
    assert (receipt.halt, receipt.gas_used) == ("contract address collision", 100_000)
    assert scene.journal.account(SENDER).nonce == 1


# What is warm from the start.


@pytest.mark.parametrize(
    ("code", "gas"),
    [
        ("COINBASE BALANCE", 2 + 100),
        ("CALLER BALANCE", 2 + 100),
        ("ADDRESS BALANCE", 2 + 100),
        ("1 BALANCE", 3 + 100),
        (f"0x{OTHER.hex()} BALANCE", 3 + 2_600),
        ("1 SLOAD", 3 + 2_100),
    ],
)
def test_what_a_transaction_names_is_warm(code: str, gas: int) -> None:
    scene = Scene()
    scene.put(CONTRACT, code)
    assert scene.transact().gas_used == 21_000 + gas


def test_an_access_list_warms_accounts_and_keys() -> None:
    scene = Scene()
    scene.put(CONTRACT, f"1 SLOAD POP 0x{OTHER.hex()} BALANCE")
    listed = (Access(CONTRACT, ((1).to_bytes(32, "big"),)), Access(OTHER))
    made = AccessListTransaction(1, 0, 100, 100_000, CONTRACT, access_list=listed)
    assert scene.send(made).gas_used == 21_000 + 2 * 2_400 + 1_900 + 3 + 100 + 2 + 3 + 100
    again = scene.transact()
    assert again.gas_used == 21_000 + 3 + 2_100 + 2 + 3 + 2_600, "only for one transaction"


# What cannot be in the block.


def refused(scene: Scene, transaction: Transaction, sender: bytes = SENDER) -> Exception:
    before = scene.journal.write_set()
    with pytest.raises(LanewayError) as caught:
        scene.send(transaction, sender)
    assert scene.journal.write_set() == before, "it leaves no trace"
    return caught.value


def legacy(nonce: int = 0, price: int = 100, gas: int = 21_000, value: int = 0) -> Transaction:
    return LegacyTransaction(nonce, price, gas, OTHER, value)


def test_each_reason_has_its_error() -> None:
    scene = Scene(gas_limit=50_000)
    scene.transact(OTHER, gas_limit=21_000)
    reasons = [
        (legacy(0), NonceTooLow),
        (legacy(2), NonceTooHigh),
        (legacy(1, price=6), FeeBelowBase),
        (legacy(1, gas=30_000), BlockGasExceeded),
        (legacy(1, gas=20_999), IntrinsicGasTooLow),
        (legacy(1, value=RICH), FundsTooLow),
    ]
    for transaction, error in reasons:
        assert type(refused(scene, transaction)) is error
    assert issubclass(NonceTooLow, Excluded)


def test_blobs_have_a_price_and_a_place() -> None:
    scene = Scene(fork=Fork.PRAGUE, blobs=BlobSchedule(1, 2, 100))
    assert type(refused(scene, blob(blob_fee_wei_max=2))) is BlobFeeTooLow
    scene.send(blob())
    assert type(refused(scene, blob(2, nonce=1))) is BlockBlobsExceeded
    assert scene.send(blob(nonce=1)).succeeded
    assert Scene(blobs=BPO2_BLOBS).send(blob(6)).succeeded


def test_a_contract_sends_nothing() -> None:
    scene = Scene(fork=Fork.PRAGUE)
    scene.put(OTHER, "STOP", balance_wei=RICH)
    assert type(refused(scene, legacy(), OTHER)) is SenderHasCode


@pytest.mark.parametrize(("fork", "sends"), [(Fork.CANCUN, False), (Fork.PRAGUE, True)])
def test_an_account_that_delegates_sends_since_prague(fork: Fork, sends: bool) -> None:
    scene = Scene(fork=fork)
    scene.put(SENDER, b"\xef\x01\x00" + CONTRACT, balance_wei=RICH)
    if sends:
        assert scene.send(legacy()).succeeded
    else:
        assert type(refused(scene, legacy())) is SenderHasCode


# Delegations.


def test_a_transaction_to_an_account_that_delegates_runs_the_others_code() -> None:
    scene = Scene()
    scene.put(CONTRACT, "ADDRESS 0 MSTORE 32 0 RETURN")
    scene.put(OTHER, b"\xef\x01\x00" + CONTRACT)
    receipt = scene.transact(OTHER)
    assert receipt.output[12:] == OTHER
    scene.put(CONTRACT, "STOP")


def test_who_is_delegated_to_is_warm() -> None:
    scene = Scene()
    scene.put(CONTRACT, f"0x{CONTRACT.hex()} BALANCE")
    scene.put(OTHER, b"\xef\x01\x00" + CONTRACT)
    assert scene.transact(OTHER).gas_used == 21_000 + 3 + 100


def test_authorizations_that_fit_nobody_cost_their_gas_alone() -> None:
    scene = Scene()
    made = SetCodeTransaction(
        1, 0, 1, 100, 100_000, OTHER, authorizations=(Authorization(5, CONTRACT, 0),)
    )
    receipt = scene.send(made)
    assert (receipt.succeeded, receipt.gas_used) == (True, 46_000)


# What is no transaction's fault.


def test_a_library_that_is_missing_leaves_the_state_as_it_was() -> None:
    class Missing(Exception):
        pass

    def run(data: bytes) -> bytes:
        raise Missing

    scene = Scene()
    known = dict(scene.rules.precompiles)
    known[OTHER] = Precompile("missing", lambda data: 0, run)
    scene.execution.rules = structs.replace(scene.rules, precompiles=known)
    with pytest.raises(Missing):
        scene.transact(OTHER, value_wei=1)
    assert scene.journal.write_set() == WriteSet({}, {}, {})
    assert scene.execution.gas_used == 0


# Transactions that are only tried.


def tried(nonce: int = 9, **fields: Any) -> DynamicFeeTransaction:
    given: dict[str, Any] = {"gas_limit": 100_000, "to": OTHER, "value_wei": 5} | fields
    return DynamicFeeTransaction(1, nonce, 1, 100, **given)


def test_a_simulated_transaction_has_a_receipt_and_leaves_no_trace() -> None:
    scene = Scene()
    scene.put(SENDER, "INVALID", nonce=3, balance_wei=RICH)
    receipt = scene.execution.simulate(tried(gas_limit=20_000_000), SENDER)
    assert (receipt.succeeded, receipt.gas_used, receipt.effective_price_wei) == (True, 21_000, 8)
    assert scene.journal.write_set() == WriteSet({}, {}, {})
    assert scene.execution.gas_used == 0


def test_simulated_transactions_can_build_on_one_another() -> None:
    scene = Scene()
    scene.execution.simulate(tried(), SENDER, is_kept=True)
    assert scene.journal.account(OTHER).balance_wei == 5
    scene.execution.simulate(tried(), SENDER, is_kept=True)
    assert scene.journal.account(OTHER).balance_wei == 10


def test_fees_funds_and_gas_of_a_simulated_transaction_are_checked() -> None:
    execution = Scene().execution
    with pytest.raises(FundsTooLow):
        execution.simulate(tried(value_wei=RICH), SENDER)
    with pytest.raises(IntrinsicGasTooLow):
        execution.simulate(tried(gas_limit=20_999), SENDER)
    with pytest.raises(FeeBelowBase):
        execution.simulate(LegacyTransaction(0, 6, 21_000, OTHER), SENDER)
    with pytest.raises(BlobFeeTooLow):
        execution.simulate(blob(blob_fee_wei_max=2), SENDER)
