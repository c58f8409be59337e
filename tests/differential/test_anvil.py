"""A slice of the comparison with a real anvil, and what anvil does otherwise than Ethereum."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.differential import core
from tests.differential.anvil_oracle import Anvils, anvils, for_anvil
from tests.differential.anvil_run import Comparison, compared
from tests.differential.case import Case, CaseAccount, Damage, Draft, signed_authorization
from tests.differential.core import PLAIN_BLOCK
from tests.differential.generator import make_case
from tests.differential.world import account, created

from laneway.evm.transaction import LegacyTransaction, SetCodeTransaction, Transaction

pytestmark = pytest.mark.slow

DOCUMENT = Path(__file__).parents[2] / "docs/evm-devnet.md"
SLICE_SEEDS = range(40)
SECRET, OTHER_SECRET = b"\x01" * 32, b"\x02" * 32
SENDER = account(SECRET)
NOWHERE = b"\x22" * 20
RICH = CaseAccount(balance_wei=10**24)
CREATED = created(SENDER, 0)


@pytest.fixture(scope="module")
def nodes() -> Iterator[Anvils]:
    with anvils() as made:
        yield made


def case(
    made: Transaction,
    sender: CaseAccount = RICH,
    others: dict[bytes, CaseAccount] | None = None,
    damage: Damage | None = None,
) -> Case:
    accounts = {SENDER: sender, **(others or {})}
    return Case("by hand", "Prague", PLAIN_BLOCK, accounts, (Draft(made, SECRET, damage),))


def legacy(to: bytes | None = NOWHERE) -> Transaction:
    return LegacyTransaction(0, 1, 100_000, to, 0, b"", PLAIN_BLOCK.chain_id)


def delegating() -> Transaction:
    by_nobody_yet = signed_authorization(PLAIN_BLOCK.chain_id, NOWHERE, 0, OTHER_SECRET)
    return SetCodeTransaction(
        *(PLAIN_BLOCK.chain_id, 0, 0, 1, 100_000, NOWHERE, 0), authorizations=(by_nobody_yet,)
    )


DIFFERENCES = {
    "a sender with code (EIP-3607)": (
        case(legacy(), CaseAccount(0, 10**24, (("STOP",),))),
        ("verdict", "success", "excluded: SenderHasCode"),
    ),
    "a signature with a high `s` (EIP-2)": (
        case(legacy(), damage=Damage("high_s")),
        ("verdict", "success", "excluded: InvalidSignature"),
    ),
    "an authorization by an account that does not exist (EIP-7702)": (
        case(delegating()),
        ("gas", "36800", "46000"),
    ),
    "a contract created where storage lies (EIP-7610)": (
        case(legacy(to=None), others={CREATED: CaseAccount(0, 1, (), {1: 1})}),
        ("gas", "53000", "100000"),
    ),
}
"""By their names in docs/evm-devnet.md: the smallest case, and what both make of it."""


@pytest.mark.parametrize("name", DIFFERENCES)
def test_anvil_differs_from_ethereum_just_so(nodes: Anvils, name: str) -> None:
    asked, wanted = DIFFERENCES[name]
    found, _ = compared(asked, nodes, core.ENGINES[0])
    assert [(one.kind, one.oracle, one.core) for one in found[:1]] == [wanted]
    assert compared(for_anvil(asked), nodes, core.ENGINES[0])[0] == []
    assert f"| {name} |" in DOCUMENT.read_text()


@pytest.mark.parametrize("engine", core.ENGINES)
def test_laneway_and_anvil_agree(nodes: Anvils, engine: str) -> None:
    """On what is included, gas, output, logs, receipts and every account."""
    comparison = Comparison(nodes, engine)
    comparison.run(str(seed) for seed in SLICE_SEEDS if not has_blobs(seed))
    assert comparison.broken == 0
    assert comparison.included > 2 * len(SLICE_SEEDS)


def has_blobs(seed: int) -> bool:
    """The first blobs take anvil some seconds, so they are left to `make soak`."""
    return any(draft.transaction.type == 3 for draft in make_case(seed).drafts)
