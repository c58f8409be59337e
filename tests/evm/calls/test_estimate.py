"""How much gas a transaction needs."""

from typing import Any

import pytest
from tests.evm.scene import CONTRACT, OTHER, SENDER, Scene

from laneway.evm.abi.reverts import PANIC
from laneway.evm.calls.call import call
from laneway.evm.calls.errors import CallFailed, GasAllowanceExceeded
from laneway.evm.calls.estimate import estimate
from laneway.evm.calls.request import CallRequest
from laneway.evm.errors import FeeBelowBase, FundsTooLow
from laneway.evm.fork import Fork
from laneway.evm.limits import BLOB_GAS, CALL_GAS_MAX, TRANSACTION_GAS_MAX

BLOB_HASH = b"\x01" + bytes(31)


def estimated(scene: Scene, tolerance_permille: int = 0, **fields: Any) -> int:
    given: dict[str, Any] = {"sender": SENDER, "to": CONTRACT} | fields
    request = CallRequest(**given)
    return estimate(
        scene.state, scene.block, scene.rules, request, tolerance_permille=tolerance_permille
    )


def is_least(scene: Scene, gas: int, **fields: Any) -> bool:
    """Whether a call succeeds with this gas and with one unit less it does not."""

    def good(limit: int) -> bool:
        given: dict[str, Any] = {"sender": SENDER, "to": CONTRACT} | fields | {"gas": limit}
        request = CallRequest(**given)
        return call(scene.state, scene.block, scene.rules, request).is_good()

    return good(gas) and not good(gas - 1)


def test_a_plain_transfer_needs_21_000() -> None:
    scene = Scene()
    assert estimated(scene, to=OTHER, value_wei=1) == 21_000
    assert estimated(scene, to=OTHER, access_list=()) == 21_000


def test_data_has_its_floor() -> None:
    """EIP-7623: 40 gas for a byte beside zero, where nothing is executed."""
    assert estimated(Scene(), to=OTHER, data=b"\1\1") == 21_080
    assert estimated(Scene(fork=Fork.CANCUN), to=OTHER, data=b"\1\1") == 21_032


def test_the_least_that_suffices_is_found_where_calls_keep_a_64th() -> None:
    scene = Scene()
    scene.put(OTHER, "1 1 SSTORE 1 2 SSTORE")
    # Fails if the inner call does; it has 63 of 64 parts of the gas.
    scene.put(
        CONTRACT, f"0 0 0 0 0 0x{OTHER.hex()} GAS CALL 46 JUMPI 0 0 REVERT " + "JUMPDEST " * 30
    )
    gas = estimated(scene)
    assert is_least(scene, gas)
    request = CallRequest(sender=SENDER, to=CONTRACT)
    used = call(scene.state, scene.block, scene.rules, request).gas_used
    assert gas > used
    about = estimated(scene, tolerance_permille=15)
    assert gas <= about <= gas * 1.015


def test_gas_that_comes_back_is_needed_first() -> None:
    scene = Scene()
    scene.put(CONTRACT, "0 1 SSTORE", storage={1: 5})
    gas = estimated(scene)
    assert gas == 21_000 + 5 + 5_000
    request = CallRequest(sender=SENDER, to=CONTRACT)
    assert call(scene.state, scene.block, scene.rules, request).gas_used == gas - 4_800


def test_code_that_asks_for_much_gas_has_as_much() -> None:
    scene = Scene()
    # Reverts unless a million is left.
    scene.put(CONTRACT, "1000000 GAS GT 12 JUMPI 0 0 REVERT JUMPDEST")
    gas = estimated(scene)
    assert 1_021_000 < gas < 1_021_100


def test_a_revert_is_the_reason_whatever_the_gas() -> None:
    scene = Scene()
    scene.put(CONTRACT, "0x4e487b71 224 SHL 0 MSTORE 17 4 MSTORE 36 0 REVERT")
    with pytest.raises(CallFailed, match="arithmetic") as failed:
        estimated(scene)
    assert failed.value.output == PANIC + (17).to_bytes(32, "big")


def test_a_halt_is_the_reason_unless_it_is_for_gas() -> None:
    scene = Scene()
    scene.put(CONTRACT, "INVALID")
    with pytest.raises(CallFailed, match="invalid opcode"):
        estimated(scene)
    scene.put(OTHER, "JUMPDEST 0 JUMP")
    with pytest.raises(GasAllowanceExceeded, match=r"exceeds allowance \(100000\)"):
        estimated(scene, to=OTHER, gas=100_000)


def test_the_allowance_is_the_least_of_request_block_fork_and_cap() -> None:
    def exceeded(fork: Fork, block_gas: int, gas: int | None) -> int:
        # A memory that nobody can pay for.
        scene = Scene(fork=fork, gas_limit=block_gas)
        scene.put(CONTRACT, "0xffffffffff MLOAD")
        with pytest.raises(GasAllowanceExceeded) as refused:
            estimated(scene, gas=gas)
        return int(refused.value.operands["gas"])

    assert exceeded(Fork.PRAGUE, 30_000_000, None) == 30_000_000
    assert exceeded(Fork.OSAKA, 30_000_000, None) == TRANSACTION_GAS_MAX
    assert exceeded(Fork.PRAGUE, 30_000_000, 40_000_000) == 40_000_000
    assert exceeded(Fork.PRAGUE, 90_000_000, None) == CALL_GAS_MAX
    assert exceeded(Fork.PRAGUE, 90_000, 20_999) == 90_000


def test_with_a_price_the_sender_must_be_able_to_pay() -> None:
    scene = Scene()
    scene.state.put(SENDER, balance_wei=10_000_000)
    scene.put(CONTRACT, "JUMPDEST 0 JUMP")
    with pytest.raises(GasAllowanceExceeded, match=r"\(100000\)"):
        estimated(scene, gas_price_wei=100)
    with pytest.raises(GasAllowanceExceeded, match=r"\(50000\)"):
        estimated(scene, gas_price_wei=100, value_wei=5_000_000)
    with pytest.raises(FundsTooLow):
        estimated(scene, gas_price_wei=100, value_wei=10_000_000)
    with pytest.raises(FundsTooLow):
        estimated(scene, gas_price_wei=100, blob_hashes=(BLOB_HASH,), blob_fee_wei_max=BLOB_GAS)
    with pytest.raises(FeeBelowBase):
        estimated(scene, gas_price_wei=6)
    with pytest.raises(GasAllowanceExceeded, match=r"\(100\)"):
        estimated(scene, to=None, gas_price_wei=100_000)


def test_an_allowance_that_just_suffices_is_searched_to_its_end() -> None:
    scene = Scene()
    scene.put(CONTRACT, "1 POP")
    assert estimated(scene) == 21_005
    assert estimated(scene, gas=21_006) == estimated(scene, gas=21_005) == 21_005
    with pytest.raises(GasAllowanceExceeded):
        estimated(scene, gas=21_004)


def test_a_creation_is_estimated_too() -> None:
    scene = Scene()
    gas = estimated(scene, to=None, data=b"\x5f\x5f\xf3")
    assert is_least(scene, gas, to=None, data=b"\x5f\x5f\xf3")
