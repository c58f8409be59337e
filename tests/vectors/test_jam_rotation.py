"""The guarantors that the report vectors take and refuse: rotation, epoch and offenders alone."""

from pathlib import Path
from typing import Any

import pytest
from tests.jam.lookups import are_at
from tests.vectors.folder import unhex
from tests.vectors.jam_cases import cases, ed25519_keys, read_case

from laneway.jam.ed25519 import ZERO_KEY
from laneway.jam.rotation import Guarantors, ValidatorStanding, guarantee_slots, guarantors_for
from laneway.jam.spec import ChainSpec

pytestmark = pytest.mark.vectors


@pytest.mark.parametrize(("spec", "path"), cases("reports"))
def test_guarantors_are_those_that_the_vectors_take(spec: ChainSpec, path: Path) -> None:
    given, state, output, _ = read_case(path)
    slot, guarantees = given["slot"], given["guarantees"]
    slots = guarantee_slots(slot, spec)
    match output.get("err", "ok"):
        case "ok":
            pairs = paired(guarantees, standing_of(state), slot, spec)
            assert all(seated(at, guarantee) for at, guarantee in pairs)
            keys = {at.keys[place] for at, guarantee in pairs for place in places(guarantee)}
            assert ZERO_KEY not in keys
            assert sorted(keys) == sorted(map(unhex, output["ok"]["reporters"]))
        case "wrong_assignment" | "bad_validator_index" | "bad_core_index":
            pairs = paired(guarantees, standing_of(state), slot, spec)
            assert not all(seated(at, guarantee) for at, guarantee in pairs)
        case "banned_validator":
            pairs = paired(guarantees, standing_of(state), slot, spec)
            keys = {at.keys[place] for at, guarantee in pairs for place in places(guarantee)}
            assert ZERO_KEY in keys
        case "future_report_slot":
            assert any(guarantee["slot"] > slots[-1] for guarantee in guarantees)
        case "report_epoch_before_last":
            assert any(guarantee["slot"] < slots[0] for guarantee in guarantees)
        case _:
            pass  # Refused for what is not asked here: who signs is left open.


def paired(
    guarantees: Any, standing: ValidatorStanding, slot: int, spec: ChainSpec
) -> list[tuple[Guarantors, Any]]:
    return [(guarantors_for(standing, slot, one["slot"], spec), one) for one in guarantees]


def standing_of(state: Any) -> ValidatorStanding:
    return ValidatorStanding(
        entropy=tuple(map(unhex, state["entropy"])),
        active=ed25519_keys(state["curr_validators"]),
        previous=ed25519_keys(state["prev_validators"]),
        offenders=tuple(map(unhex, state["offenders"])),
    )


def seated(at: Guarantors, guarantee: Any) -> bool:
    return are_at(at, guarantee["report"]["core_index"], places(guarantee))


def places(guarantee: Any) -> tuple[int, ...]:
    return tuple(one["validator_index"] for one in guarantee["signatures"])
