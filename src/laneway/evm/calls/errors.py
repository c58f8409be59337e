"""Why a call has no estimate, or cannot be made at all."""

from laneway.core.errors import InvalidValue


class CallHasTwoPrices(InvalidValue):
    code = "call_has_two_prices"
    message = "both a gas price and a fee or tip are named"


class AccountOverriddenTwice(InvalidValue):
    code = "account_overridden_twice"
    message = "account 0x{account} has both all of its storage and single keys overridden"


class GasAllowanceExceeded(InvalidValue):
    code = "gas_allowance_exceeded"
    message = "gas required exceeds allowance ({gas})"
    """As go-ethereum says it, which wallets read."""


class CallFailed(InvalidValue):
    """It fails with any gas limit, for the reason that is named."""

    code = "call_failed"
    message = "{reason}"

    def __init__(self, reason: str, output: bytes = b"") -> None:
        super().__init__(reason=reason)
        self.output = output
        """What it reverted with; empty if it did not revert."""
