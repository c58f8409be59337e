"""Proofs of accounts and their storage (`eth_getProof`, EIP-1186)."""

from collections.abc import Sequence
from typing import NamedTuple

from laneway.devnets.evm.limits import STORAGE_KEYS_COUNT_MAX
from laneway.devnets.evm.node.blocks import check_executes
from laneway.devnets.evm.node.execution import NO_ACCOUNT, executed_at
from laneway.devnets.evm.node.parameters import octets_of, rows_of, wrong
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.wire.hex import octets, quantity
from laneway.wire.rpc_server.methods import Json


class ProofKey(NamedTuple):
    number: int
    text: str
    """As it is shown: all 32 bytes where all were given, else a quantity, as geth has it."""


def key_of(value: object) -> ProofKey:
    content = octets_of(value)
    if len(content) > 32:
        raise wrong("invalid string length")
    number = int.from_bytes(content, "big")
    return ProofKey(number, octets(content) if len(content) == 32 else quantity(number))


def keys_of(value: object) -> list[ProofKey]:
    keys = rows_of(value)
    if len(keys) > STORAGE_KEYS_COUNT_MAX:
        raise wrong(f"at most {STORAGE_KEYS_COUNT_MAX} keys")
    return [key_of(key) for key in keys]


def proof(
    caller: EvmCaller, address: bytes, keys: Sequence[ProofKey], where: object = "latest"
) -> Json:
    """Of an account, or of its absence."""
    check_executes(caller)
    trie = executed_at(caller, where).trie
    found = trie.account(address) or NO_ACCOUNT
    return {
        "address": octets(address),
        "balance": quantity(found.balance_wei),
        "codeHash": octets(found.code_hash),
        "nonce": quantity(found.nonce),
        "storageHash": octets(found.storage_root),
        "accountProof": [octets(node) for node in trie.proof(address)],
        "storageProof": [
            {
                "key": key.text,
                "value": quantity(trie.storage(address, key.number)),
                "proof": [octets(node) for node in trie.storage_proof(address, key.number)],
            }
            for key in keys
        ],
    }
