"""The reports vectors: what the guarantees of a block come to, or the rule that one breaks.

What our model does not decide of them is said in docs/jam-scope.md.
"""

from pathlib import Path
from typing import Any

import pytest
from tests.vectors.jam_cases import cases, ed25519_keys, read_case
from tests.vectors.jam_json import from_json, to_json

from laneway.jam.extrinsic import ReportGuarantee
from laneway.jam.rotation import ValidatorStanding
from laneway.jam.rules.activity import core_activity, service_activity
from laneway.jam.rules.assuring import PendingReport
from laneway.jam.rules.checks import RecentBlock, ReportingState, ServiceTerms
from laneway.jam.rules.reporting import GuaranteesRefused, ReportedGuarantees, judge_guarantees
from laneway.jam.spec import ChainSpec

pytestmark = pytest.mark.vectors

CHANGED = ("avail_assignments", "cores_statistics", "services_statistics")
"""What guarantees may change of the state; the rest stays as it was."""


def state_of(said: Any) -> ReportingState:
    return ReportingState(
        pending=from_json(tuple[PendingReport | None, ...], said["avail_assignments"]),
        standing=ValidatorStanding(
            entropy=from_json(tuple[bytes, ...], said["entropy"]),
            active=ed25519_keys(said["curr_validators"]),
            previous=ed25519_keys(said["prev_validators"]),
            offenders=from_json(tuple[bytes, ...], said["offenders"]),
        ),
        recent=from_json(tuple[RecentBlock, ...], said["recent_blocks"]["history"]),
        authorizer_pools=from_json(tuple[tuple[bytes, ...], ...], said["auth_pools"]),
        services={one["id"]: terms(one["data"]["service"]) for one in said["accounts"]},
    )


def terms(service: Any) -> ServiceTerms:
    return ServiceTerms(from_json(bytes, service["code_hash"]), service["min_item_gas"])


@pytest.mark.parametrize(("spec", "path"), cases("reports"))
def test_guarantees_are_judged_as_the_vectors_say(spec: ChainSpec, path: Path) -> None:
    given, before, output, after = read_case(path)
    guarantees = from_json(tuple[ReportGuarantee, ...], given["guarantees"])
    known = frozenset(from_json(tuple[bytes, ...], given["known_packages"]))
    answer = judge_guarantees(state_of(before), guarantees, given["slot"], known, spec)
    if isinstance(answer, GuaranteesRefused):
        assert output == {"err": answer.fault.value}
        assert after == before
        return
    assert output == {"ok": said_of(answer)}
    reports = [one.report for one in guarantees]
    cores = core_activity(reports, (), (), spec)
    services = service_activity(reports, {}, {})
    changed = {
        "avail_assignments": to_json(answer.pending),
        "cores_statistics": to_json(cores),
        "services_statistics": [
            {"id": service, "record": to_json(record)} for service, record in services.items()
        ],
    }
    assert tuple(changed) == CHANGED
    assert after == before | changed


def said_of(answer: ReportedGuarantees) -> Any:
    return {
        "reported": [
            {
                "work_package_hash": to_json(package.hash),
                "segment_tree_root": to_json(package.exports_root),
            }
            for package in answer.reported
        ],
        "reporters": to_json(answer.reporters),
    }
