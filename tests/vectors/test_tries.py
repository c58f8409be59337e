"""TrieTests of ethereum/tests: roots, and the order of the keys; proofs of hive's chain.

A file whose name says so hashes its keys. Changes are made one by one, as the vectors list them,
and all at once: the root is the same.
"""

from bisect import bisect_left, bisect_right
from typing import Any

import msgspec
import pytest
from tests.vectors.evm_states import listed_state, number
from tests.vectors.folder import folder, read, unhex

from laneway.evm.keccak import keccak
from laneway.evm.rlp import encode
from laneway.evm.trie.accounts import AccountTrie, decode_account
from laneway.evm.trie.proof import verify
from laneway.evm.trie.tree import HexaryTrie, root, secured_root

pytestmark = pytest.mark.vectors

RPC = ("evm", "rpc")


def cases(has_neighbours: bool) -> list[Any]:
    found = [
        pytest.param(name, case, id=name)
        for name, case in read(folder("evm", "ethtests", "TrieTests"))
        if ("tests" in case) == has_neighbours
    ]
    return found or [pytest.param("", {}, id="none", marks=pytest.mark.skip(reason="no TrieTests"))]


def content(text: str | None) -> bytes:
    """Hex where it begins like hex, or else text; null deletes."""
    text = text or ""
    return unhex(text) if text.startswith("0x") else text.encode()


@pytest.mark.parametrize(("name", "case"), cases(has_neighbours=False))
def test_a_trie_has_the_root_of_the_vectors(name: str, case: dict[str, Any]) -> None:
    given = case["in"]
    changes = [
        (content(key), content(value))
        for key, value in (given.items() if isinstance(given, dict) else given)
    ]
    is_secured = "secure" in name.partition(":")[0].lower()
    trie = HexaryTrie()
    for key, value in changes:
        trie = trie.updated({keccak(key) if is_secured else key: value})
    wanted = unhex(case["root"])
    assert trie.root() == wanted
    assert (secured_root if is_secured else root)(dict(changes)) == wanted
    for key, value in trie.items():
        assert verify(wanted, key, trie.proof(key)) == value == trie.get(key)


@pytest.mark.parametrize(("name", "case"), cases(has_neighbours=True))
def test_the_keys_of_a_trie_have_the_neighbours_of_the_vectors(
    name: str, case: dict[str, Any]
) -> None:
    trie = HexaryTrie().updated({content(key): b"value" for key in case["in"]})
    keys = [key for key, _ in trie.items()]
    for sought, before, after in case["tests"]:
        at = content(sought)
        earlier = keys[: bisect_left(keys, at)]
        later = keys[bisect_right(keys, at) :]
        assert [*earlier[-1:], b""][0] == content(before), (name, sought)
        assert [*later[:1], b""][0] == content(after), (name, sought)


def exchanges() -> list[Any]:
    """What was asked of the last block; the state of an earlier one is in no file."""
    found = []
    for path in sorted(folder(*RPC, "tests", "eth_getProof").glob("*.io")):
        lines = path.read_text().splitlines()
        asked = [msgspec.json.decode(line[3:]) for line in lines if line.startswith(">> ")]
        answers = [msgspec.json.decode(line[3:]) for line in lines if line.startswith("<< ")]
        for request, answer in zip(asked, answers, strict=True):
            block = request["params"][2:]
            if "result" in answer and block in ([], ["latest"], [LAST]):
                found.append(pytest.param(request["params"], answer["result"], id=path.stem))
    reason = "no vectors of eth_getProof"
    return found or [pytest.param([], {}, id="none", marks=pytest.mark.skip(reason=reason))]


LAST = "0xd226371d0b1551adb03fb52b71f08e3e11247fe9b1af994768af8cdaa8e7dcd7"
"""The hash of block 54."""


@pytest.mark.parametrize(("params", "wanted"), exchanges())
def test_a_proof_of_the_last_block_is_the_one_that_clients_expect(
    params: list[Any], wanted: dict[str, Any]
) -> None:
    listed = msgspec.json.decode(folder(*RPC, "post_state_block54.json").read_bytes())
    state = listed_state(listed).trie()
    address = unhex(params[0])
    proof = [unhex(node) for node in wanted["accountProof"]]
    assert list(state.proof(address)) == proof
    value = verify(state.root(), keccak(address), proof)
    if not value:
        assert state.account(address) is None
        assert (number(wanted["nonce"]), number(wanted["balance"])) == (0, 0)
        return
    account = decode_account(value)
    assert account.nonce == number(wanted["nonce"])
    assert account.balance_wei == number(wanted["balance"])
    assert account.code_hash == unhex(wanted["codeHash"])
    assert account.storage_root == unhex(wanted["storageHash"])
    for slot in wanted["storageProof"]:
        check_slot(state, address, account.storage_root, slot)


def check_slot(state: AccountTrie, address: bytes, root: bytes, slot: dict[str, Any]) -> None:
    key, value = number(slot["key"]), number(slot["value"])
    nodes = [unhex(node) for node in slot["proof"]]
    assert state.storage(address, key) == value
    assert list(state.storage_proof(address, key)) == nodes
    shown = verify(root, keccak(key.to_bytes(32)), nodes)
    assert shown == (encode(value) if value else b"")
