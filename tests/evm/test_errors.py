"""Every refusal has a code of its own and says its operands."""

from string import Formatter

from laneway.core.errors import CallerError
from laneway.evm.errors import InvalidTransaction, WrongChain


def test_no_two_refusals_share_a_code() -> None:
    kinds: list[type[InvalidTransaction]] = [
        InvalidTransaction,
        *InvalidTransaction.__subclasses__(),
    ]
    assert len({kind.code for kind in kinds}) == len(kinds)


def test_a_refusal_is_built_from_its_operands() -> None:
    for kind in InvalidTransaction.__subclasses__():
        names = [name for _, name, _, _ in Formatter().parse(kind.message) if name]
        refused = kind(**dict.fromkeys(names, 7))
        assert refused.operands == dict.fromkeys(names, 7)
        assert "{" not in str(refused)


def test_a_refusal_is_the_callers_and_no_retry_helps() -> None:
    refused = WrongChain(given=5, wanted=1)
    assert isinstance(refused, CallerError)
    assert refused.retry == "never"
    assert str(refused) == "it is signed for chain 5, and this is chain 1"
