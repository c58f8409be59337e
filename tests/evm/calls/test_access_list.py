"""Access lists that are made by running a request."""

from typing import Any

from tests.evm.scene import CONTRACT, OTHER, SENDER, Scene

from laneway.evm.calls.access_list import MadeAccessList, make_access_list
from laneway.evm.calls.request import CallRequest
from laneway.evm.limits import ACCESS_LIST_ROUNDS_MAX
from laneway.evm.transaction import Access, Authorization, authority

THIRD = b"\x33" * 20


def word(number: int) -> bytes:
    return number.to_bytes(32, "big")


def made(scene: Scene, **fields: Any) -> MadeAccessList:
    given: dict[str, Any] = {"sender": SENDER, "to": CONTRACT, "gas": 1_000_000} | fields
    return make_access_list(scene.state, scene.block, scene.rules, CallRequest(**given))


def test_a_transfer_needs_none() -> None:
    assert made(Scene(), to=OTHER, value_wei=1).entries == ()


def test_what_is_warm_anyway_is_listed_only_with_keys() -> None:
    scene = Scene()
    scene.put(
        CONTRACT,
        f"5 SLOAD 1 3 SSTORE CALLER BALANCE ADDRESS EXTCODESIZE 0 0 0 0 4 GAS STATICCALL "
        f"0 0 0 0 0x{OTHER.hex()} GAS DELEGATECALL 0x{THIRD.hex()} EXTCODEHASH",
    )
    scene.put(OTHER, "7 SLOAD")
    assert made(scene).entries == (
        Access(OTHER),
        Access(THIRD),
        Access(CONTRACT, (word(3), word(5), word(7))),
    )


def test_gas_is_that_of_the_transaction_with_the_list() -> None:
    scene = Scene()
    scene.put(CONTRACT, "5 SLOAD 6 SLOAD")
    found = made(scene)
    assert found.answer.gas_used == 21_000 + 2_400 + 2 * 1_900 + 2 * (3 + 100)
    assert found.answer.is_good()


def test_what_a_failed_frame_touched_is_listed() -> None:
    scene = Scene()
    scene.put(CONTRACT, "5 SLOAD 0 0 REVERT")
    found = made(scene)
    assert found.entries == (Access(CONTRACT, (word(5),)),)
    assert found.answer.is_reverted


def test_steps_that_have_no_operand_touch_nothing() -> None:
    scene = Scene()
    for code in ("SLOAD", "BALANCE", "1 CALL"):
        scene.put(CONTRACT, code)
        assert made(scene).entries == ()


def test_a_given_list_is_kept_but_for_what_is_warm_anyway() -> None:
    given = (Access(THIRD), Access(OTHER, (word(1),)), Access(SENDER), Access(CONTRACT, (word(2),)))
    assert made(Scene(), access_list=given).entries == (given[1], given[0], given[3])


def test_code_that_always_touches_more_ends_after_the_last_round() -> None:
    """A slot for each remainder of gas that it never saw."""
    scene = Scene()
    scene.put(CONTRACT, "GAS SLOAD")
    found = made(scene)
    (entry,) = found.entries
    assert len(entry.keys) == ACCESS_LIST_ROUNDS_MAX


def test_who_authorized_is_warm_anyway() -> None:
    entry = Authorization(1, OTHER, 0, 0, 1, 1)
    nobody = Authorization(1, OTHER, 0, 0, 0, 0)
    scene = Scene()
    signer = authority(entry)
    assert signer is not None
    scene.put(CONTRACT, f"0x{signer.hex()} BALANCE 0x{OTHER.hex()} BALANCE")
    assert made(scene, authorizations=(entry, nobody)).entries == (Access(OTHER),)


def test_a_creation_leaves_its_own_address_out() -> None:
    assert made(Scene(), to=None, data=b"\x30\x31\x60\x07\x54").entries[0].keys == (word(7),)
