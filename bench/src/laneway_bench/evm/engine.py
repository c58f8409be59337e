"""laneway as a contestant: transactions on one state and one core, interpreted or compiled."""

import time
from typing import Any

from laneway.evm import EvmExecution, StateJournal, rules_of, validate
from laneway.evm.envelope import decode
from laneway.evm.limits import COMPILED_AFTER_GAS, NEVER_COMPILED
from laneway_bench.child import BenchFailed
from laneway_bench.contestant import answer_all, tune
from laneway_bench.evm.workload import FORK, block_context, plain_state


def measure(question: dict[str, Any]) -> dict[str, Any]:
    """CPU seconds of decoding and recovery, and of all that comes after them."""
    rules, warm = rules_of(FORK), question["warm"]
    raws = [bytes.fromhex(raw[2:]) for raw in question["transactions"]]
    begun_s = time.process_time()
    transactions = [(one := decode(raw), validate(one, FORK)) for raw in raws]
    recovery_s = time.process_time() - begun_s
    execution = EvmExecution(
        StateJournal(plain_state(question["state"])),
        block_context(),
        rules,
        compiled_after=COMPILED_AFTER_GAS if question["fast"] else NEVER_COMPILED,
    )
    gas = []
    tune()
    for number, (one, sender) in enumerate(transactions):
        if number == warm:
            begun_s = time.process_time()
        receipt = execution.transact(one, sender)
        receipt.encode(execution.gas_used)
        gas.append(receipt.gas_used)
    spent_s = time.process_time() - begun_s
    if gas != question["gas"]:
        raise BenchFailed("the gas differs")
    jobs = len(raws) - warm
    return {"jobs": jobs, "cpu_s": spent_s, "recovery_us": 1e6 * recovery_s / len(raws)}


def main() -> None:
    answer_all(measure)


if __name__ == "__main__":
    main()
