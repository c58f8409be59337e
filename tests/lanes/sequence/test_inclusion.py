"""What nodes show of bytes in a block, and what is kept of it."""

from typing import Any

import pytest
from tests.lanes.sequence.stage import HEIGHT, LANE, Stage, committed, offered, out, replace

from laneway.core.cosmos import OfferKind, TxSeen, TxStanding
from laneway.core.limits import REASON_BYTES_MAX
from laneway.lanes.sequence.belief import believed
from laneway.lanes.sequence.inclusion import committed as ended
from laneway.lanes.sequence.inclusion import is_last, is_unused, trusted, voters
from laneway.lanes.sequence.lane import decode_history
from laneway.lanes.sequence.limits import LOG_BYTES_MAX
from laneway.lanes.sequence.rows import InclusionVote
from laneway.lanes.sequence.values import ProveSequence, SequenceProven, SlotCorrected

OWN = LANE.rpartition(":")[2]
HASH = b"h" * 32


def seen(code: int = 0, **fields: Any) -> TxSeen:
    return TxSeen(HASH, TxStanding.COMMITTED, HEIGHT + 1, code, **fields)


def word(node: str, **fields: Any) -> InclusionVote:
    return replace(InclusionVote(node, HASH[:8], HEIGHT + 1, 0), **fields)


def kept(stage: Stage) -> TxSeen:
    """What the result of the first intent holds."""
    found = decode_history(next(iter(stage.results.values())).history).seen
    assert found is not None
    return found


def shows(stage: Stage, node: str, **fields: Any) -> None:
    stage.look(node, HEIGHT + 1, 1, {1: replace(committed(), height=HEIGHT + 1, **fields)})


# Who shows it.


def test_a_vote_is_of_a_configured_node_and_of_the_same_end() -> None:
    stage = out(1, nodes=("a", "b", "c"))
    slot = replace(
        stage.slot(1),
        shown=(
            word("a"), word("b", code=5), word("c", unused=True), word("gone"),
            word("b", height=9), word("c", hash=b"other"),
        ),
    )  # fmt: skip
    nodes = stage.lane.nodes.values()
    belief = believed(stage.lane.head, stage.settings, nodes, stage.now_ms)
    assert voters(belief, slot, seen()) == [word("a")]


def test_the_last_bytes_of_a_slot_are_those_beside_which_none_may_land() -> None:
    stage = offered(1)
    slot = stage.slot(1)
    mine = TxSeen(stage.attempt(1).hash, TxStanding.COMMITTED)
    assert is_last(slot, mine)
    assert not is_last(slot, seen())
    assert not is_last(replace(slot, attempt=None), mine)
    stage.answer("a", OfferKind.FEE_TOO_LOW)
    stage.answer("b", OfferKind.FEE_TOO_LOW)
    stage.make()
    assert not is_last(stage.slot(1), TxSeen(stage.attempt(1).hash, TxStanding.COMMITTED))


def test_a_failure_that_used_no_number_is_known_by_its_block_and_code() -> None:
    slot = replace(out(1).slot(1), shown=(word("a", code=5, unused=True),))
    assert is_unused(slot, seen(5))
    assert not is_unused(slot, seen(6))
    assert not is_unused(replace(slot, shown=(word("a", code=5),)), seen(5))


# What is kept.


def test_one_nodes_words_are_cut_and_its_signers_are_our_own_or_none() -> None:
    lane = out(1).lane
    long = seen(5, codespace="x" * 9_000, log="y" * 9_000, signers=("evil",) * 9_000)
    told = trusted(lane, long, ())
    assert (len(told.codespace), len(told.log)) == (LOG_BYTES_MAX, REASON_BYTES_MAX)
    assert told.signers == ()
    assert trusted(lane, seen(signers=("evil", OWN)), ()).signers == (OWN,)


@pytest.mark.parametrize(
    ("used", "becomes"), [((70, 70, 9), 70), ((9, 70, 70), 70), ((70, 9, 70), 70), ((1, 2, 3), 0)]
)
def test_gas_is_what_a_majority_names(used: tuple[int, ...], becomes: int) -> None:
    lane = out(1, nodes=("a", "b", "c")).lane
    words = [word(name, gas_wanted=99, gas_used=gas) for name, gas in zip("abc", used, strict=True)]
    told = trusted(lane, seen(gas_wanted=99, gas_used=9), words)
    assert (told.gas_wanted, told.gas_used) == ((99, 70) if becomes else (0, 0))


def test_the_last_node_that_shows_it_sets_no_gas_alone() -> None:
    stage = out(1, nodes=("a", "b", "c"))
    stage.tick(100)
    shows(stage, "a", gas_wanted=100, gas_used=80)
    shows(stage, "c", gas_wanted=1, gas_used=(1 << 53) - 1, codespace="x" * 9_000)
    assert stage.statuses() == ["confirmed"]
    assert (kept(stage).gas_wanted, kept(stage).gas_used) == (0, 0)
    assert len(kept(stage).codespace) == LOG_BYTES_MAX


def test_the_gas_that_both_nodes_name_is_kept() -> None:
    stage = out(1)
    stage.tick(100)
    for name in "ab":
        shows(stage, name, gas_wanted=100, gas_used=80, signers=(OWN,))
    assert (kept(stage).gas_wanted, kept(stage).gas_used) == (100, 80)
    assert kept(stage).signers == (OWN,)


def test_a_proof_is_kept_as_carefully() -> None:
    stage = out(1, nodes=("a", "b", "c"))
    stage.all_look(HEIGHT + 1, 1, {1: TxStanding.EVICTED})
    (order,) = stage.take(ProveSequence)
    mine = replace(committed(), hash=stage.attempt(1).hash, height=HEIGHT + 1, gas_wanted=100)
    shown = [replace(mine, gas_used=gas) for gas in (9, 80, 80)]
    stage.post(SequenceProven(stage.now_ms, order.sequence, tuple(shown)))
    assert stage.statuses() == ["confirmed"]
    assert (kept(stage).gas_wanted, kept(stage).gas_used) == (100, 80)


def test_a_failure_is_told_with_its_code_and_words() -> None:
    stage = out(1)
    stage.tick(100)
    for name in "ab":
        shows(stage, name, code=5, codespace="sdk", log="no funds")
    (result,) = stage.results.values()
    assert (result.status, result.reason) == ("reverted", "sdk code 5: no funds")


def test_what_was_told_to_be_indeterminate_is_corrected() -> None:
    slot = replace(out(1).slot(1), told=True)
    assert ended(slot, seen(), 5) == SlotCorrected(slot.id, slot.intent, seen())
