"""Codes and texts by which nodes and the application refuse: the SDK's, celestia-app's, and those
of celestia-core's CAT mempool as they were recorded."""

from typing import Final

from msgspec import Struct

SDK: Final = "sdk"
BLOB: Final = "blob"


class AppVerdict(Struct, frozen=True):
    """The application's verdict on one transaction; code 0 accepts it."""

    code: int = 0
    log: str = ""
    codespace: str = ""


class SdkRefusal(Struct, frozen=True):
    """A refusal of the SDK; called with the values of its text it returns the verdict."""

    code: int
    text: str

    def __call__(self, *values: object) -> AppVerdict:
        return AppVerdict(self.code, self.text.format(*values), SDK)


OK: Final = AppVerdict()
PARSE: Final = AppVerdict(2, "tx parse error: tx parse error", SDK)
GRANT_SPENT: Final = AppVerdict(2, "fee allowance: basic allowance: fee limit exceeded", "feegrant")

unknown_message: Final = SdkRefusal(2, "unable to resolve type URL {}: tx parse error")
not_signed: Final = SdkRefusal(
    4,
    "signature verification failed; please verify account number ({}), sequence ({}) "
    "and chain-id ({}): unauthorized",
)
no_funds: Final = SdkRefusal(5, "{} is smaller than {}: insufficient funds")
no_account: Final = SdkRefusal(9, "account {} does not exist: unknown address")
bad_coins: Final = SdkRefusal(10, "{}: invalid coins")
out_of_gas: Final = SdkRefusal(
    11, "out of gas in location: txSize; gasWanted: {}, gasUsed: {}: out of gas"
)
fee_too_low: Final = SdkRefusal(13, "insufficient fees; got: {} required: {}: insufficient fee")
timed_out: Final = SdkRefusal(30, "block height: {}, timeout height: {}: tx timeout height")
wrong_sequence: Final = SdkRefusal(
    32, "account sequence mismatch, expected {}, got {}: incorrect account sequence"
)
no_grant: Final = SdkRefusal(
    38, "{} does not allow to pay fees for {}: fee-grant not found: not found"
)


def bad_blob(code: int, problem: str) -> AppVerdict:
    return AppVerdict(code, problem, BLOB)


# What a node answers by itself, before or after the application was asked.

IN_MEMPOOL: Final = "tx already exists in mempool"
too_large: Final = "Tx too large. Max size is {}, but got {}".format
too_many: Final = "batch request exceeds maximum ({}) allowed number of transaction hashes".format
bad_key: Final = (
    "failed to get tx key from hash: incorrect tx key size. Expected 32 bytes, got {}".format
)


def mempool_full(hash_: bytes, count: int, size: int) -> str:
    # The node formats the name of the key, not its bytes; so it was recorded.
    named = f"TxKey{{{hash_.hex().upper()}}}".encode().hex().upper()
    return f"rejected valid incoming transaction; mempool is full ({named}). Size: ({count}:{size})"
