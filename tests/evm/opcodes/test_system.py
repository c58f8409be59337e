"""0xF0s: calls, creations and ends."""

import pytest
from tests.evm.scene import CONTRACT, OTHER, SENDER, Scene, assemble, gas_of, halt_of

from laneway.evm import rlp
from laneway.evm.fork import Fork
from laneway.evm.keccak import keccak
from laneway.evm.limits import CALL_DEPTH_MAX, INITCODE_BYTES_MAX, NONCE_MAX
from laneway.evm.opcodes.system import created_address
from laneway.evm.state.view import StateAccount

TO = "0x" + OTHER.hex()
SHA256 = "0x" + "00" * 19 + "02"
RETURNS_ITS_WORLD = "CALLVALUE CALLER ADDRESS 0 MSTORE 32 MSTORE 64 MSTORE 96 0 RETURN"


def scene(code: str = "STOP", fork: Fork = Fork.OSAKA) -> Scene:
    found = Scene(fork=fork)
    found.put(CONTRACT, nonce=1, balance_wei=100)
    found.put(OTHER, code, nonce=1)
    return found


def answered(kind: str, code: str = RETURNS_ITS_WORLD, value: str = "") -> list[int]:
    """Address, caller and value as the called code sees them, in a frame with a value of 9."""
    frame = scene(code).run(f"96 0 0 0 {value} {TO} 50000 {kind}", caller=SENDER, value_wei=9)
    assert frame.stack == [1]
    return [int.from_bytes(frame.memory[at : at + 32], "big") for at in (0, 32, 64)]


def number(address: bytes) -> int:
    return int.from_bytes(address, "big")


def test_each_kind_of_call_has_its_own_address_caller_and_value() -> None:
    other, contract, sender = number(OTHER), number(CONTRACT), number(SENDER)
    assert answered("CALL", value="5") == [other, contract, 5]
    assert answered("CALLCODE", value="5") == [contract, contract, 5]
    assert answered("DELEGATECALL") == [contract, sender, 9]
    assert answered("STATICCALL") == [other, contract, 0]


def test_a_frame_ends_as_it_says() -> None:
    assert Scene().run("STOP 1").stack == []
    assert Scene().run("7 0 MSTORE8 2 0 RETURN").output == b"\x07\x00"
    reverted = Scene().run("7 0 MSTORE8 2 0 REVERT")
    assert (reverted.is_reverted, reverted.output) == (True, b"\x07\x00")
    assert halt_of("0xffffffffff 0 RETURN") == "out of gas"


WARM = 2_500
GAS = [
    # What is called, the gas beside its seven or six pushes, and what the callee used.
    (f"0 0 0 0 0 {TO} 0 CALL", 2_600),
    (f"0 0 0 0 1 {TO} 0 CALL", 2_600 + 9_000 - 2_300),
    ("0 0 0 0 1 0x1234 0 CALL", 2_600 + 9_000 + 25_000 - 2_300),
    ("0 0 0 0 0 0x1234 0 CALL", 2_600),
    (f"0 0 0 0 1 {TO} 0 CALLCODE", 2_600 + 9_000 - 2_300),
    (f"0 0 0 0 {TO} 0 DELEGATECALL", 2_600),
    (f"0 0 0 0 {TO} 0 STATICCALL", 2_600),
    (f"32 0 32 32 0 {TO} 0 CALL", 2_600 + 6),
]


@pytest.mark.parametrize(("code", "gas"), GAS)
def test_a_call_costs_what_its_account_and_value_cost(code: str, gas: int) -> None:
    pushes = sum(2 if word == "0" else 3 for word in code.split()[:-1])
    assert gas_of(code, scene=scene()) == gas + pushes


def test_a_call_gets_all_but_a_64th_at_most() -> None:
    found = scene("GAS 0 MSTORE 32 0 RETURN")
    frame = found.run(f"32 0 0 0 0 {TO} GAS CALL", gas=66_619)
    left = 66_619 - 3 - 2 * 4 - 3 - 2 - 2_600 - 3
    assert int.from_bytes(frame.memory, "big") == left - left // 64 - 2
    less = found.run(f"32 0 0 0 0 {TO} 1000 CALL")
    assert int.from_bytes(less.memory, "big") == 998


def test_a_call_with_value_brings_a_stipend() -> None:
    frame = scene("GAS 0 MSTORE 32 0 RETURN").run(f"32 0 0 0 1 {TO} 0 CALL")
    assert int.from_bytes(frame.memory, "big") == 2_298


@pytest.mark.parametrize("kind", ["CALL", "CALLCODE"])
def test_who_has_too_little_calls_nobody_and_keeps_the_gas(kind: str) -> None:
    frame = scene().run(f"0 0 0 0 101 {TO} 5000 {kind} RETURNDATASIZE", gas=100_000)
    assert frame.stack == [0, 0]
    assert 100_000 - frame.gas == 4 * 2 + 3 * 3 + 2_600 + 9_000 + 2 - 2_300


@pytest.mark.parametrize(
    "code",
    [
        f"0 0 0 0 0 {TO} 5000 CALL",
        f"0 0 0 0 0 {TO} 5000 CALLCODE",
        f"0 0 0 0 {TO} 5000 DELEGATECALL",
        f"0 0 0 0 {TO} 5000 STATICCALL",
        "0 0 0 CREATE",
        "0 0 0 0 CREATE2",
    ],
)
def test_nothing_is_called_below_the_deepest_frame(code: str) -> None:
    found = scene("1 0 MSTORE 32 0 RETURN")
    assert found.run(code, depth=CALL_DEPTH_MAX).stack == [0]
    assert found.run(code, depth=CALL_DEPTH_MAX - 1).stack != [0]


def test_no_value_leaves_a_static_call() -> None:
    assert halt_of(f"0 0 0 0 1 {TO} 5000 CALL", scene=scene(), is_static=True) == "write protection"
    kept = scene().run(f"0 0 0 0 0 {TO} 5000 CALL", is_static=True)
    assert kept.stack == [1]


@pytest.mark.parametrize("kind", ["CALL", "CALLCODE", "DELEGATECALL", "STATICCALL"])
def test_a_call_out_of_a_static_call_is_static(kind: str) -> None:
    found = scene("1 1 SSTORE")
    value = "0" if kind in ("CALL", "CALLCODE") else ""
    frame = found.run(f"0 0 0 0 {value} {TO} 50000 {kind}", is_static=True)
    assert frame.stack == [0]


def test_a_precompile_is_called_like_an_account() -> None:
    frame = scene().run(f"32 0 0 0 {SHA256} 5000 STATICCALL")
    assert frame.stack == [1]
    assert frame.memory[:4].hex() == "e3b0c442"


# Delegations (EIP-7702).


def delegating(fork: Fork = Fork.OSAKA, target: bytes = CONTRACT) -> Scene:
    found = Scene(fork=fork)
    found.put(CONTRACT, "7 0 MSTORE 32 0 RETURN")
    found.put(OTHER, b"\xef\x01\x00" + target)
    return found


def test_an_account_that_delegates_runs_the_others_code_and_its_caller_pays_for_both() -> None:
    found = delegating()
    code = f"32 0 0 0 0 {TO} 50000 CALL"
    cold = gas_of(code, scene=found)
    warm = gas_of(code, scene=found)
    # The frame's own account is warm only in a transaction.
    assert cold - warm == 2 * 2_500
    assert found.run(code).memory[31] == 7


def test_before_prague_a_delegation_is_code_that_nobody_can_run() -> None:
    frame = delegating(Fork.CANCUN).run(f"32 0 0 0 0 {TO} 50000 CALL")
    assert frame.stack == [0]


def test_a_delegation_to_a_precompile_runs_nothing() -> None:
    found = delegating(target=bytes.fromhex(SHA256[2:]))
    assert found.run(f"32 0 0 0 0 {TO} 50000 CALL RETURNDATASIZE").stack == [1, 0]


def test_a_delegation_is_followed_once() -> None:
    found = delegating(target=SENDER)
    found.put(SENDER, b"\xef\x01\x00" + CONTRACT)
    assert found.run(f"32 0 0 0 0 {TO} 50000 CALL").stack == [0]


# Creations.


def test_a_contract_is_created_at_the_address_of_its_creator_and_nonce() -> None:
    found = scene()
    frame = found.run("0x00 0 MSTORE8 1 0 3 CREATE")
    assert frame.stack == [number(created_address(CONTRACT, 1))]
    made = found.journal.account(created_address(CONTRACT, 1))
    assert (made.nonce, made.balance_wei) == (1, 3)
    assert found.journal.account(CONTRACT).nonce == 2


def test_a_contract_is_created_at_the_address_of_its_creator_salt_and_code() -> None:
    initcode = assemble("1 0 RETURN")
    seed = b"\xff" + CONTRACT + (9).to_bytes(32, "big") + keccak(initcode)
    code = f"0x{initcode.hex()} 0 MSTORE 9 {len(initcode)} {32 - len(initcode)} 0 CREATE2"
    frame = scene().run(code)
    assert frame.stack == [number(keccak(seed)[12:])]


def test_an_address_of_a_creation_is_that_of_rlp() -> None:
    assert created_address(SENDER, 0) == keccak(rlp.encode((SENDER, 0)))[12:]


@pytest.mark.parametrize(
    ("code", "gas"),
    [
        ("0 0 0 CREATE", 32_000 + 6),
        ("33 0 0 CREATE", 32_000 + 7 + 6 + 4),
        ("0 33 0 0 CREATE2", 32_000 + 9 + 6 + 16),
    ],
)
def test_a_creation_costs_by_the_words_of_its_code(code: str, gas: int) -> None:
    assert gas_of(code, scene=scene()) == gas


@pytest.mark.parametrize("code", ["0 0 101 CREATE", "0 0 0 101 CREATE2"])
def test_who_has_too_little_creates_nothing_and_keeps_the_nonce(code: str) -> None:
    found = scene()
    assert found.run(code).stack == [0]
    assert found.journal.account(CONTRACT).nonce == 1


def test_who_has_the_last_nonce_creates_nothing() -> None:
    found = scene()
    found.put(CONTRACT, nonce=NONCE_MAX)
    assert found.run("0 0 0 CREATE").stack == [0]


def test_a_creation_on_a_taken_address_takes_the_gas_and_the_nonce() -> None:
    found = scene()
    found.put(created_address(CONTRACT, 1), nonce=1)
    frame = found.run("0 0 0 CREATE", gas=96_006)
    assert (frame.stack, frame.gas) == ([0], 64_000 // 64)
    assert found.journal.account(CONTRACT).nonce == 2


def test_initcode_has_a_bound() -> None:
    most = INITCODE_BYTES_MAX
    assert halt_of(f"{most + 1} 0 0 CREATE", scene=scene()) == "max initcode size exceeded"
    assert scene().run(f"{most} 0 0 CREATE").stack != [0]


@pytest.mark.parametrize("code", ["0 0 0 CREATE", "0 0 0 0 CREATE2", f"{TO} SELFDESTRUCT"])
def test_nothing_is_created_or_destroyed_in_a_static_call(code: str) -> None:
    assert halt_of(code, scene=scene(), is_static=True) == "write protection"


# Destructions (EIP-6780).


@pytest.mark.parametrize(
    ("beneficiary", "gas"), [(TO, 5_000 + 2_600), ("0x1234", 5_000 + 2_600 + 25_000)]
)
def test_all_of_the_balance_goes_to_the_beneficiary(beneficiary: str, gas: int) -> None:
    found = scene()
    address = bytes.fromhex(beneficiary[2:]).rjust(20, b"\0")
    assert gas_of(f"{beneficiary} SELFDESTRUCT", scene=found) == gas + 3
    assert found.journal.account(address).balance_wei == 100
    assert found.journal.account(CONTRACT) == StateAccount(1)
    assert found.journal.destroyed == {}


def test_a_warm_beneficiary_costs_less_and_without_a_balance_a_new_one_nothing() -> None:
    found = scene()
    found.journal.warm_account(OTHER)
    assert gas_of(f"{TO} SELFDESTRUCT", scene=found) == 5_003
    assert gas_of("0x1234 SELFDESTRUCT", scene=found) == 7_603


def test_an_old_contract_that_sends_itself_all_keeps_it() -> None:
    found = scene()
    found.run("ADDRESS SELFDESTRUCT")
    assert found.journal.account(CONTRACT).balance_wei == 100


def test_what_the_same_transaction_made_is_destroyed_with_what_it_sends_itself() -> None:
    found = scene()
    found.journal.mark_created(CONTRACT)
    found.run("ADDRESS SELFDESTRUCT")
    assert found.journal.account(CONTRACT).balance_wei == 0
    assert found.journal.destroyed == {CONTRACT: None}
