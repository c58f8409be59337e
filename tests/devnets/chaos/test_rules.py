"""Laws of the rules: the same seed strikes the same calls, and a bad rule is named."""

import pytest

from laneway.core.errors import BadRequest
from laneway.devnets.chaos.limits import RULES_COUNT_MAX
from laneway.devnets.chaos.rules import Dice, ProxyFault, Rule, read_rule, read_rules


def struck(dice: Dice, method: str, times: int) -> list[bool]:
    return [dice.strike(method) is not None for _ in range(times)]


def test_a_rule_strikes_what_fits_its_pattern() -> None:
    dice = Dice([Rule(ProxyFault.HANG, method="eth_send*")])
    assert dice.strike("eth_blockNumber") is None
    assert dice.strike("eth_sendRawTransaction") is dice.rules[0]


def test_a_rule_begins_at_the_nth_and_ends_after_a_count() -> None:
    dice = Dice([Rule(ProxyFault.HANG, nth=2, count=2)])
    assert struck(dice, "m", 5) == [False, True, True, False, False]
    assert dice.struck == [2]


def test_the_same_seed_strikes_the_same_calls() -> None:
    rules = [Rule(ProxyFault.HANG, probability=0.5)]
    first = struck(Dice(rules, seed=7), "m", 200)
    assert first == struck(Dice(rules, seed=7), "m", 200)
    assert first != struck(Dice(rules, seed=8), "m", 200)
    assert 60 < sum(first) < 140


def test_one_rule_does_not_disturb_another() -> None:
    alone = Dice([Rule(ProxyFault.HANG, probability=0.5)], seed=1)
    beside = Dice([alone.rules[0], Rule(ProxyFault.DELAY, probability=0.5)], seed=1)
    first = [alone.strike("m") for _ in range(100)]
    assert first == [
        rule if rule is alone.rules[0] else None for rule in map(beside.strike, "m" * 100)
    ]


def test_the_first_rule_that_strikes_decides() -> None:
    dice = Dice([Rule(ProxyFault.HANG, count=1), Rule(ProxyFault.DELAY)])
    assert [rule.fault for rule in map(dice.strike, "mm") if rule] == [
        ProxyFault.HANG,
        ProxyFault.DELAY,
    ]


def test_a_rule_is_written_in_one_line() -> None:
    text = "error method=eth_sendRawTransaction code=-32000 message='nonce too high' count=3"
    assert read_rule(text) == Rule(
        ProxyFault.ERROR,
        method="eth_sendRawTransaction",
        code=-32000,
        message="nonce too high",
        count=3,
    )
    lie = read_rule("lie method=eth_gasPrice result='\"0x1\"'")
    assert lie == Rule(ProxyFault.LIE, method="eth_gasPrice", result='"0x1"')
    assert read_rule("lag blocks=3 probability=0.25").probability == 0.25


def test_rules_are_read_from_json() -> None:
    rules = read_rules(b'[{"fault":"status","status":503,"retry_after_s":2},{"fault":"hang"}]')
    assert rules == (Rule(ProxyFault.STATUS, status=503, retry_after_s=2), Rule(ProxyFault.HANG))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "explode",
        "lie result=x",
        "hang now",
        "hang method='x",
        "hang colour=red",
        "delay ms=soon",
        "hang probability=2",
        "status status=200",
        "hang nth=0",
        "lag blocks=-1",
    ],
)
def test_a_bad_rule_is_named(text: str) -> None:
    with pytest.raises(BadRequest):
        read_rule(text)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'[{"fault":"hang","nth":"1"}]'])
def test_a_bad_file_is_named(content: bytes) -> None:
    with pytest.raises(BadRequest):
        read_rules(content)


def test_there_are_not_too_many_rules() -> None:
    with pytest.raises(BadRequest):
        Dice([Rule(ProxyFault.HANG)] * (RULES_COUNT_MAX + 1))
