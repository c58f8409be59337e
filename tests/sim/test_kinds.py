"""The simulator runs what it is given: a kind of worlds that it does not know of."""

import json
from collections.abc import Iterator

import pytest

from laneway.core.rows import Result
from laneway.sim import cli, kinds
from laneway.sim.clients import Wish
from laneway.sim.contract.laws import ContractLaws
from laneway.sim.contract.plan import contract_plan
from laneway.sim.contract.shell import ContractShell
from laneway.sim.contract.world import ContractWorld
from laneway.sim.kinds import WorldKind, names, register, world_kind
from laneway.sim.run import LAYERS, run_world


class StrangeLaws(ContractLaws):
    def check_result(self, wish: Wish, result: Result) -> None:
        super().check_result(wish, result)
        self._world.seen["a law of its own"] += 1


STRANGE = WorldKind(
    name="strange",
    plan=contract_plan,
    world=ContractWorld,
    laws=StrangeLaws,
    shell=ContractShell,
    sometimes={"s1": ("a law of its own",)},
)


@pytest.fixture(autouse=True)
def table() -> Iterator[None]:
    known = dict(kinds._registered)
    yield
    kinds._registered.clear()
    kinds._registered.update(known)


def test_a_kind_that_is_registered_is_run_in_every_layer_under_its_own_laws() -> None:
    register(STRANGE)
    assert names() == ("contract", "eoa", "cosmos", "rollup", "strange")
    for layer in LAYERS:
        verdict = run_world(3, layer, "strange")
        assert verdict.broken is None
        assert verdict.kind == "strange"
    assert run_world(3, "s1", "strange").seen["a law of its own"] > 0


def test_the_command_runs_it_and_knows_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    register(STRANGE)
    assert cli.main(seed=None, seeds=3, layer="s1", json=True, kind="strange") == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "strange"
    assert cli.main(seed=None, seeds=3, layer="s1", json=True, kind="unheard") == 2
    assert "one of contract, eoa, cosmos, rollup, strange" in capsys.readouterr().err


def test_worlds_of_contracts_are_there_from_the_beginning() -> None:
    assert world_kind("contract").name == "contract"
    assert world_kind("contract") is world_kind("contract")
    assert not world_kind("contract").has_liars
