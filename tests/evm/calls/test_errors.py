"""What estimates and requests are refused with."""

from laneway.core.errors import CallerError
from laneway.evm.calls.errors import CallFailed, GasAllowanceExceeded


def test_a_call_that_fails_keeps_what_it_reverted_with() -> None:
    failed = CallFailed("execution reverted: no", b"\1")
    assert (str(failed), failed.output) == ("execution reverted: no", b"\1")
    assert isinstance(failed, CallerError)


def test_too_little_gas_is_said_as_wallets_read_it() -> None:
    assert str(GasAllowanceExceeded(gas=7)) == "gas required exceeds allowance (7)"
