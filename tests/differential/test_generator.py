from random import Random

from tests.differential.assembly import OPCODES, assemble, disassemble, opcodes, push
from tests.differential.case import Case
from tests.differential.generator import case_named, make_case
from tests.differential.shrink import Shrinker, without

FEW = range(60)


def test_a_seed_is_one_case() -> None:
    assert [make_case(seed).request() for seed in FEW] == [
        make_case(seed).request() for seed in FEW
    ]


def test_the_cases_have_every_fork_and_every_type() -> None:
    cases = [make_case(seed) for seed in FEW]
    types = {draft.transaction.type for case in cases for draft in case.drafts}
    assert types == {0, 1, 2, 3, 4}
    assert {case.fork for case in cases} >= {"Cancun", "Prague", "Osaka"}


def test_a_name_gives_one_transaction_another_gas_limit() -> None:
    plain, changed = case_named("3"), case_named("3/0=77777")
    assert changed.drafts[0].transaction.gas_limit == 77_777
    assert changed.drafts[1:] == plain.drafts[1:]
    assert changed.accounts == plain.accounts


def test_labels_are_places_of_the_assembled_code() -> None:
    code = assemble([(1, ":again", "@again", "JUMP"), (":again", "@End", "JUMP", ":End")])
    assert code.hex() == "60015b610002565b61000c565b"
    assert [text for _, text in disassemble(code)] == [
        *("PUSH1 0x01", "JUMPDEST", "PUSH2 0x0002", "JUMP"),
        *("JUMPDEST", "PUSH2 0x000c", "JUMP", "JUMPDEST"),
    ]


def test_what_is_cut_off_is_said() -> None:
    assert [*disassemble(b"\x0c\x61\x01")] == [
        (0, "byte 0x0c"),
        (1, "PUSH2 0x01 (cut off at 1 bytes)"),
    ]


def test_every_opcode_assembles_to_its_byte() -> None:
    assert len({one.byte for one in OPCODES.values()}) == len(OPCODES) == 150
    assert len(opcodes("Osaka")) == len(opcodes("Prague")) + 1
    assert push(0) == b"\x5f"
    assert push(0, 2) == b"\x61\x00\x00"


def test_a_case_shrinks_to_what_matters() -> None:
    case = make_case(2)
    wanted = case.drafts[-1].transaction

    def differs(tried: Case) -> bool:
        return any(draft.transaction.to == wanted.to for draft in tried.drafts)

    small = Shrinker(differs).shrink(case)
    assert len(small.drafts) == 1
    assert len(small.accounts) <= 1


def test_shorter_tuples_leave_out_each_part() -> None:
    items = tuple(Random(1).sample(range(100), 7))
    shorter = [*without(items)]
    assert shorter[0] == ()
    assert {len(one) for one in shorter} >= {6, 4}
    assert all(len(one) < len(items) for one in shorter)
