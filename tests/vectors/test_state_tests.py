"""GeneralStateTests of ethereum/tests: the same state, logs and refusals, in every fork we have."""

from typing import Any

import pytest
from msgspec import structs
from tests.vectors.evm_engine import ENGINES, problems
from tests.vectors.folder import rows, unhex
from tests.vectors.state_tests import signed_bytes, state_test, transaction

from laneway.evm.envelope import decode, sender, signing_digest
from laneway.evm.errors import InvalidTransaction
from laneway.evm.keccak import keccak
from laneway.evm.transaction import LegacyTransaction

pytestmark = pytest.mark.vectors

CASES = rows("evm", "statetests")

NO_LOGS = keccak(b"\xc0")

LEFT_OUT = {
    "VMTests/vmPerformance/loopMul": "three loops, together a minute compiled, four interpreted",
    "VMTests/vmPerformance/loopExp": "as loopMul, with EXP",
    "stTimeConsuming/CALLBlake2f_MaxRounds": "4,294,967,295 rounds of BLAKE2b take a minute",
}
"""Tests that are not run, by folder and file, each with its reason."""
EXECUTED = [case for case in CASES if str(case.id).partition(":")[0] not in LEFT_OUT]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", EXECUTED)
def test_every_transaction_leaves_the_state_and_the_logs_of_the_vectors(
    case: dict[str, Any], engine: str
) -> None:
    assert problems(state_test(case), engine) == []


@pytest.mark.parametrize("case", CASES)
def test_a_transaction_that_no_block_takes_leaves_the_state_of_before(case: dict[str, Any]) -> None:
    test = state_test(case)
    root = test.pre.trie().root()
    for row in test.rows:
        if row.exception is not None:
            assert (row.root, row.logs_hash) == (root, NO_LOGS), row.name
        else:
            assert row.root != root, row.name


@pytest.mark.parametrize("case", CASES)
def test_the_fields_of_a_row_are_those_of_its_bytes(case: dict[str, Any]) -> None:
    """So that a row whose bytes are missing is read as the others are."""
    fields = case["transaction"]
    for post in [post for posts in case["post"].values() for post in posts if "txbytes" in post]:
        raw = unhex(post["txbytes"])
        try:
            read = decode(raw)
        except InvalidTransaction:
            assert "expectException" in post
            continue
        made = transaction(fields, post["indexes"])
        if isinstance(read, LegacyTransaction) and isinstance(made, LegacyTransaction):
            made = structs.replace(made, chain_id=read.chain_id)
        assert structs.replace(read, signature=None) == made
        assert signing_digest(read) == signing_digest(made)
        assert sender(read) == unhex(fields.get("sender", "0x")) or "sender" not in fields
        if made.chain_id is not None and made.type:
            assert signed_bytes(fields, post["indexes"]) == raw
