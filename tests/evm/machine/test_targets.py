"""What runs when an account is called."""

from tests.evm.scene import CONTRACT, OTHER, Scene

from laneway.evm.machine.targets import NO_CODE, delegate_of, delegated_target, target_of

DELEGATION = b"\xef\x01\x00" + OTHER
SHA256 = b"\x02".rjust(20, b"\0")


def test_a_delegation_has_its_prefix_and_an_address() -> None:
    assert delegate_of(DELEGATION) == OTHER
    assert delegate_of(DELEGATION + b"\0") is None
    assert delegate_of(b"\xef\x01\x01" + OTHER) is None


def test_an_account_without_code_runs_nothing() -> None:
    scene = Scene()
    assert target_of(scene.context(), OTHER).code is NO_CODE


def test_an_account_with_code_runs_it() -> None:
    scene = Scene()
    scene.put(CONTRACT, "STOP")
    target = target_of(scene.context(), CONTRACT)
    assert (target.code.raw, target.precompile) == (b"\0", None)
    assert target_of(scene.context(), CONTRACT).code is target.code, "it is analysed once"


def test_a_precompile_is_none_for_who_delegates_to_it() -> None:
    context = Scene().context()
    assert target_of(context, SHA256).precompile is not None
    assert delegated_target(context, SHA256).precompile is None
