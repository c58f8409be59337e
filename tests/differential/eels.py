"""The oracle: Ethereum's executable specification (EELS), asked over a pipe.

It runs in the environment `oracles` and knows nothing of laneway. Each line of its input is a case
in JSON (tests/differential/case.py), each line of its output the answer: for each transaction
either `excluded` with EELS' own class, or gas, status, output and logs; then the whole state.
A line `{"coverage": true}` is answered with what was executed so far.

Two things are changed in EELS, and neither changes a result: jump destinations and the answers of
the slow precompiles are remembered. One check is added: EELS takes a typed transaction that names
another chain, which no client does (EIP-2718's types sign their chain's id for that).
"""

import json
import sys
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

RECURSION_MAX = 40_000
"""A frame of the EVM takes about ten frames of Python, and the EVM may be 1,024 deep."""
REMEMBERED_MAX = 20_000
KEEN = ("SSTORE", "CALL", "CALLCODE", "DELEGATECALL", "STATICCALL", "CREATE", "CREATE2")
STEPS_MAX = 4_000
"""Places to run out of gas at that are told of one transaction."""
SLOW_PRECOMPILES = (5, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 256)

Request = dict[str, Any]
Answer = dict[str, Any]


class Excluded(Exception):
    """The transaction's bytes are none that EELS reads."""


class WrongChain(Excluded):
    """The transaction names another chain."""


class Watch:
    """Counts what is executed, and notes the gas at the steps of outermost frames."""

    def __init__(self, trace: Any) -> None:
        self.trace = trace
        self.executed: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.exits: Counter[str] = Counter()
        self.excluded: Counter[str] = Counter()
        self.steps: list[int] | None = None
        self.keen: list[int] = []
        """Of these steps, those before opcodes that look at the gas."""
        self.ops = 0

    def __call__(self, evm: Any, event: Any) -> None:
        trace = self.trace
        if isinstance(event, trace.OpStart):
            evm.running_op = event.op.name
            self.ops += 1
            if self.steps is not None and not evm.message.depth and len(self.steps) < STEPS_MAX:
                self.steps.append(int(evm.gas_left))
                if event.op.name in KEEN:
                    self.keen.append(int(evm.gas_left))
        elif isinstance(event, trace.OpEnd):
            self.executed[evm.running_op] += 1
        elif isinstance(event, trace.PrecompileStart):
            evm.running_op = f"precompile {int.from_bytes(event.address, 'big')}"
        elif isinstance(event, trace.PrecompileEnd):
            self.executed[evm.running_op] += 1
        elif isinstance(event, trace.OpException):
            called = type(event.error).__name__
            if called == "InvalidOpcode":
                failed = f"byte {evm.code[int(evm.pc)]:02x}"
            else:
                failed = getattr(evm, "running_op", "nothing")
            table = self.executed if called == "Revert" else self.failed
            table[failed if called == "Revert" else f"{failed} {called}"] += 1

    def note(self, answer: Answer) -> None:
        for result in answer["transactions"]:
            if "excluded" in result:
                self.excluded[result["excluded"]] += 1
            else:
                self.exits[result["error"] or "success"] += 1

    def told(self) -> dict[str, Any]:
        return {
            "ops": self.ops,
            "executed": self.executed,
            "failed": self.failed,
            "exits": self.exits,
            "excluded": self.excluded,
        }


class Fork:
    """One fork's modules. Values of one fork are not those of another, so nothing is shared."""

    def __init__(self, name: str) -> None:
        home = f"ethereum.forks.{name.lower()}"
        self.fork = import_module(f"{home}.fork")
        self.state = import_module(f"{home}.state")
        self.trie = import_module(f"{home}.trie")
        self.vm = import_module(f"{home}.vm")
        self.types = import_module(f"{home}.fork_types")
        self.transactions = import_module(f"{home}.transactions")
        self.call: Any = None
        """What the last transaction's message came to."""
        self.returned = b""
        self._hook(home)

    def _hook(self, home: str) -> None:
        interpreter: Any = import_module(f"{home}.vm.interpreter")
        analyse = lru_cache(REMEMBERED_MAX)(interpreter.get_valid_jump_destinations)
        interpreter.get_valid_jump_destinations = analyse
        called, ran, created = (
            interpreter.process_message_call,
            interpreter.process_message,
            interpreter.process_create_message,
        )

        def watched_call(message: Any) -> Any:
            self.returned = b""
            self.call = called(message)
            return self.call

        def watched(run: Callable[[Any], Any]) -> Callable[[Any], Any]:
            def watching(message: Any) -> Any:
                evm = run(message)
                if not message.depth:
                    self.returned = bytes(evm.output)
                return evm

            return watching

        fork: Any = self.fork
        fork.process_message_call = watched_call
        interpreter.process_message = watched(ran)
        interpreter.process_create_message = watched(created)
        exceptions = import_module(f"{home}.vm.exceptions")
        charge = import_module(f"{home}.vm.gas").charge_gas
        precompiles = interpreter.PRE_COMPILED_CONTRACTS
        for address in precompiles:
            if int.from_bytes(address, "big") in SLOW_PRECOMPILES:
                precompiles[address] = remembered(
                    precompiles[address], charge, exceptions.OutOfGasError
                )


def remembered(
    run: Callable[[Any], None], charge: Callable[[Any, Any], None], out_of_gas: type[Exception]
) -> Callable[[Any], None]:
    """The same precompile; what it answered is a function of its input, and so is its price."""
    known: dict[bytes, tuple[Any, Any, Exception | None]] = {}

    def answer(evm: Any) -> None:
        given = bytes(evm.message.data)
        entry = known.get(given)
        if entry is not None:
            cost, output, error = entry
            if error is not None:
                raise type(error)(*error.args)
            charge(evm, cost)
            evm.output = output
            return
        if len(known) >= REMEMBERED_MAX:
            known.clear()
        gas = evm.gas_left
        try:
            run(evm)
        except out_of_gas:
            raise
        except Exception as error:
            known[given] = None, None, error
            raise
        known[given] = gas - evm.gas_left, evm.output, None

    return answer


class Oracle:
    """Answers cases, one after the other."""

    def __init__(self) -> None:
        numeric: Any = import_module("ethereum_types.numeric")
        binary: Any = import_module("ethereum_types.bytes")
        trace: Any = import_module("ethereum.trace")
        self.rlp: Any = import_module("ethereum_rlp.rlp")
        exceptions: Any = import_module("ethereum.exceptions")
        encodings: Any = import_module("ethereum_rlp.exceptions")
        self.expected = (exceptions.EthereumException, encodings.RLPException, Excluded)
        """Anything else is a fault of EELS itself, and its answer says nothing."""
        self.u64, self.u256, self.uint = numeric.U64, numeric.U256, numeric.Uint
        self.b32, self.address = binary.Bytes32, binary.Bytes20
        self.watch = Watch(trace)
        self._forks: dict[str, Fork] = {}
        self._trace = trace
        self._no_watch: Any = trace.discard_evm_trace

    def watched(self, is_watched: bool) -> None:
        self._trace.set_evm_trace(self.watch if is_watched else self._no_watch)

    def answer(self, request: Request) -> Answer:
        if request.get("coverage"):
            return self.watch.told()
        fork = self._forks.get(request["fork"])
        if fork is None:
            fork = self._forks[request["fork"]] = Fork(request["fork"])
        self.watched(bool(request.get("watched")) or bool(request.get("steps")))
        state = self._state(fork, request["accounts"])
        block = self._block(fork, request["block"], state)
        output = fork.vm.BlockOutput()
        results = [
            self._transact(fork, block, output, index, bytes.fromhex(raw[2:]), request)
            for index, raw in enumerate(request["transactions"])
        ]
        answer: Answer = {"transactions": results, "accounts": shown_state(state)}
        if request.get("root"):
            answer["root"] = "0x" + fork.state.state_root(state).hex()
        self.watch.note(answer)
        return answer

    def _state(self, fork: Fork, accounts: dict[str, Any]) -> Any:
        state = fork.state.State()
        for address, account in accounts.items():
            at = self.address(bytes.fromhex(address[2:]))
            fork.state.set_account(
                state,
                at,
                fork.types.Account(
                    nonce=self.uint(int(account["nonce"], 16)),
                    balance=self.u256(int(account["balance"], 16)),
                    code=bytes.fromhex(account["code"][2:]),
                ),
            )
            for key, value in account["storage"].items():
                slot = self.b32(int(key, 16).to_bytes(32, "big"))
                fork.state.set_storage(state, at, slot, self.u256(int(value, 16)))
        return state

    def _block(self, fork: Fork, block: dict[str, Any], state: Any) -> Any:
        return fork.vm.BlockEnvironment(
            chain_id=self.u64(int(block["chain_id"], 16)),
            state=state,
            block_gas_limit=self.uint(int(block["gas_limit"], 16)),
            block_hashes=[self.b32(bytes.fromhex(one[2:])) for one in block["hashes"]],
            coinbase=self.address(bytes.fromhex(block["coinbase"][2:])),
            number=self.uint(int(block["number"], 16)),
            base_fee_per_gas=self.uint(int(block["base_fee"], 16)),
            time=self.u256(int(block["time"], 16)),
            prev_randao=self.b32(bytes.fromhex(block["randao"][2:])),
            excess_blob_gas=self.u64(int(block["excess_blob_gas"], 16)),
            parent_beacon_block_root=self.b32(bytes(32)),
        )

    def _transact(
        self, fork: Fork, block: Any, output: Any, index: int, raw: bytes, request: Request
    ) -> Answer:
        state = block.state
        kept = (
            fork.trie.copy_trie(state._main_trie),
            {at: fork.trie.copy_trie(trie) for at, trie in state._storage_tries.items()},
        )
        gas_before, logs_before = int(output.block_gas_used), len(output.block_logs)
        self.watch.steps = [] if request.get("steps") else None
        self.watch.keen = []
        try:
            transaction = self._read(fork, raw)
            if getattr(transaction, "chain_id", block.chain_id) != block.chain_id:
                raise WrongChain("another chain")
            fork.fork.process_transaction(block, output, transaction, self.uint(index))
        except Exception as error:  # noqa: BLE001 - each is an answer: the transaction is excluded.
            # EELS judges whole blocks, so it leaves what a bad transaction did as it is.
            state._main_trie, state._storage_tries = kept
            state._snapshots.clear()
            state.created_accounts.clear()
            return {
                "excluded": type(error).__name__,
                "reason": str(error),
                "is_judged": isinstance(error, self.expected),
            }
        call = fork.call
        result: Answer = {
            "gas": int(output.block_gas_used) - gas_before,
            "status": int(call.error is None),
            "output": "0x" + fork.returned.hex(),
            "error": None if call.error is None else type(call.error).__name__,
            "logs": [shown_log(log) for log in output.block_logs[logs_before:]],
            "receipt": "0x" + self._receipt(fork, output, index).hex(),
        }
        if self.watch.steps is not None:
            result["steps"] = self.watch.steps
            result["keen"] = self.watch.keen
            result["gas_limit"] = int(transaction.gas)
        return result

    def _receipt(self, fork: Fork, output: Any, index: int) -> bytes:
        key = self.rlp.encode(self.uint(index))
        receipt = fork.trie.trie_get(output.receipts_trie, key)
        return bytes(receipt if isinstance(receipt, bytes) else self.rlp.encode(receipt))

    def _read(self, fork: Fork, raw: bytes) -> Any:
        if not raw:
            raise Excluded("no bytes")
        if raw[0] >= 0xC0:
            return self.rlp.decode_to(fork.transactions.LegacyTransaction, raw)
        return fork.transactions.decode_transaction(raw)


def shown_log(log: Any) -> list[Any]:
    topics = ["0x" + bytes(topic).hex() for topic in log.topics]
    return ["0x" + bytes(log.address).hex(), topics, "0x" + bytes(log.data).hex()]


def shown_state(state: Any) -> dict[str, Any]:
    storages = {
        address: {
            hex(int.from_bytes(key, "big")): hex(int(value)) for key, value in trie._data.items()
        }
        for address, trie in state._storage_tries.items()
    }
    shown = {}
    for address, account in state._main_trie._data.items():
        shown["0x" + bytes(address).hex()] = {
            "nonce": hex(int(account.nonce)),
            "balance": hex(int(account.balance)),
            "code": "0x" + bytes(account.code).hex(),
            "storage": storages.pop(address, {}),
        }
    for address, storage in storages.items():
        shown["0x" + bytes(address).hex()] = {"storage": storage}
    return shown


def main() -> int:
    sys.setrecursionlimit(RECURSION_MAX)
    oracle = Oracle()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(oracle.answer(json.loads(line))) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
