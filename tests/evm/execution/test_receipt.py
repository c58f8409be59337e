"""Receipts and their filter."""

from laneway.evm import rlp
from laneway.evm.execution.receipt import EvmReceipt, bloom
from laneway.evm.opcodes.logs import EvmLog

ADDRESS = bytes.fromhex("0000000000000000000000000000000000000011")
LOG = EvmLog(ADDRESS, ((0xDEAD).to_bytes(32, "big"),), b"\x01")


def receipt(type_: int) -> EvmReceipt:
    return EvmReceipt(
        type=type_, succeeded=True, gas_used=21_000, effective_price_wei=8, logs=(LOG,)
    )


def test_a_filter_has_three_bits_at_most_of_each_entry() -> None:
    assert bloom([]) == bytes(256)
    bits = int.from_bytes(bloom([LOG]), "big")
    assert 2 <= bits.bit_count() <= 6
    alone = int.from_bytes(bloom([EvmLog(ADDRESS, (), b"")]), "big")
    assert bits & alone == alone


def test_a_receipt_stands_in_the_trie_with_the_gas_of_all_before_it() -> None:
    fields = rlp.decode(receipt(0).encode(50_000))
    assert fields == (
        b"\x01",
        (50_000).to_bytes(2, "big"),
        bloom([LOG]),
        ((ADDRESS, LOG.topics, b"\x01"),),
    )
    assert receipt(2).encode(50_000) == b"\x02" + receipt(0).encode(50_000)
    assert receipt(2).bloom() == bloom([LOG])


def test_a_receipt_without_logs_has_an_empty_filter() -> None:
    failed = EvmReceipt(type=0, succeeded=False, gas_used=21_000, effective_price_wei=8)
    assert rlp.decode(failed.encode(21_000)) == (b"", b"\x52\x08", bytes(256), ())
