"""0x50s: memory, storage and gas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evm.scene import CONTRACT, SENDER, Scene, gas_of, halt_of, word_of

from laneway.evm.opcodes.memory import refund


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("7 0 MSTORE 0 MLOAD", 7),
        ("7 1 MSTORE 0 MLOAD 1 MLOAD POP", 0),
        ("7 0 MSTORE 1 MLOAD", 7 << 8),
        ("0x01ff 31 MSTORE8 0 MLOAD", 0xFF),
        ("MSIZE", 0),
        ("33 MLOAD POP MSIZE", 96),
        ("0x1122 0 MSTORE 2 30 0 MCOPY 0 MLOAD 240 SHR", 0x1122),
        ("0x112233 0 MSTORE 3 29 30 MCOPY 0 MLOAD", 0x111122),
        ("5 9 TSTORE 9 TLOAD", 5),
        ("9 TLOAD", 0),
        ("5 9 SSTORE 9 SLOAD", 5),
        ("1 SLOAD", 11),
        ("3 4 POP", 3),
        ("3 POP PC", 3),
    ],
)
def test_what_is_written_is_read(code: str, word: int) -> None:
    scene = Scene()
    scene.put(CONTRACT, storage={1: 11})
    assert word_of(code, scene=scene) == word


def test_gas_is_what_is_left_after_asking() -> None:
    assert Scene().run("GAS", gas=100).stack == [98]


def test_a_copy_in_memory_costs_by_the_word_and_for_the_higher_of_both_ranges() -> None:
    assert gas_of("32 32 0 MCOPY") == 8 + 3 + 3 + 6
    assert gas_of("32 0 32 MCOPY") == 8 + 3 + 3 + 6
    assert gas_of("0 0 0xffffffffffffffff MCOPY") == 7 + 3


STORES = [
    # Values in their order, the gas of the writes, the refund: the table of EIP-3529.
    ((0, 0), 0, 200, 0),
    ((0, 1), 0, 20_100, 0),
    ((1, 0), 0, 20_100, 19_900),
    ((1, 2), 0, 20_100, 0),
    ((1, 1), 0, 20_100, 0),
    ((0, 0), 1, 3_000, 4_800),
    ((0, 1), 1, 3_000, 2_800),
    ((0, 2), 1, 3_000, 0),
    ((2, 0), 1, 3_000, 4_800),
    ((2, 3), 1, 3_000, 0),
    ((2, 1), 1, 3_000, 2_800),
    ((2, 2), 1, 3_000, 0),
    ((1, 0), 1, 3_000, 4_800),
    ((1, 2), 1, 3_000, 0),
    ((1, 1), 1, 200, 0),
]


@pytest.mark.parametrize(("values", "original", "gas", "refunded"), STORES)
def test_writes_cost_and_refund_what_eip_3529_lists(
    values: tuple[int, ...], original: int, gas: int, refunded: int
) -> None:
    scene = Scene()
    scene.put(CONTRACT, storage={0: original})
    scene.journal.storage(CONTRACT).warm[0] = None
    code = " ".join(f"{value} 0 SSTORE" for value in values)
    pushes = sum(2 + (2 if value == 0 else 3) for value in values)
    assert gas_of(code, scene=scene) == gas + pushes
    assert scene.journal.refund == refunded


@given(st.integers(0, 2), st.lists(st.integers(0, 2), max_size=6))
def test_refunds_add_up_to_what_the_last_value_is_worth(original: int, values: list[int]) -> None:
    """However often it changes between: the refund of clearing is promised once at most."""
    current, cleared = original, 0
    for value in values:
        if value != current:
            cleared += refund(original, current, value)
            current = value
    restored = 2_800 if original else 19_900
    times = sum(
        1
        for before, after in zip([original, *values], values, strict=False)
        if after == original != before
    )
    assert cleared == times * restored + (4_800 if original and not current else 0)


def test_a_cold_key_is_dear_once() -> None:
    scene = Scene()
    assert gas_of("1 SLOAD", scene=scene) == 2_103
    assert gas_of("1 SLOAD", scene=scene) == 103
    assert gas_of("1 2 SSTORE", scene=scene) == 6 + 2_100 + 20_000


def test_a_call_with_the_stipend_alone_writes_nothing() -> None:
    code = "1 0 SSTORE"
    scene = Scene()
    scene.put(CONTRACT, storage={0: 1})
    scene.journal.storage(CONTRACT).warm[0] = None
    assert halt_of(code, gas=2_305, scene=scene) == "out of gas"
    scene.journal.storage(CONTRACT).warm[0] = None
    assert scene.run(code, gas=2_306).is_good()
    assert halt_of("1 9 SSTORE", gas=10_000) == "out of gas", "it is paid before it is written"


@pytest.mark.parametrize("code", ["1 1 SSTORE", "1 1 TSTORE"])
def test_nothing_is_written_in_a_static_call(code: str) -> None:
    assert halt_of(code, is_static=True) == "write protection"


def test_transient_storage_is_each_accounts_own() -> None:
    scene = Scene()
    scene.run("5 9 TSTORE")
    assert scene.journal.transient == {(CONTRACT, 9): 5}
    assert word_of("9 TLOAD", scene=scene, address=SENDER) == 0
