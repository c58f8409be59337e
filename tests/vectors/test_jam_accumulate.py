"""The accumulate vectors: what can be accumulated, and the queue and the history after it.

No service code runs here, so what only running it can tell is not compared (docs/jam-scope.md):
the accounts, the gas that was used, and the root of what services yielded, unless none had a turn.
"""

from pathlib import Path

import pytest
from tests.vectors.jam_cases import cases, read_case
from tests.vectors.jam_json import from_json, to_json

from laneway.jam.hashing import ZERO_HASH
from laneway.jam.report import WorkReport
from laneway.jam.rules.activity import accumulated_counts
from laneway.jam.rules.queueing import (
    QueueState,
    ReadyRecord,
    block_gas,
    plan,
    round_count,
    settle,
    turns,
)
from laneway.jam.spec import ChainSpec

pytestmark = pytest.mark.vectors


@pytest.mark.parametrize(("spec", "path"), cases("accumulate"))
def test_the_queue_and_the_history_are_as_the_vectors_say(spec: ChainSpec, path: Path) -> None:
    given, before, output, after = read_case(path)
    state = QueueState(
        slot=before["slot"],
        ready=from_json(tuple[tuple[ReadyRecord, ...], ...], before["ready_queue"]),
        accumulated=from_json(tuple[tuple[bytes, ...], ...], before["accumulated"]),
    )
    available = from_json(tuple[WorkReport, ...], given["reports"])
    planned = plan(state, available, given["slot"], spec)
    free = {one["id"]: one["gas"] for one in before["privileges"]["always_acc"]}
    count = round_count(planned.reports, block_gas(spec, free))
    if count < len(planned.reports):
        # What further rounds take depends on the gas that was used, so the vector must tell it.
        count = max(count, len(after["accumulated"][-1]))
    settled = settle(state, planned, count, given["slot"], spec)
    assert after["slot"] == settled.slot
    assert after["ready_queue"] == to_json(settled.ready)
    assert after["accumulated"] == to_json(settled.accumulated)
    assert after["entropy"] == before["entropy"]
    counted = {one["id"]: one["record"]["accumulate_count"] for one in after["statistics"]}
    for service, results in accumulated_counts(planned.reports).items():
        assert counted[service] == results
    if not turns(planned.reports, free):
        assert output == {"ok": to_json(ZERO_HASH)}
        assert after["accounts"] == before["accounts"]
        assert after["privileges"] == before["privileges"]
