"""0x20s."""

import pytest
from tests.evm.scene import gas_of, word_of

from laneway.evm.keccak import keccak
from laneway.evm.opcodes.hashing import mapping_key


def test_a_range_of_memory_is_hashed() -> None:
    wanted = int.from_bytes(keccak(bytes(31) + b"\x07"), "big")
    assert word_of("7 0 MSTORE 32 0 KECCAK256") == wanted
    assert word_of("0 0x" + "ff" * 32 + " KECCAK256") == int.from_bytes(keccak(b""), "big")


@pytest.mark.parametrize(("size", "gas"), [(0, 34), (1, 44), (32, 44), (33, 53)])
def test_it_costs_by_the_word_and_for_new_memory(size: int, gas: int) -> None:
    assert gas_of(f"{size} 0 KECCAK256") == gas


def test_the_key_of_a_mappings_entry_is_the_hash_of_both() -> None:
    entry = bytes(31) + b"\x01" + bytes(31) + b"\x02"
    assert mapping_key(entry) == mapping_key(entry) == int.from_bytes(keccak(entry), "big")
