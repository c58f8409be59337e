"""What was there before a transaction, and what changed."""

from typing import Any

from tests.evm.scene import COINBASE, CONTRACT, OTHER, SENDER, Scene, assemble, returns

from laneway.evm.opcodes.system import created_address
from laneway.evm.tracing.prestate import StateDifference, TracedAccount, difference, prestate

RICH = 10**24
TO = "0x" + OTHER.hex()


def both(scene: Scene, **fields: Any) -> tuple[dict[bytes, TracedAccount], StateDifference]:
    scene.transact(**fields)
    sets = (scene.journal.read_set(), scene.journal.write_set())
    return prestate(scene.state, *sets), difference(scene.state, *sets)


def test_a_transfer_touches_sender_recipient_and_who_is_paid() -> None:
    before, changes = both(Scene(), to=OTHER, value_wei=5)
    poor = TracedAccount(balance_wei=0, nonce=0, code=b"")
    assert before == {
        SENDER: TracedAccount(balance_wei=RICH, nonce=0, code=b""),
        OTHER: poor,
        COINBASE: poor,
    }
    assert changes.before == before
    assert changes.after == {
        SENDER: TracedAccount(balance_wei=RICH - 5 - 21_000 * 8, nonce=1),
        OTHER: TracedAccount(balance_wei=5),
        COINBASE: TracedAccount(balance_wei=21_000),
    }


def test_only_storage_that_changed_is_a_difference() -> None:
    scene = Scene()
    code = assemble(f"1 SLOAD 9 SLOAD 0 2 SSTORE 7 3 SSTORE {TO} BALANCE")
    scene.put(CONTRACT, code, storage={1: 5, 2: 6})
    scene.put(OTHER, balance_wei=3)
    before, changes = both(scene)
    assert before[CONTRACT].storage == {1: 5, 9: 0, 2: 6, 3: 0}
    assert before[OTHER].balance_wei == 3
    assert changes.before[CONTRACT] == TracedAccount(
        balance_wei=0, nonce=0, code=code, storage={2: 6}
    )
    assert changes.after[CONTRACT] == TracedAccount(storage={3: 7})
    assert OTHER not in changes.before


def test_an_account_that_is_created_is_only_afterwards() -> None:
    scene = Scene()
    made = created_address(SENDER, 0)
    # Deploys one byte, and stores something.
    before, changes = both(scene, to=None, data=assemble("8 1 SSTORE 1 0 RETURN"))
    assert made not in before
    assert made not in changes.before
    assert changes.after[made] == TracedAccount(nonce=1, code=b"\0", storage={1: 8})


def test_an_account_that_is_gone_is_only_before() -> None:
    scene = Scene()
    scene.state.put(OTHER, balance_wei=0)
    before, changes = both(scene, to=OTHER)
    assert before[OTHER] == TracedAccount(balance_wei=0, nonce=0, code=b"")
    assert OTHER in changes.before
    assert OTHER not in changes.after


def test_nothing_is_different_where_nothing_changed() -> None:
    scene = Scene()
    scene.put(CONTRACT, returns("1"))
    before, changes = both(scene, tip_wei_max=0)
    assert CONTRACT in before
    assert list(changes.after) == [SENDER]
