"""Codes and texts by which nodes and the application refuse: the SDK's, celestia-app's, and those
of celestia-core's CAT mempool as they were recorded."""

from typing import Final

from msgspec import Struct

SDK: Final = "sdk"
BLOB: Final = "blob"


class Verdict(Struct, frozen=True):
    """What the application says of one transaction."""

    code: int = 0
    log: str = ""
    codespace: str = ""


OK: Final = Verdict()
PARSE: Final = Verdict(2, "tx parse error: tx parse error", SDK)
OUT_OF_GAS: Final = 11


def timed_out(height: int, timeout: int) -> Verdict:
    return Verdict(30, f"block height: {height}, timeout height: {timeout}: tx timeout height", SDK)


def fee_too_low(got: str, required: str) -> Verdict:
    return Verdict(13, f"insufficient fees; got: {got} required: {required}: insufficient fee", SDK)


def wrong_sequence(expected: int, got: int) -> Verdict:
    log = f"account sequence mismatch, expected {expected}, got {got}: incorrect account sequence"
    return Verdict(32, log, SDK)


def not_signed(number: int, sequence: int, chain_id: str) -> Verdict:
    log = (
        f"signature verification failed; please verify account number ({number}), sequence "
        f"({sequence}) and chain-id ({chain_id}): unauthorized"
    )
    return Verdict(4, log, SDK)


def no_account(address: str) -> Verdict:
    return Verdict(9, f"account {address} does not exist: unknown address", SDK)


def no_funds(balance: str, required: str) -> Verdict:
    return Verdict(5, f"{balance} is smaller than {required}: insufficient funds", SDK)


def no_grant(granter: str, grantee: str) -> Verdict:
    log = f"{granter} does not allow to pay fees for {grantee}: fee-grant not found: not found"
    return Verdict(38, log, SDK)


def grant_spent() -> Verdict:
    return Verdict(2, "fee allowance: basic allowance: fee limit exceeded", "feegrant")


def out_of_gas(wanted: int, used: int) -> Verdict:
    log = f"out of gas in location: txSize; gasWanted: {wanted}, gasUsed: {used}: out of gas"
    return Verdict(OUT_OF_GAS, log, SDK)


def unknown_message(url: str) -> Verdict:
    return Verdict(2, f"unable to resolve type URL {url}: tx parse error", SDK)


def bad_coins(coins: str) -> Verdict:
    return Verdict(10, f"{coins}: invalid coins", SDK)


def bad_blob(code: int, problem: str) -> Verdict:
    return Verdict(code, problem, BLOB)


# What a node says by itself, before or after the application was asked.


def too_large(limit: int, size: int) -> str:
    return f"Tx too large. Max size is {limit}, but got {size}"


IN_MEMPOOL: Final = "tx already exists in mempool"


def mempool_full(hash_: bytes, count: int, size: int) -> str:
    # The node formats the name of the key, not its bytes; so it was recorded.
    named = f"TxKey{{{hash_.hex().upper()}}}".encode().hex().upper()
    return f"rejected valid incoming transaction; mempool is full ({named}). Size: ({count}:{size})"


def too_many(limit: int) -> str:
    return f"batch request exceeds maximum ({limit}) allowed number of transaction hashes"


def bad_key(size: int) -> str:
    return f"failed to get tx key from hash: incorrect tx key size. Expected 32 bytes, got {size}"
