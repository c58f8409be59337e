"""Laws of what is shown of a rollup's blocks, on the lane's own stage."""

from tests.lanes.bundle.scenes import aged, two
from tests.lanes.bundle.stage import Stage, queued, submitted

from laneway.kinds.rollup.bundles import (
    bundle_of,
    comes_after,
    final_of,
    final_shown,
    found,
    listed,
    number_of,
    picture_of,
    place_of,
    shown_of,
)
from laneway.lanes.bundle.rows import Finished, Slot
from laneway.wire.hex import octets


def done(blocks: int = 2) -> Stage:
    """So many blocks are final, and one more is open."""
    stage = Stage(block_txs_max=1)
    stage.chain.produce()
    stage.now_ms = stage.chain.best.ref.slot * 6_000
    stage.accept(blocks)
    stage.run(20)
    assert len(stage.lane.finished) == blocks
    stage.accept(1)
    stage.pull()
    stage.build()
    return stage


def test_a_block_is_found_by_its_number_and_by_its_own_name() -> None:
    stage = done()
    for name in ("3", "B-3"):
        block = found(stage.lane, name)
        assert isinstance(block, Slot)
        assert block.number == 3
    for name in ("2", "B-2"):
        block = found(stage.lane, name)
        assert isinstance(block, Finished)
        assert block.number == 2
    for name in ("9", "B-9", "x", "B-x", "b-1", "", "-1", "B--1", "٣", "1" * 5_000):
        assert found(stage.lane, name) is None, name
    assert (number_of("7"), number_of("B-7"), number_of("x")) == (7, None, None)


def test_a_list_has_open_blocks_first_and_then_the_newest() -> None:
    stage = done()
    blocks = list(listed(stage.lane))
    assert [place_of(one) for one in blocks] == [(False, 3), (True, 2), (True, 1)]
    for place, block in enumerate(blocks):
        behind = [one for one in blocks if comes_after(one, place_of(block))]
        assert behind == blocks[place + 1 :]
    assert all(comes_after(one, None) for one in blocks)


def test_an_open_block_says_why_it_waits_and_what_its_versions_met() -> None:
    stage = two()
    slot = stage.named(1)
    shown = shown_of(stage.lane, slot)
    assert (shown.bundle.id, shown.bundle.state, shown.bundle.version) == ("B-1", "submitted", 2)
    assert shown.bundle.wait_reason == "not_guaranteed_yet"
    assert (shown.bundle.canonical, shown.faults) == (False, 1)
    first, second = shown.versions
    assert (first.dead, first.wins, second.dead) == (True, False, False)
    assert first.facts[-1].kind == "dead"
    assert first.facts[-1].words == "anchor_not_recent: not recent"
    assert (second.submissions, second.nodes) == (1, ["a", "b"])
    assert second.answers[0].kind == "taken"
    assert second.package == octets(stage.hash_of(1, 2)) == shown.bundle.package
    (member,) = shown.transactions
    assert (member.verdict, member.hash is not None) == ("included", True)
    assert shown.pre_root is not None
    picture = picture_of(stage.lane)
    assert (picture.submitted, picture.queued) == (["1v2"], [])
    assert (picture.inflight, picture.can_submit) == (1, False)


def test_a_version_that_wins_is_shown_so() -> None:
    stage = submitted()
    stage.slot_all()
    (version,) = shown_of(stage.lane, stage.named(1)).versions
    assert (version.wins, version.stale) == (True, False)
    assert "reported" in [fact.kind for fact in version.facts]
    assert bundle_of(stage.lane, stage.named(1)).state == "guaranteed"


def test_a_block_without_a_version_has_no_package() -> None:
    stage = queued()
    bundle = bundle_of(stage.lane, stage.named(1))
    assert (bundle.version, bundle.package, bundle.state) == (0, None, "queued")
    stage = aged()
    assert bundle_of(stage.lane, stage.named(1)).wait_reason


def test_a_final_block_says_where_it_was_accumulated() -> None:
    stage = done(1)
    block = stage.lane.finished[1]
    bundle = final_of(block)
    assert (bundle.state, bundle.canonical, bundle.wait_reason) == ("finalised", True, "")
    assert bundle.accumulated_in is not None
    assert bundle.accumulated_in.slot == block.accumulated.slot
    assert bundle_of(stage.lane, block) == bundle
    assert final_shown(block, []).bundle == bundle
    assert picture_of(stage.lane).finalised == ["1v1"]
