"""The measure of state proofs: its states are as large as is said, and all is proven."""

import io
import json
import sys

import pytest

from laneway.jam.trie import root
from laneway_bench.jam.state import GOAL, SAMPLE_KEYS, StateStage, main, measure, state_of


@pytest.mark.parametrize("count", [100, 1_000])
def test_a_state_has_as_many_keys_as_are_asked_for(count: int) -> None:
    stage = StateStage(count)
    assert len(stage.state) == len(stage.trie) == count
    assert stage.trie.root == root(state_of(count))
    assert len(set(stage.keys)) == SAMPLE_KEYS
    assert {len(stage.state[key]) for key in stage.keys} == {100}


def test_a_larger_state_has_longer_proofs() -> None:
    assert StateStage(100).nodes() < StateStage(1_000).nodes()


def test_both_states_are_measured_in_every_round() -> None:
    found = measure((100, 300), rounds=3)
    assert {name: len(rounds) for name, rounds in found["us_per_proof"].items()} == {
        "100": 3,
        "300": 3,
    }
    few, many = (min(found["us_per_proof"][count]) for count in ("100", "300"))
    assert found[GOAL] == many / few


def test_a_question_is_answered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    question = json.dumps({"counts": [100, 200], "rounds": 1})
    monkeypatch.setattr(sys, "stdin", io.StringIO(question + "\n"))
    main()
    assert GOAL in json.loads(capsys.readouterr().out)["result"]
