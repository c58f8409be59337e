"""The rules on whole blocks: each block of the traces is judged by the state it was made on.

Reports, the ready queue, the history, and what is counted of cores and services must come out as
the trace says. The gas that services used is taken from the trace, and blocks that were refused or
that judge reports are left out (docs/jam-scope.md).
"""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.jam.components import account_service, component_codecs
from tests.vectors.folder import folder
from tests.vectors.jam_json import from_json

from laneway.jam import state_keys
from laneway.jam.extrinsic import Extrinsic
from laneway.jam.header import Block
from laneway.jam.history import corrected
from laneway.jam.rotation import ValidatorStanding
from laneway.jam.rules.activity import (
    CountAndSum,
    ServiceActivity,
    accumulated_counts,
    core_activity,
    service_activity,
)
from laneway.jam.rules.assuring import Assured, judge_assurances
from laneway.jam.rules.checks import ReportingState, ServiceTerms
from laneway.jam.rules.queueing import QueueState, block_gas, plan, round_count, settle
from laneway.jam.rules.reporting import (
    ReportedGuarantees,
    judge_guarantees,
    next_pools,
    packages_in_pipeline,
)
from laneway.jam.spec import FULL, TINY
from laneway.jam.state import SERVICE_ACCOUNT

pytestmark = pytest.mark.vectors

VALIDATOR_BYTES = 336


def traces() -> list[Any]:
    place = folder("jam", "traces")
    found = [
        pytest.param(path, id=str(path.relative_to(place).with_suffix("")))
        for path in sorted(place.rglob("*.json"))
    ]
    reason = "no vectors in jam/traces; set LANEWAY_VECTORS"
    return found or [pytest.param(Path(), id="none", marks=pytest.mark.skip(reason=reason))]


class State:
    """The components of a state, read when they are asked for."""

    def __init__(self, said: Any) -> None:
        self.entries = {
            from_json(bytes, one["key"]): from_json(bytes, one["value"]) for one in said["keyvals"]
        }
        count = len(self.entries[state_keys.VALIDATORS_ACTIVE]) // VALIDATOR_BYTES
        self.spec = next(spec for spec in (TINY, FULL) if spec.validator_count == count)
        self.codecs = component_codecs(self.spec)

    def read(self, key: bytes) -> Any:
        return self.codecs[key].decode(self.entries[key])

    def keys(self, key: bytes) -> tuple[bytes, ...]:
        return tuple(validator.ed25519 for validator in self.read(key))

    def queue(self) -> QueueState:
        return QueueState(
            slot=self.read(state_keys.TIMESLOT),
            ready=self.read(state_keys.READY_QUEUE),
            accumulated=self.read(state_keys.ACCUMULATED),
        )

    def services(self) -> dict[int, ServiceTerms]:
        found = {}
        for key, raw in self.entries.items():
            service = account_service(key)
            if service is not None:
                account = SERVICE_ACCOUNT.decode(raw)
                found[service] = ServiceTerms(account.code_hash, account.min_item_gas)
        return found


@pytest.mark.parametrize("path", traces())
def test_a_block_comes_to_what_the_trace_says(path: Path) -> None:
    said = msgspec.json.decode(path.read_bytes())
    if "block" not in said:
        State(said["state"]).queue()  # Where a trace begins, and no step of it.
        return
    before, after = State(said["pre_state"]), State(said["post_state"])
    block: Block = from_json(Block, said["block"])
    if said["pre_state"]["state_root"] == said["post_state"]["state_root"]:
        # It was refused, and the trace does not say by which rule.
        assert before.entries == after.entries
        return
    if block.extrinsic.disputes.verdicts:
        return  # Judgements are out of the model's scope (docs/jam-scope.md).
    assured = assurances(before, block)
    reported = guarantees(before, after, assured, block)
    assert after.read(state_keys.PENDING_REPORTS) == reported.pending
    assert after.read(state_keys.RECENT_HISTORY).blocks[-1].reported == reported.reported
    planned = plan(before.queue(), assured.available, block.header.slot, before.spec)
    free = before.read(state_keys.PRIVILEGES).always_accumulate
    gas = block_gas(before.spec, {one.service_id: one.gas for one in free})
    # Further rounds depend on the gas that was used, so the trace must tell what they took.
    told = len(after.read(state_keys.ACCUMULATED)[-1])
    count = min(max(round_count(planned.reports, gas), told), len(planned.reports))
    settled = settle(before.queue(), planned, count, block.header.slot, before.spec)
    assert after.queue() == settled
    reports = [one.report for one in block.extrinsic.guarantees]
    pools = before.read(state_keys.AUTHORIZER_POOLS)
    queues = after.read(state_keys.AUTHORIZER_QUEUES)
    assert after.read(state_keys.AUTHORIZER_POOLS) == next_pools(
        pools, queues, reports, block.header.slot
    )
    statistics = after.read(state_keys.STATISTICS)
    cores = core_activity(reports, assured.available, block.extrinsic.assurances, before.spec)
    assert statistics.cores == cores
    told_services = {one.service_id: one.activity for one in statistics.services}
    accumulated = {
        service: CountAndSum(one.accumulate_count, one.accumulate_gas_used)
        for service, one in told_services.items()
        if one.accumulate_count or one.accumulate_gas_used
    }
    counts = {service: one.count for service, one in accumulated.items() if one.count}
    assert counts == accumulated_counts(planned.reports[:count])
    assert told_services == services(block.extrinsic, accumulated)


def assurances(before: State, block: Block) -> Assured:
    answer = judge_assurances(
        before.read(state_keys.PENDING_REPORTS),
        block.extrinsic.assurances,
        keys=before.keys(state_keys.VALIDATORS_ACTIVE),
        slot=block.header.slot,
        parent=block.header.parent,
        spec=before.spec,
    )
    assert isinstance(answer, Assured)
    return answer


def guarantees(before: State, after: State, assured: Assured, block: Block) -> ReportedGuarantees:
    history = before.read(state_keys.RECENT_HISTORY)
    state = ReportingState(
        pending=assured.pending,
        standing=ValidatorStanding(
            entropy=after.read(state_keys.ENTROPY),
            active=after.keys(state_keys.VALIDATORS_ACTIVE),
            previous=after.keys(state_keys.VALIDATORS_PREVIOUS),
            offenders=after.read(state_keys.DISPUTES).offenders,
        ),
        recent=corrected(history, block.header.parent_state_root).blocks,
        authorizer_pools=before.read(state_keys.AUTHORIZER_POOLS),
        services=before.services(),
    )
    known = packages_in_pipeline(
        history.blocks, before.queue(), before.read(state_keys.PENDING_REPORTS)
    )
    slot, spec = block.header.slot, before.spec
    answer = judge_guarantees(state, block.extrinsic.guarantees, slot, known, spec)
    assert isinstance(answer, ReportedGuarantees)
    return answer


def services(
    extrinsic: Extrinsic, accumulated: dict[int, CountAndSum]
) -> dict[int, ServiceActivity]:
    provided: dict[int, CountAndSum] = {}
    for preimage in extrinsic.preimages:
        so_far = provided.get(preimage.requester, CountAndSum(0, 0))
        provided[preimage.requester] = CountAndSum(
            so_far.count + 1, so_far.amount + len(preimage.blob)
        )
    reports = [one.report for one in extrinsic.guarantees]
    return service_activity(reports, provided, accumulated)
