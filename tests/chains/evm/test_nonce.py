"""Laws of what nodes say of a nonce: their fields become bytes, and bytes prove who signed them."""

from typing import Any

import pytest
from msgspec import json
from tests.chains.evm.stage import Node, run, served
from tests.rpc_stub import No

from laneway.chains.evm.chain import RpcChain
from laneway.chains.evm.nonce import TRANSACTION, transaction_of
from laneway.core.facts import NonceClaim
from laneway.evm.envelope import draft, encode_canonical, hash_of, signing_digest
from laneway.evm.secp256k1 import address, sign
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
from laneway.evm.validity import owner_hash
from laneway.wire.hex import octets, quantity

CHAIN_ID = 7
SECRET = b"\x11" * 32
ADDRESS = address(SECRET)
TO = b"\x33" * 20
LISTED = (Access(TO, (b"\x01" * 32, b"\x00" * 32)), Access(ADDRESS))
DELEGATION = Authorization(CHAIN_ID, TO, 5, 1, 2**255 + 1, 3)
KINDS: list[Transaction] = [
    LegacyTransaction(4, 9, 21_000, TO, 1, b"\x00\x01", CHAIN_ID),
    LegacyTransaction(4, 9, 21_000, None, 0, b"\x60"),
    AccessListTransaction(CHAIN_ID, 4, 9, 21_000, TO, 1, b"", LISTED),
    DynamicFeeTransaction(CHAIN_ID, 4, 1, 9, 21_000, TO, 10**20, b"", LISTED),
    BlobTransaction(CHAIN_ID, 4, 1, 9, 21_000, TO, 1, b"", LISTED, 7, (b"\x01" * 32,)),
    SetCodeTransaction(CHAIN_ID, 4, 1, 9, 21_000, TO, 1, b"", LISTED, (DELEGATION,)),
]
IDS = ["legacy", "before EIP-155", "access list", "dynamic fee", "blob", "set code"]


def sign_it(made: Transaction) -> Transaction:
    return signed(made, sign(signing_digest(made), SECRET))


def shown(made: Transaction, **other: Any) -> dict[str, Any]:
    """As nodes write a mined transaction."""
    signature = made.signature
    assert signature is not None
    fields: dict[str, Any] = {
        "type": quantity(made.type),
        "hash": octets(hash_of(made)),
        "from": octets(ADDRESS),
        "nonce": quantity(made.nonce),
        "gas": quantity(made.gas_limit),
        "to": None if made.to is None else octets(made.to),
        "value": quantity(made.value_wei),
        "input": octets(made.data),
        "r": quantity(signature.r),
        "s": quantity(signature.s),
        "blockHash": "0x" + "44" * 32,
        "blockNumber": "0x6",
        "v": quantity(signature.y_parity),
    }
    if isinstance(made, LegacyTransaction):
        base = 27 if made.chain_id is None else 35 + 2 * made.chain_id
        return fields | {"v": quantity(base + signature.y_parity), "gasPrice": "0x9"} | other
    fields["chainId"] = quantity(made.chain_id)
    fields["accessList"] = [
        {"address": octets(one.address), "storageKeys": [octets(key) for key in one.keys]}
        for one in made.access_list
    ]
    if isinstance(made, AccessListTransaction):
        return fields | {"gasPrice": "0x9", "yParity": fields["v"]} | other
    # What was paid, which is not what was offered.
    fields |= {"maxFeePerGas": "0x9", "maxPriorityFeePerGas": "0x1", "gasPrice": "0x5"}
    if isinstance(made, BlobTransaction):
        fields["maxFeePerBlobGas"] = quantity(made.blob_fee_wei_max)
        fields["blobVersionedHashes"] = [octets(one) for one in made.blob_hashes]
    if isinstance(made, SetCodeTransaction):
        fields["authorizationList"] = [
            {
                "chainId": quantity(one.chain_id),
                "address": octets(one.address),
                "nonce": quantity(one.nonce),
                "yParity": quantity(one.y_parity),
                "r": quantity(one.r),
                "s": quantity(one.s),
            }
            for one in made.authorizations
        ]
    return fields | other


def proven(claim: NonceClaim, nonce: int = 4) -> bytes | None:
    return owner_hash(claim.raw, address=ADDRESS, nonce=nonce, chain_id=CHAIN_ID)


async def claim_of(chain: RpcChain, nonce: int = 4) -> NonceClaim:
    (claim,) = await chain.at_nonce(ADDRESS, nonce)
    return claim


@pytest.mark.parametrize("made", KINDS, ids=IDS)
def test_fields_become_the_bytes_that_were_signed(made: Transaction) -> None:
    done = sign_it(made)
    read = transaction_of(TRANSACTION.decode(json.encode(shown(done))))
    assert encode_canonical(read) == encode_canonical(done)
    assert draft(read) == draft(done)


@pytest.mark.parametrize("made", KINDS, ids=IDS)
def test_a_transaction_of_any_type_proves_who_signed_it(made: Transaction) -> None:
    async def story() -> None:
        done = sign_it(made)
        node = Node(eth_getTransactionBySenderAndNonce=shown(done))
        async with served([node]) as (chain, _):
            claim = await claim_of(chain)
            assert (claim.count, claim.hash) == (5, hash_of(done))
            assert proven(claim) == hash_of(done)

    run(story)


@pytest.mark.parametrize(
    "lie",
    [
        {"value": "0x2"},
        {"nonce": "0x5"},
        {"r": "0x0"},
        {"type": "0x7e"},
        {"type": "0x1"},
        {"gas": "many"},
        {"to": "0x12"},
        {"v": "0x9"},
        {"accessList": "none"},
    ],
    ids=str,
)
def test_fields_that_this_account_did_not_sign_prove_nothing(lie: dict[str, str]) -> None:
    async def story() -> None:
        honest = sign_it(KINDS[3])
        node = Node(eth_getTransactionBySenderAndNonce=shown(honest, **lie))
        async with served([node]) as (chain, _):
            claim = await claim_of(chain)
            assert (claim.count, claim.hash) == (5, hash_of(honest))
            assert proven(claim) is None

    run(story)


GONE = No(-32000, "missing trie node")


def counting(
    passed_at: int, *, pruned_below: int = 0, nonce: str = "0x4", pruned: object = GONE
) -> Node:
    """A node whose account used the nonce 4 in one block."""
    node = Node(10)

    def count(params: list[Any]) -> object:
        if params[1] == "latest":
            return "0x5"
        number = int(params[1], 16)
        if number < pruned_below:
            if isinstance(pruned, Exception):
                raise pruned
            return pruned
        return "0x5" if number >= passed_at else "0x4"

    def block(params: list[Any]) -> Any:
        made = node.block(10 if params[0] == "latest" else int(params[0], 16))
        if made is not None and params[1]:
            mined = shown(sign_it(KINDS[3]), nonce=nonce)
            other = {"hash": "0x" + "33" * 32, "from": "0x" + "44" * 20, "nonce": "0x4"}
            deposit = {"hash": "0x" + "55" * 32, "type": "0x7e", "sourceHash": "0x", "from": "0x"}
            listed = [deposit, other, mined]
            made["transactions"] = listed if made["number"] == hex(passed_at) else []
        return made

    node.said["eth_getTransactionCount"] = count
    node.said["eth_getBlockByNumber"] = block
    return node


@pytest.mark.parametrize("passed_at", [0, 1, 6, 9, 10])
def test_the_block_is_found_wherever_it_is(passed_at: int) -> None:
    async def story() -> None:
        async with served([counting(passed_at)]) as (chain, _):
            for _ in range(2):
                assert proven(await claim_of(chain)) == hash_of(sign_it(KINDS[3]))
            assert await claim_of(chain, 5) == NonceClaim("a", 5)

    run(story)


@pytest.mark.parametrize("pruned", [GONE, None, "pruned", 5], ids=repr)
def test_state_that_is_gone_hides_the_block_and_proves_nothing(pruned: object) -> None:
    """Who used the number is not found; whether it was us is asked by our hashes, which any node
    can answer (tests/engine/eoa/test_looking.py)."""

    async def story() -> None:
        async with served([counting(3, pruned_below=5, pruned=pruned)]) as (chain, _):
            assert await chain.at_nonce(ADDRESS, 4) == [NonceClaim("a", 5)]
        async with served([counting(6, pruned_below=5, pruned=pruned)]) as (chain, _):
            assert proven(await claim_of(chain)) is not None

    run(story)


def test_a_node_with_history_is_asked_beside_one_that_lost_it() -> None:
    async def story() -> None:
        nodes = [counting(3, pruned_below=5), counting(3)]
        async with served(nodes) as (chain, _):
            claims = await chain.at_nonce(ADDRESS, 4)
            assert [proven(claim) is not None for claim in claims] == [False, True]

    run(story)


def test_a_block_in_words_that_are_none_is_no_claim() -> None:
    async def story() -> None:
        async with served([counting(6, nonce="four")]) as (chain, _):
            assert await chain.at_nonce(ADDRESS, 4) == []

    run(story)


@pytest.mark.parametrize("found", [None, {"hash": "0x" + "22" * 32, "blockHash": None}])
def test_one_that_waits_is_no_owner_of_its_nonce(found: object) -> None:
    async def story() -> None:
        async with served([Node(eth_getTransactionBySenderAndNonce=found)]) as (chain, _):
            assert await claim_of(chain) == NonceClaim("a", 5)

    run(story)


def test_a_block_that_is_gone_holds_nothing() -> None:
    async def story() -> None:
        node = counting(6)
        node.said["eth_getBlockByNumber"] = None
        async with served([node]) as (chain, _):
            assert await claim_of(chain) == NonceClaim("a", 5)

    run(story)
