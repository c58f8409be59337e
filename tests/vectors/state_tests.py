"""GeneralStateTests: a state, a block, and what each of several transactions makes of them.

Read here and run elsewhere. The transactions of a test are one set of fields with lists of data,
gas limits and values; each row of `post` chooses one of each and says, for one fork, what follows.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from tests.vectors.evm_states import ListedState, listed_state, number
from tests.vectors.folder import unhex

from laneway.evm.envelope import sealed, signing_digest
from laneway.evm.fork import Fork
from laneway.evm.keccak import keccak
from laneway.evm.secp256k1 import sign
from laneway.evm.transaction import (
    Access,
    AccessListTransaction,
    Authorization,
    BlobTransaction,
    DynamicFeeTransaction,
    LegacyTransaction,
    SetCodeTransaction,
    Transaction,
    signed,
)

JUDGED = {"Cancun": Fork.CANCUN, "Prague": Fork.PRAGUE, "Osaka": Fork.OSAKA}
"""The forks that the EVM has, by the names of the vectors."""

OLDER = (
    *("Frontier", "Homestead", "EIP150", "EIP158", "Byzantium", "Constantinople"),
    *("ConstantinopleFix", "Istanbul", "Berlin", "London", "Merge", "Paris", "Shanghai"),
)
"""Forks that came before; what the vectors say of them is passed over."""


class Surroundings(Struct, frozen=True, kw_only=True):
    """The block in which a state test runs."""

    chain_id: int
    number: int
    timestamp_s: int
    coinbase: bytes
    gas_limit: int
    base_fee_wei: int
    prevrandao: bytes
    excess_blob_gas: int
    parent_beacon_root: bytes


class Row(Struct, frozen=True, kw_only=True):
    """One transaction under one fork, and what follows."""

    name: str
    """The fork, and the indexes of data, gas limit and value."""
    fork: Fork
    raw: bytes
    root: bytes
    """Of the state after it."""
    logs_hash: bytes
    exception: str | None
    """Why it cannot be in a block, in the words of the vectors."""


class StateTest(Struct, frozen=True):
    surroundings: Surroundings
    pre: ListedState
    rows: tuple[Row, ...]
    """Of the forks that are judged."""


def state_test(case: dict[str, Any]) -> StateTest:
    chain_id = number(case.get("config", {}).get("chainid", "0x1"))
    return StateTest(
        surroundings(case["env"], chain_id), listed_state(case["pre"]), tuple(rows_of(case))
    )


def surroundings(env: dict[str, Any], chain_id: int) -> Surroundings:
    return Surroundings(
        chain_id=chain_id,
        number=number(env["currentNumber"]),
        timestamp_s=number(env["currentTimestamp"]),
        coinbase=unhex(env["currentCoinbase"]),
        gas_limit=number(env["currentGasLimit"]),
        base_fee_wei=number(env.get("currentBaseFee", "0xa")),
        prevrandao=number(env.get("currentRandom", "0x0")).to_bytes(32),
        excess_blob_gas=number(env.get("currentExcessBlobGas", "0x0")),
        parent_beacon_root=number(env.get("currentBeaconRoot", "0x0")).to_bytes(32),
    )


def block_hash(of_number: int) -> bytes:
    """The hash of an earlier block in all state tests: that of its number's decimal digits."""
    return keccak(str(of_number).encode())


def rows_of(case: dict[str, Any]) -> Iterator[Row]:
    for fork, posts in case["post"].items():
        if fork in OLDER:
            continue
        for post in posts:
            indexes = post["indexes"]
            chosen = ".".join(str(indexes[name]) for name in ("data", "gas", "value"))
            raw = post.get("txbytes")
            yield Row(
                name=f"{fork}:{chosen}",
                # A fork that is not known has no rules to be judged by: a KeyError says so.
                fork=JUDGED[fork],
                raw=unhex(raw) if raw else signed_bytes(case["transaction"], indexes),
                root=unhex(post["hash"]),
                logs_hash=unhex(post["logs"]),
                exception=post.get("expectException") or None,
            )


def signed_bytes(fields: dict[str, Any], indexes: dict[str, int]) -> bytes:
    """The transaction of these fields, where the vectors do not give its bytes."""
    unsigned = transaction(fields, indexes)
    signature = sign(signing_digest(unsigned), unhex(fields["secretKey"]))
    return sealed(signed(unsigned, signature)).raw


def transaction(fields: dict[str, Any], indexes: dict[str, int]) -> Transaction:
    """The unsigned transaction that a row chooses, on chain 1; its type is that of its fields."""
    nonce = number(fields["nonce"])
    call = (
        wide(fields["gasLimit"][indexes["gas"]]),
        unhex(fields["to"]) or None,
        wide(fields["value"][indexes["value"]]),
        unhex(fields["data"][indexes["data"]]),
    )
    lists = fields.get("accessLists")
    listed = lists[indexes["data"]] if lists else None
    accesses = tuple(access(entry) for entry in listed or ())
    if "maxFeePerGas" not in fields:
        price = wide(fields["gasPrice"])
        if listed is None:
            return LegacyTransaction(nonce, price, *call)
        return AccessListTransaction(1, nonce, price, *call, accesses)
    fees = (wide(fields["maxPriorityFeePerGas"]), wide(fields["maxFeePerGas"]))
    begin = (1, nonce, *fees, *call, accesses)
    if "authorizationList" in fields:
        entries = tuple(authorization(entry) for entry in fields["authorizationList"])
        return SetCodeTransaction(*begin, authorizations=entries)
    if "maxFeePerBlobGas" in fields:
        return BlobTransaction(
            *begin,
            blob_fee_wei_max=wide(fields["maxFeePerBlobGas"]),
            blob_hashes=tuple(unhex(one) for one in fields["blobVersionedHashes"]),
        )
    return DynamicFeeTransaction(*begin)


def access(entry: dict[str, Any]) -> Access:
    return Access(unhex(entry["address"]), tuple(unhex(key) for key in entry["storageKeys"]))


def authorization(entry: dict[str, Any]) -> Authorization:
    parity = entry["yParity"] if "yParity" in entry else entry["v"]
    return Authorization(
        wide(entry["chainId"]),
        unhex(entry["address"]),
        wide(entry["nonce"]),
        wide(parity),
        wide(entry["r"]),
        wide(entry["s"]),
    )


def wide(text: str) -> int:
    """A quantity of any size; one that is too big is written with a mark."""
    return number(text.removeprefix("0x:bigint "))
