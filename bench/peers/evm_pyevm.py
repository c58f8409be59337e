"""py-evm: transactions by its Prague VM's own `apply_transaction`, on its own account database.

Signatures are checked before the clock starts, by its own functions with coincurve, and not again
while it runs. Started with ETH_HASH_BACKEND=pysha3; without it, it takes a slower hash.
"""

import gc
import os
import time

os.environ["ETH_HASH_BACKEND"] = "pysha3"

from eth import constants  # noqa: E402
from eth.chains.base import MiningChain  # noqa: E402
from eth.consensus.noproof import NoProofConsensus  # noqa: E402
from eth.db.atomic import AtomicDB  # noqa: E402
from eth.vm.forks.berlin.transactions import TypedTransaction  # noqa: E402
from eth.vm.forks.prague import PragueVM  # noqa: E402
from wire import asked, told  # noqa: E402


class Prague(PragueVM):
    consensus_class = NoProofConsensus


def genesis(question):
    """A chain whose first block has the state, and a block on top that is being made."""
    block = question["block"]

    class Chain(MiningChain):
        vm_configuration = ((0, Prague),)
        chain_id = block["chain_id"]

    state = {
        bytes.fromhex(text[2:]): {
            "nonce": account["nonce"],
            "balance": int(account["balance"], 16),
            "code": bytes.fromhex(account["code"][2:]),
            "storage": {int(key, 16): int(value, 16) for key, value in account["storage"].items()},
        }
        for text, account in question["state"].items()
    }
    params = {
        "difficulty": 0,
        "gas_limit": block["gas_limit"],
        "timestamp": block["time"] - 1,
        "coinbase": constants.ZERO_ADDRESS,
    }
    return Chain.from_genesis(AtomicDB(), params, state)


def main():
    question = asked()
    block = question["block"]
    vm = genesis(question).get_vm()
    header = vm.get_header().copy(
        coinbase=bytes.fromhex(block["coinbase"][2:]),
        timestamp=block["time"],
        gas_limit=block["gas_limit"],
        base_fee_per_gas=block["base_fee"],
        gas_used=0,
    )
    vm = type(vm)(
        header=header,
        chaindb=vm.chaindb,
        chain_context=vm.chain_context,
        consensus_context=vm.consensus_context,
    )
    builder = vm.get_transaction_builder()
    raws = [bytes.fromhex(raw[2:]) for raw in question["transactions"]]
    begun_s = time.process_time()
    known = [builder.decode(raw) for raw in raws]
    for one in known:
        one.check_signature_validity()
        assert one.sender == bytes.fromhex(question["sender"][2:])
    recovery_s = time.process_time() - begun_s
    TypedTransaction.check_signature_validity = lambda _: None
    type(known[0]._inner).check_signature_validity = lambda _: None
    gas = []
    gc.collect()
    gc.freeze()
    for number, one in enumerate(known):
        if number == question["warm"]:
            begun_s = time.process_time()
        receipt, _ = vm.apply_transaction(header, one)
        gas.append(receipt.gas_used - header.gas_used)
        header = header.copy(gas_used=receipt.gas_used)
    spent_s = time.process_time() - begun_s
    assert gas == question["gas"], "the gas differs"
    jobs = len(raws) - question["warm"]
    told(jobs=jobs, cpu_s=spent_s, recovery_us=1e6 * recovery_s / len(raws))


main()
