"""The pipe to real anvils, one of each hardfork, which answer a case as the other oracles do.

A case's accounts are set over a chain that is long enough for BLOCKHASH, and each of its
transactions is mined in a block of its own. What a block is, laneway learns from its header.
"""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from typing import Any

from msgspec import Struct, json, structs
from tests.anvil import Anvil, Said, anvil
from tests.differential.case import Answer, Case, CaseAccount, CaseBlock, Draft
from tests.differential.world import account

from laneway.evm.fields import blob_hash
from laneway.evm.machine.targets import delegate_of
from laneway.evm.rlp import encode, encode_int, encode_list
from laneway.evm.transaction import (
    BlobTransaction,
    SetCodeTransaction,
    Transaction,
    authority,
)

FORKS = {"Prague": "prague", "Osaka": "osaka"}
"""The hardforks that are compared, by their names for anvil."""
NODE_RESULTS = ("created", "price")
"""What the answers of nodes say beside those of the specification."""
CHAIN_BLOCKS = 260
"""So many blocks lie below a case: BLOCKHASH reaches back 256."""
ANSWER_S_MAX = 120.0
GENESIS_S = 1

ZERO_BLOB = bytes(131_072)
POINT_AT_INFINITY = b"\xc0".ljust(48, b"\x00")
"""Commitment and proof of the blob of zeros, so that no trusted setup is needed to make one."""
ZERO_BLOB_HASH = blob_hash(POINT_AT_INFINITY)
CELLS = 128


class Mined(Struct, frozen=True):
    """What laneway needs to do the same: the accounts before the first block, and each block."""

    before: dict[str, Any]
    blocks: tuple[CaseBlock, ...]


class NodeOracle:
    """A node that is moved as anvil is; how it is asked is its own."""

    def answers(self, calls: Iterable[tuple[object, ...]]) -> list[dict[str, Any]]:
        """An object with `result` or `error` for each call."""
        raise NotImplementedError

    def ask(self, method: str, *params: object) -> Any:
        (result,) = self.batch([(method, *params)])
        return result

    def batch(self, calls: Iterable[tuple[object, ...]]) -> list[Any]:
        """The results; Said if one is refused."""
        answers = self.answers(calls)
        for one in answers:
            if "error" in one:
                raise Said(one["error"]["code"], one["error"]["message"])
        return [one["result"] for one in answers]

    def place(self, case: Case) -> None:
        """Set the accounts of a case."""
        calls: list[tuple[object, ...]] = [
            ("evm_setBlockGasLimit", hex(case.block.gas_limit)),
        ]
        for address, held in case.accounts.items():
            name = shown(address)
            calls += [
                ("anvil_setNonce", name, hex(held.nonce)),
                ("anvil_setBalance", name, hex(held.balance_wei)),
                ("anvil_setCode", name, shown(held.code)),
            ]
            calls += [
                ("anvil_setStorageAt", name, hex(key), shown(value.to_bytes(32, "big")))
                for key, value in held.storage.items()
            ]
        self.batch(calls)

    def mined(
        self, case: Case, hashes: list[bytes]
    ) -> Iterator[tuple[dict[str, Any], dict[str, Any], CaseBlock]]:
        """Of each transaction its result, the header of its block, which is empty if it was not
        included, and that block; `hashes` are those of the blocks so far, and grow."""
        for draft in case.drafts:
            self.ask("anvil_setNextBlockBaseFeePerGas", hex(case.block.base_fee_wei))
            raw = shown(network_form(draft, case.fork))
            (sent,) = self.answers([("eth_sendRawTransaction", raw)])
            self.ask("evm_mine")
            header = self.ask("eth_getBlockByNumber", "latest", False)
            receipt = None
            if "result" in sent:
                receipt = self.ask("eth_getTransactionReceipt", sent["result"])
                self.ask("anvil_dropAllTransactions")
            if receipt is None:
                assert not header["transactions"]
                reason = sent["error"]["message"] if "error" in sent else "it waits in the pool"
                result = {"excluded": reason}
            else:
                result = result_of(receipt)
            yield result, header, block_of(header, case.block.chain_id, hashes)
            hashes.append(octets(header["hash"]))


class AnvilOracle(NodeOracle):
    """One anvil."""

    def __init__(self, node: Anvil) -> None:
        self._connection = HTTPConnection("127.0.0.1", node.port, timeout=ANSWER_S_MAX)
        self.ask("anvil_mine", hex(CHAIN_BLOCKS), "0x1")
        self._snapshot = self.ask("evm_snapshot")
        numbers = range(CHAIN_BLOCKS + 1)
        blocks = self.batch([("eth_getBlockByNumber", hex(number), False) for number in numbers])
        self._hashes = [octets(block["hash"]) for block in blocks]

    def close(self) -> None:
        self._connection.close()

    def answers(self, calls: Iterable[tuple[object, ...]]) -> list[dict[str, Any]]:
        asked = [
            {"jsonrpc": "2.0", "id": place, "method": method, "params": params}
            for place, (method, *params) in enumerate(calls)
        ]
        if not asked:
            return []
        headers = {"Content-Type": "application/json"}
        self._connection.request("POST", "/", json.encode(asked), headers)
        answers: list[dict[str, Any]] = json.decode(self._connection.getresponse().read())
        return sorted(answers, key=lambda one: int(one["id"]))

    def answer(self, case: Case) -> tuple[Answer, Mined]:
        """What anvil makes of it, and what it made it from. It is one of `for_anvil`."""
        self.place(case)
        before = self._accounts()
        results, blocks = [], []
        for result, header, block in self.mined(case, [*self._hashes]):
            if "excluded" not in result:
                result["output"] = self._output(header["transactions"][0])
            results.append(result)
            blocks.append(block)
        answer = {"transactions": results, "accounts": self._accounts()}
        return answer, Mined(before, tuple(blocks))

    def place(self, case: Case) -> None:
        """The world of a case, and no other's."""
        block = case.block
        self.ask("evm_revert", self._snapshot)
        self._snapshot = self.ask("evm_snapshot")
        time_s = max(block.time_s, GENESIS_S + CHAIN_BLOCKS + 1)
        self.batch(
            [
                ("anvil_setChainId", block.chain_id),
                ("anvil_setCoinbase", shown(block.coinbase)),
                ("evm_setNextBlockTimestamp", hex(time_s)),
            ]
        )
        super().place(case)

    def _output(self, digest: str) -> str:
        how = {"tracer": "callTracer", "tracerConfig": {"onlyTopCall": True}}
        output: str = self.ask("debug_traceTransaction", digest, how).get("output", "0x")
        return output

    def _accounts(self) -> dict[str, Any]:
        """Every account that the chain has."""
        state = json.decode(gzip.decompress(octets(self.ask("anvil_dumpState"))))
        return {address.lower(): dumped(held) for address, held in state["accounts"].items()}


def result_of(receipt: dict[str, Any]) -> dict[str, Any]:
    succeeded = receipt["status"] == "0x1"
    return {
        "gas": int(receipt["gasUsed"], 16),
        "status": int(succeeded),
        "error": None if succeeded else "failed",
        "logs": [[log["address"], log["topics"], log["data"]] for log in receipt["logs"]],
        "receipt": shown(receipt_bytes(receipt)),
        "created": receipt["contractAddress"],
        "price": int(receipt["effectiveGasPrice"], 16),
    }


def dumped(held: dict[str, Any]) -> dict[str, Any]:
    storage = {hex(int(key, 16)): hex(int(value, 16)) for key, value in held["storage"].items()}
    return {
        "nonce": hex(held["nonce"]),
        "balance": hex(int(held["balance"], 16)),
        "code": held["code"],
        "storage": {key: value for key, value in storage.items() if value != "0x0"},
    }


def block_of(header: dict[str, Any], chain_id: int, hashes: list[bytes]) -> CaseBlock:
    return CaseBlock(
        chain_id=chain_id,
        number=int(header["number"], 16),
        time_s=int(header["timestamp"], 16),
        gas_limit=int(header["gasLimit"], 16),
        coinbase=octets(header["miner"]),
        base_fee_wei=int(header["baseFeePerGas"], 16),
        randao=octets(header["mixHash"]),
        excess_blob_gas=int(header["excessBlobGas"], 16),
        hashes=tuple(hashes[-256:]),
    )


def receipt_bytes(receipt: dict[str, Any]) -> bytes:
    """The receipt as it stands in the block's tree."""
    logs = tuple(
        (octets(log["address"]), tuple(map(octets, log["topics"])), octets(log["data"]))
        for log in receipt["logs"]
    )
    numbers = [int(receipt[name], 16) for name in ("status", "cumulativeGasUsed")]
    made = encode((*numbers, octets(receipt["logsBloom"]), logs))
    kind = int(receipt["type"], 16)
    return bytes([kind]) + made if kind else made


def for_anvil(case: Case) -> Case:
    """The case without what anvil does otherwise than Ethereum, and with hashes of blobs that can
    be sent along. Anvil lets a sender have code (EIP-3607) and a signature a high s (EIP-2), pays
    back for an authorization of an account that does not exist (EIP-7702), and creates a contract
    where storage lies (EIP-7610). `test_anvil.py` holds each of them fast."""
    accounts = {
        address: structs.replace(held, nonce=held.nonce or 1) if held.storage else held
        for address, held in case.accounts.items()
    }
    for draft in case.drafts:
        made, sender = draft.transaction, account(draft.secret)
        held = accounts.get(sender, CaseAccount())
        if held.code and delegate_of(held.code) is None:
            accounts[sender] = structs.replace(held, program=())
        for signer in authorities(made):
            accounts.setdefault(signer, CaseAccount(balance_wei=1))
    drafts = tuple([sendable(one) for one in case.drafts])
    return structs.replace(case, accounts=accounts, drafts=drafts)


def authorities(made: Transaction) -> Iterator[bytes]:
    """The accounts that delegate by it, whether or not they may."""
    if isinstance(made, SetCodeTransaction):
        for one in made.authorizations:
            found = authority(one)
            if found is not None:
                yield found


def sendable(draft: Draft) -> Draft:
    made, damage = draft.transaction, draft.damage
    if isinstance(made, BlobTransaction):
        first = ZERO_BLOB_HASH[:1]
        hashes = [ZERO_BLOB_HASH if one[:1] == first else one for one in made.blob_hashes]
        made = structs.replace(made, blob_hashes=tuple(hashes))
    if damage is not None and damage.kind == "high_s":
        damage = None
    return Draft(made, draft.secret, damage)


def network_form(draft: Draft, fork: str) -> bytes:
    """The bytes that a node is sent: with the blobs of a transaction that has some."""
    raw, made = draft.raw(), draft.transaction
    if not isinstance(made, BlobTransaction) or raw[0] != made.type:
        return raw
    count, has_cells = len(made.blob_hashes), fork == "Osaka"
    version = encode_int(1) if has_cells else b""
    proofs = count * (CELLS if has_cells else 1)
    lists = [(ZERO_BLOB,) * count, (POINT_AT_INFINITY,) * count, (POINT_AT_INFINITY,) * proofs]
    return raw[:1] + encode_list(b"".join([raw[1:], version, *map(encode, lists)]))


def shown(value: bytes) -> str:
    return "0x" + value.hex()


def octets(text: str) -> bytes:
    return bytes.fromhex(text[2:])


class Anvils:
    """An anvil for each hardfork, started when a case first needs it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._of: dict[str, AnvilOracle] = {}

    def answer(self, case: Case) -> tuple[Answer, Mined]:
        if case.fork not in self._of:
            options = ["--no-mining", "--hardfork", FORKS[case.fork], "--no-request-size-limit"]
            # Without it transactions of Osaka may have more gas than EIP-7825 allows.
            options += ["--enable-tx-gas-limit"]
            options += ["--timestamp", str(GENESIS_S), "--accounts", "1"]
            made = AnvilOracle(self._stack.enter_context(anvil(*options)))
            self._stack.callback(made.close)
            self._of[case.fork] = made
        return self._of[case.fork].answer(case)


@contextmanager
def anvils() -> Iterator[Anvils]:
    with ExitStack() as stack:
        yield Anvils(stack)
