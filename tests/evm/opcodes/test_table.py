"""The tables that the loop reads."""

from laneway.evm.fork import Fork
from laneway.evm.opcodes import system
from laneway.evm.opcodes.table import opcode_table


def test_every_number_has_a_row_and_an_unknown_one_is_invalid() -> None:
    table = opcode_table(Fork.CANCUN)
    for column in (table.gas, table.plain, table.framed, table.needs, table.bounds):
        assert len(column) == 256
    assert len(table.known) == 149
    assert table.framed[0x0C] is table.framed[0xFE] is system.invalid


def test_osaka_has_one_opcode_more() -> None:
    cancun, osaka = opcode_table(Fork.CANCUN).known, opcode_table(Fork.OSAKA).known
    assert {number: osaka[number].name for number in osaka.keys() - cancun.keys()} == {0x1E: "CLZ"}
    assert opcode_table(Fork.PRAGUE).known == cancun


def test_a_table_is_made_once() -> None:
    assert opcode_table(Fork.CANCUN) is opcode_table(Fork.CANCUN)


def test_a_row_has_one_way_to_be_done_at_most() -> None:
    for number, opcode in opcode_table(Fork.OSAKA).known.items():
        assert opcode.plain is None or opcode.framed is None, opcode.name
        is_loops_own = 0x56 <= number <= 0x57 or number == 0x5B or 0x5F <= number < 0xA0
        assert (opcode.plain is opcode.framed is None) == is_loops_own, opcode.name
