"""System contracts, withdrawals and requests."""

import pytest
from tests.evm.scene import CONTRACT, OTHER, Scene, assemble

from laneway.evm.execution import system_calls as s
from laneway.evm.fork import Fork
from laneway.evm.header import Withdrawal
from laneway.evm.opcodes.logs import EvmLog

STORES = "0 CALLDATALOAD 0 SSTORE CALLER 1 SSTORE"
"""A contract that keeps what it is called with."""
PARENT, BEACON = b"\x01" * 32, b"\x02" * 32


def opened(fork: Fork) -> Scene:
    scene = Scene(fork=fork)
    for address in (s.BEACON_ROOTS, s.HISTORY):
        scene.put(address, STORES)
    s.open_block(scene.execution, parent_hash=PARENT, parent_beacon_root=BEACON)
    return scene


def kept(scene: Scene, address: bytes) -> int:
    return scene.journal.storage(address).load(0)


def test_a_block_opens_with_its_parents_hashes() -> None:
    scene = opened(Fork.PRAGUE)
    assert kept(scene, s.BEACON_ROOTS) == int.from_bytes(BEACON, "big")
    assert kept(scene, s.HISTORY) == int.from_bytes(PARENT, "big")
    caller = scene.journal.storage(s.HISTORY).load(1)
    assert caller == int.from_bytes(s.SYSTEM_ADDRESS, "big")
    assert scene.execution.gas_used == 0
    assert s.SYSTEM_ADDRESS not in scene.journal.write_set().accounts


def test_before_prague_no_hash_of_a_block_is_kept() -> None:
    assert kept(opened(Fork.CANCUN), s.HISTORY) == 0


def test_without_its_contract_a_hash_is_kept_nowhere() -> None:
    scene = Scene()
    s.open_block(scene.execution, parent_hash=PARENT, parent_beacon_root=BEACON)
    assert scene.journal.write_set().storage == {}


def test_withdrawals_are_paid_in_gwei() -> None:
    scene = Scene(fork=Fork.CANCUN)
    paid = [Withdrawal(0, 0, OTHER, 3), Withdrawal(1, 0, OTHER, 4), Withdrawal(2, 0, CONTRACT, 0)]
    assert s.close_block(scene.execution, paid, []) == ()
    assert scene.journal.account(OTHER).balance_wei == 7 * 10**9
    assert CONTRACT not in scene.journal.write_set().accounts


def answering(first: str = "", second: str = "") -> Scene:
    """System contracts that return one byte each."""
    scene = Scene()
    scene.put(s.WITHDRAWAL_REQUESTS, first or "7 0 MSTORE8 1 0 RETURN")
    scene.put(s.CONSOLIDATION_REQUESTS, second or "8 0 MSTORE8 1 0 RETURN")
    return scene


def deposit_data(**changed: bytes) -> bytes:
    fields = {"key": b"\x0a" * 48, "to": b"\x0b" * 32, "gwei": b"\x0c" * 8}
    fields |= {"signature": b"\x0d" * 96, "index": b"\x0e" * 8} | changed
    head, tail = b"", b""
    for field in fields.values():
        head += (160 + len(tail)).to_bytes(32, "big")
        tail += len(field).to_bytes(32, "big") + field.ljust((len(field) + 31) // 32 * 32, b"\0")
    return head + tail


def test_requests_are_what_logs_and_contracts_say() -> None:
    logs = [
        EvmLog(s.DEPOSITS, (s.DEPOSIT_TOPIC,), deposit_data()),
        EvmLog(OTHER, (s.DEPOSIT_TOPIC,), b""),
        EvmLog(s.DEPOSITS, (), b""),
    ]
    wanted = b"\x0a" * 48 + b"\x0b" * 32 + b"\x0c" * 8 + b"\x0d" * 96 + b"\x0e" * 8
    found = s.close_block(answering().execution, [], logs)
    assert found == (b"\x00" + wanted, b"\x01\x07", b"\x02\x08")


def test_requests_that_are_empty_are_left_out() -> None:
    found = s.close_block(answering(second="STOP").execution, [], [])
    assert found == (b"\x01\x07",)
    assert s.requests_hash([]).hex().startswith("e3b0c442")
    assert s.requests_hash(found) != s.requests_hash([])


@pytest.mark.parametrize("code", ["INVALID", "0 0 REVERT"])
def test_a_block_whose_system_contract_fails_is_none(code: str) -> None:
    with pytest.raises(s.SystemCallFailed, match="is missing or failed"):
        s.close_block(answering(first=code).execution, [], [])
    with pytest.raises(s.SystemCallFailed):
        s.close_block(Scene().execution, [], [])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        deposit_data() + b"\0",
        deposit_data(key=b"\x0a" * 47),
        (161).to_bytes(32, "big") + deposit_data()[32:],
    ],
)
def test_a_deposit_of_another_form_is_refused(data: bytes) -> None:
    with pytest.raises(s.MalformedDeposit):
        s.deposit(data)


def test_the_code_of_a_system_contract_is_the_accounts_own() -> None:
    scene = Scene()
    scene.put(OTHER, assemble("CALLER 0 MSTORE 32 0 RETURN"))
    frame = s.call_system(scene.execution, OTHER, b"")
    assert frame is not None
    assert frame.output[12:] == s.SYSTEM_ADDRESS
