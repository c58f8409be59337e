"""The EVM devnet does with generated transactions what laneway's EVM does, under its own headers.

`test_anvil.py` compares the same EVM with anvil: so devnet and anvil agree on them.
"""

from collections.abc import Iterable
from typing import Any

import pytest
from msgspec import structs
from tests.differential import core
from tests.differential.anvil_oracle import NODE_RESULTS, NodeOracle, for_anvil, octets, shown
from tests.differential.case import Case, CaseAccount, shown_account
from tests.differential.compare import RESULTS, Difference, is_empty, transaction_differences
from tests.differential.generator import case_named, make_case

from laneway.devnets.evm.devnet import EvmDevnet
from laneway.evm.execution.system_calls import HISTORY
from laneway.wire.rpc_server.methods import RpcRefused

pytestmark = pytest.mark.slow

SEEDS = range(200)
GAS_LIMIT_MAX = 1 << 40
PREDEPLOYED = (HISTORY, bytes.fromhex("4e59b44847b379578588920ca78fbf26c0b4956c"))
"""Where anvil has contracts from the start: hashes of earlier blocks, and the maker of CREATE2."""
ASKED = [name for name in (*RESULTS, *NODE_RESULTS) if name != "output"]
"""A receipt says nothing of the output."""


class DevnetOracle(NodeOracle):
    """A devnet without its socket."""

    def __init__(self, chain_id: int) -> None:
        self._devnet = EvmDevnet(block_ms=None, chain_id=chain_id, balances={})
        self.hashes = [octets(self.ask("eth_getBlockByNumber", "latest", False)["hash"])]

    def first_accounts(self) -> dict[str, Any]:
        """Contracts that are there from the start."""
        codes = {shown(one): self.ask("eth_getCode", shown(one), "latest") for one in PREDEPLOYED}
        empty = shown_account(CaseAccount())
        return {name: empty | {"code": code} for name, code in codes.items() if code != "0x"}

    def answers(self, calls: Iterable[tuple[object, ...]]) -> list[dict[str, Any]]:
        return [self._answer(str(method), params) for method, *params in calls]

    def _answer(self, method: str, params: list[object]) -> dict[str, Any]:
        try:
            return {"result": self._devnet.say(method, *params)}
        except RpcRefused as no:
            return {"error": {"code": no.code, "message": no.message}}


def compared(case: Case) -> list[Difference]:
    accounts = {
        address: held
        for address, held in case.accounts.items()
        if not is_empty(shown_account(held))
    }
    case = structs.replace(case, accounts=accounts)
    devnet = DevnetOracle(case.block.chain_id)
    before = devnet.first_accounts()
    devnet.place(case)
    results, blocks, roots = [], [], []
    for result, header, block in devnet.mined(case, devnet.hashes):
        results.append(result)
        blocks.append(block)
        roots.append(header["stateRoot"])
    before |= {shown(address): shown_account(held) for address, held in accounts.items()}
    ours = core.answer_in_blocks(case, before, blocks, core.ENGINES[0])
    found = [*transaction_differences({"transactions": results}, ours, ASKED)]
    if roots[-1] != ours["root"]:
        found.append(Difference("state root", "all accounts", roots[-1], ours["root"]))
    return found


def is_for_it(case: Case) -> bool:
    """Of its fork, and no deeper than its blocks."""
    return case.fork == "Prague" and case.block.gas_limit < GAS_LIMIT_MAX


def test_the_devnet_executes_as_the_core_does() -> None:
    names = [str(seed) for seed in SEEDS if is_for_it(make_case(seed))]
    assert len(names) > len(SEEDS) // 10
    assert {name: compared(for_anvil(case_named(name))) for name in names} == {
        name: [] for name in names
    }
