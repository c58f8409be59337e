"""The simulator itself: it is deterministic, it tells stories, and it can fail."""

import json
from collections import Counter
from pathlib import Path

import pytest

from laneway.core.outcome import Outcome
from laneway.engine.eoa import sending
from laneway.lanes.bundle import facts, packages, rounds, standing
from laneway.lanes.bundle import machine as bundle_machine
from laneway.lanes.bundle.lane import BundleLane
from laneway.lanes.bundle.rows import Fact, FactKind, Version
from laneway.lanes.contract import machine
from laneway.lanes.contract.lane import ContractLane
from laneway.lanes.contract.values import Execute
from laneway.lanes.eoa import answers
from laneway.lanes.eoa.rows import Attempt
from laneway.lanes.eoa.values import SendResult
from laneway.lanes.sequence import lane, sightings
from laneway.lanes.sequence.rows import Slot
from laneway.sim import cli
from laneway.sim.kinds import names, world_kind
from laneway.sim.run import LAYERS, run_world, run_worlds

KINDS = names()
LYING_KINDS = [name for name in KINDS if world_kind(name).has_liars]
SEEDS = Path(__file__).parent / "seeds.txt"
KEPT = [
    (place.rpartition(":")[0] or "contract", place.rpartition(":")[2], int(seed))
    for place, seed, *_ in (
        line.split() for line in SEEDS.read_text().splitlines() if line and line[0] != "#"
    )
]


@pytest.mark.parametrize(("kind", "layer", "seed"), KEPT)
def test_a_seed_that_ever_broke_a_law_keeps_it_now(kind: str, layer: str, seed: int) -> None:
    kind, _, lying = kind.partition("+")
    assert run_world(seed, layer, kind, lying=bool(lying)).broken is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("seed", [3, 17])
def test_two_runs_of_one_seed_have_the_same_trace(kind: str, layer: str, seed: int) -> None:
    first, second = run_world(seed, layer, kind), run_world(seed, layer, kind)
    assert first.trace == second.trace
    assert first.story == second.story
    assert first.seen == second.seen


def test_other_seeds_are_other_worlds() -> None:
    assert len({run_world(seed).trace for seed in range(20)}) == 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layer", LAYERS)
def test_no_world_breaks_a_law(kind: str, layer: str) -> None:
    broken, seen, steps = run_worlds(range(10_000, 10_040), layer, kind)
    assert [(verdict.seed, verdict.broken) for verdict in broken] == []
    assert steps > 40
    assert sum(seen.values()) > 0


def test_a_machine_that_executes_again_after_a_crash_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without asking the chain first it pays twice, and the laws say so."""

    def eager(lane: ContractLane) -> tuple[Execute, ...]:
        if lane.slot is None or not lane.attempts:
            return ()
        number, attempt = next(reversed(lane.attempts.items()))
        payload = lane.intents[lane.slot.intent].payload
        return (Execute(lane.slot.id, number, payload, attempt.parent, attempt.deadline_ms),)

    monkeypatch.setattr(machine, "resume", eager)
    broken, _, _ = run_worlds(range(150))
    assert any("never twice" in (verdict.broken or "") for verdict in broken)


def test_a_machine_that_forgets_after_a_crash_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "resume", lambda lane: ())
    broken, _, _ = run_worlds(range(60))
    assert any("never lost" in (verdict.broken or "") for verdict in broken)


def test_a_story_tells_what_happened_to_each_intent() -> None:
    verdict = run_world(3)
    story = "\n".join(verdict.story)
    assert "starts" in story
    assert "accepted as" in story
    assert "begins on" in story
    assert "is block" in story
    assert "the faults stop" in story


def test_a_story_of_accounts_tells_what_happened_to_each_number() -> None:
    story = "\n".join(run_world(3, "s1", "eoa").story)
    assert "accepted as" in story
    assert "takes" in story
    assert "holds" in story
    assert "is confirmed" in story


def test_a_machine_that_frees_a_number_by_silence_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Unknown counts as sent; whoever takes it for refused gives the number away."""

    def hasty(result: SendResult, _attempt: Attempt, **_facts: bool) -> str:
        return "taken" if result.outcome is Outcome.ACCEPTED else "refused"

    monkeypatch.setattr(answers, "proven", hasty)
    broken, _, _ = run_worlds(range(40), "s1", "eoa")
    assert any("never twice" in (verdict.broken or "") for verdict in broken)


def test_a_story_of_sequences_tells_what_happened_to_each_number() -> None:
    story = "\n".join(run_world(3, "s1", "cosmos").story)
    assert "accepted as" in story
    assert "takes" in story
    assert "holds" in story
    assert "is confirmed" in story


def test_a_machine_that_takes_what_was_offered_for_what_never_left_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bytes that a node may have can land; whoever forgets that signs an intent twice."""
    monkeypatch.setattr(lane, "may_have", lambda node, sequence, _refused: node.until > sequence)
    broken, _, _ = run_worlds(range(30), "s1", "cosmos")
    assert any("never twice" in (verdict.broken or "") for verdict in broken)


def test_a_machine_that_gives_bytes_up_before_their_last_block_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hasty(sight: sightings.LookJudged, slot: Slot) -> bool:
        attempt = slot.attempt
        if attempt is None or slot.sequence < sight.committed:
            return False
        return sight.look.height >= attempt.timeout_height - 1

    monkeypatch.setattr(sightings, "is_dead", hasty)
    broken, _, _ = run_worlds(range(40), "s1", "cosmos")
    assert any("never twice" in (verdict.broken or "") for verdict in broken)


def test_a_story_of_rollups_tells_what_happened_to_each_package() -> None:
    story = "\n".join(run_world(3, "s1", "rollup").story)
    assert "accepted as" in story
    assert "takes" in story
    assert "is confirmed" in story


@pytest.mark.slow
def test_a_machine_that_takes_silence_for_death_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A package that can still be reported is not dead, however long nobody reported it."""
    real = standing.death

    def hasty(lane: BundleLane, version: Version, *, is_shown: bool) -> Fact | None:
        found = real(lane, version, is_shown=is_shown)
        silent = version.fact(FactKind.REPORTABLE) is not None and not version.is_dead()
        if found is None and silent and lane.head.best is not None:
            return Fact(FactKind.DEAD, lane.head.best, lane.head.height, words="nobody took it")
        return found

    monkeypatch.setattr(facts, "death", hasty)
    broken, _, _ = run_worlds(range(30), "s1", "rollup")
    assert any("never twice" in (verdict.broken or "") for verdict in broken)


@pytest.mark.slow
def test_a_rollup_that_forgets_after_a_crash_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle_machine, "resume", lambda lane: ())
    broken, _, _ = run_worlds(range(12), "s1", "rollup")
    assert any("never lost" in (verdict.broken or "") for verdict in broken)


@pytest.mark.slow
def test_a_rollup_that_sleeps_through_its_windows_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rounds, "windows", lambda lane, chosen, now_ms: iter(()))
    broken, _, _ = run_worlds(range(30), "s1", "rollup")
    assert any("in time" in (verdict.broken or "") for verdict in broken)


@pytest.mark.slow
def test_a_rollup_that_calls_everything_final_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BundleLane, "is_final", lambda lane, block: True)
    broken, _, _ = run_worlds(range(5), "s1", "rollup")
    assert any("told to be final, and is not" in (verdict.broken or "") for verdict in broken)


@pytest.mark.slow
def test_a_rollup_whose_orders_bring_too_little_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packages, "payloads_below", lambda lane, number, parent: ())
    broken, _, _ = run_worlds(range(10), "s1", "rollup")
    assert any("was not given it" in (verdict.broken or "") for verdict in broken)


def test_the_command_tells_one_seed_as_a_story(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(seed=3, seeds=0, layer="s1", json=False) == 0
    shown = capsys.readouterr().out
    assert "accepted as" in shown
    assert "every law held" in shown


def test_the_command_counts_many_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(seed=None, seeds=5, layer="s1", json=True) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["seeds"] == 5
    assert answer["broken"] == []
    assert Counter(answer["seen"])["result:confirmed"] > 0


def test_the_command_knows_its_layers(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(seed=1, seeds=0, layer="s9", json=False) == 2
    assert "no layer 's9'" in capsys.readouterr().err


@pytest.mark.parametrize("count", [1, 2])
def test_payments_keep_their_promises_however_their_sends_are_cut(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Worlds never send a hundred at once: with parts of one or two a process dies between them."""
    monkeypatch.setattr(sending, "SENDS_PER_PART", count)
    broken = {seed: run_world(seed, "s3", "eoa").broken for seed in range(100)}
    assert {seed: law for seed, law in broken.items() if law is not None} == {}


@pytest.mark.slow
@pytest.mark.parametrize(("layer", "count"), [("s1", 300), ("s3", 100)])
@pytest.mark.parametrize("kind", LYING_KINDS)
def test_one_node_of_three_that_lies_breaks_no_promise(kind: str, layer: str, count: int) -> None:
    broken, seen, _ = run_worlds(range(count), layer, kind, lying=True)
    assert [(one.seed, one.broken) for one in broken] == []
    assert any(number for name, number in seen.items() if name.startswith("lie:"))


def test_the_command_tells_worlds_in_which_a_node_lies(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(seed=None, seeds=20, layer="s1", json=True, kind="eoa", lying=True) == 0
    seen = json.loads(capsys.readouterr().out)["seen"]
    assert seen["count outvoted"] > 0
    assert cli.main(seed=1, seeds=0, layer="s1", json=False, kind="contract", lying=True) == 2
    assert "no node lies" in capsys.readouterr().err
