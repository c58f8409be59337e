"""The assurances vectors: which reports become available, or the rule that an assurance breaks."""

from pathlib import Path

import pytest
from tests.vectors.jam_cases import cases, ed25519_keys, read_case
from tests.vectors.jam_json import from_json, to_json

from laneway.jam.extrinsic import AvailAssurance
from laneway.jam.rules.assuring import AssurancesRefused, PendingReport, judge_assurances
from laneway.jam.spec import ChainSpec

pytestmark = pytest.mark.vectors


@pytest.mark.parametrize(("spec", "path"), cases("assurances"))
def test_assurances_are_judged_as_the_vectors_say(spec: ChainSpec, path: Path) -> None:
    given, before, output, after = read_case(path)
    answer = judge_assurances(
        from_json(tuple[PendingReport | None, ...], before["avail_assignments"]),
        from_json(tuple[AvailAssurance, ...], given["assurances"]),
        keys=ed25519_keys(before["curr_validators"]),
        slot=given["slot"],
        parent=from_json(bytes, given["parent"]),
        spec=spec,
    )
    if isinstance(answer, AssurancesRefused):
        assert output == {"err": answer.fault.value}
        assert after == before
        return
    assert output == {"ok": {"reported": to_json(answer.available)}}
    assert after == before | {"avail_assignments": to_json(answer.pending)}
