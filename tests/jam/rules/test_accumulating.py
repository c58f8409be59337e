"""Laws of a block's gas: how far it goes, and to whom."""

from msgspec.structs import replace
from tests.jam.rules.stage import AUTHORIZER, RESULT, exports, package, report

from laneway.jam.report import Ok, WorkReport
from laneway.jam.rules.accumulating import accumulate_gas, block_gas, round_count, turns
from laneway.jam.service.interface import Operand
from laneway.jam.spec import FULL, TINY


def gas_report(name: str, *gas: int) -> WorkReport:
    return report(name, results=tuple(replace(RESULT, accumulate_gas=one) for one in gas))


def test_a_block_has_gas_for_the_report_of_every_core() -> None:
    assert block_gas(TINY, {}) == 20_000_000
    assert block_gas(FULL, {}) == 3_500_000_000
    assert block_gas(replace(TINY, name="other", core_count=3), {}) == 30_000_000


def test_free_gas_is_added_to_that_of_the_cores() -> None:
    assert block_gas(TINY, {1: 5, 2: 7}) == 20_000_012
    assert block_gas(FULL, {1: 5}) == 3_500_000_000
    assert block_gas(FULL, {1: 100_000_000}) == 3_510_000_000


def test_a_round_takes_reports_from_the_first_on_while_their_limits_fit() -> None:
    reports = [gas_report("a", 3, 4), gas_report("b", 5), gas_report("c", 1)]
    assert [accumulate_gas(one) for one in reports] == [7, 5, 1]
    assert [round_count(reports, gas) for gas in (0, 6, 7, 11, 12, 13, 99)] == [
        0, 0, 1, 1, 2, 3, 3,
    ]  # fmt: skip
    assert round_count([], 10) == 0


def test_a_small_report_does_not_overtake_a_large_one() -> None:
    assert round_count([gas_report("a", 9), gas_report("b", 1)], 5) == 0


def test_a_service_is_told_its_results_in_the_order_of_the_reports() -> None:
    other = replace(RESULT, service_id=7, payload_hash=package("payload"), result=Ok(b"other"))
    reports = [report("a", results=(RESULT, other, RESULT)), report("b", auth_output=b"trace")]
    seven, forty_two = turns(reports, {})
    assert (seven.service_id, seven.gas) == (7, RESULT.accumulate_gas)
    assert seven.operands == (
        Operand(
            package_hash=package("a"),
            exports_root=exports("a"),
            authorizer_hash=AUTHORIZER,
            payload_hash=package("payload"),
            gas=RESULT.accumulate_gas,
            result=Ok(b"other"),
            auth_trace=b"",
        ),
    )
    assert (forty_two.service_id, forty_two.gas) == (42, 3 * RESULT.accumulate_gas)
    assert [one.package_hash for one in forty_two.operands] == [
        package("a"), package("a"), package("b"),
    ]  # fmt: skip
    assert forty_two.operands[-1].auth_trace == b"trace"


def test_a_service_with_free_gas_has_a_turn_without_a_report() -> None:
    assert [(one.service_id, one.gas, len(one.operands)) for one in turns([], {9: 5})] == [
        (9, 5, 0)
    ]
    assert [(one.service_id, one.gas) for one in turns([report("a")], {42: 5})] == [(42, 1005)]


def test_nobody_has_a_turn_in_a_round_of_nothing() -> None:
    assert turns([], {}) == ()
