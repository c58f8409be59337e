"""Laws of what a watch tells: news once, what a reorganisation took by name, an end that stands."""

from tests.chains.jam.stage import PACKAGE, header, ref, watched

from laneway.chains.jam.limits import KNOWN_BLOCKS_MAX
from laneway.chains.jam.subscriptions import News, Trail
from laneway.core.jam import (
    Accumulated,
    BlocksGone,
    Failed,
    Finalised,
    JamBlockSeen,
    JamBlocksSeen,
    JamHead,
    PackageFact,
    PackageKind,
    PackageSeen,
    Ready,
    Reportable,
    Reported,
    ServiceRefused,
)

REPORTED = Reported(ref("a1"), 0, header("r0"))
READY = Ready(ref("a1"), 0, header("r0"), ref("a2"))
FAILED = Failed(PackageKind.UNAVAILABLE, "too late")


def block(name: str, *facts: PackageFact, is_readable: bool = True) -> JamBlockSeen:
    seen = tuple(PackageSeen(PACKAGE, ref(name), fact, (), "a") for fact in facts)
    return JamBlockSeen(ref(name), bytes(32), seen, is_readable)


def look(
    after: str | None, *blocks: JamBlockSeen, gone: str = "", final: str | None = None
) -> JamBlocksSeen:
    best = blocks[-1].block if blocks else ref(after or "a0")
    return JamBlocksSeen(
        None if after is None else ref(after),
        tuple(map(ref, gone.split())),
        blocks,
        JamHead(best, None if final is None else ref(final), "a"),
        is_whole=True,
    )


def trail(**changes: bool) -> Trail:
    return Trail(watched("a0", **changes), [ref("a0")])


def told(of: Trail, seen: JamBlocksSeen) -> list[tuple[str, PackageFact] | BlocksGone]:
    return [short(one) for one in of.take(seen)]


def short(one: News) -> tuple[str, PackageFact] | BlocksGone:
    if isinstance(one, BlocksGone):
        return one
    names = {ref(f"{fork}{slot}"): f"{fork}{slot}" for fork in "ab" for slot in range(20)}
    return names[one.block], one.fact


def test_a_fact_is_told_when_it_is_news() -> None:
    of = trail()
    assert told(of, look("a0", block("a1", REPORTED), block("a2", REPORTED))) == [("a1", REPORTED)]
    assert told(of, look("a2", block("a3", READY, Accumulated(7)))) == [
        ("a3", READY),
        ("a3", Accumulated(7)),
    ]
    assert told(of, look("a3")) == []
    assert of.known() == [ref("a0"), ref("a1"), ref("a2"), ref("a3")]


def test_a_reorganisation_names_the_blocks_that_went_and_tells_again_what_is_so() -> None:
    of = trail()
    told(of, look("a0", block("a1", Reportable(7)), block("a2", REPORTED)))
    back = look("a1", block("b2", Reportable(6)), gone="a2")
    assert told(of, back) == [BlocksGone((ref("a2"),), ref("b2")), ("b2", Reportable(6))]
    again = look("b2", block("b3", REPORTED))
    assert told(of, again) == [("b3", REPORTED)], "on this fork it is news"


def test_behind_a_gap_the_trail_begins_anew() -> None:
    of = trail()
    told(of, look("a0", block("a1", REPORTED)))
    assert told(of, look(None, block("a9", REPORTED))) == [("a9", REPORTED)]
    assert of.known() == [ref("a9")]


def test_what_was_accumulated_is_over_when_its_block_is_final() -> None:
    of = trail()
    told(of, look("a0", block("a1", REPORTED), block("a2", READY, Accumulated(7)), final="a0"))
    assert told(of, look("a2", block("a3", READY, Accumulated(7)), final="a1")) == []
    assert not of.is_over
    assert told(of, look("a3", final="a2")) == [("a2", Finalised(ref("a2")))]
    assert of.is_over


def test_what_the_history_has_forgotten_stays_accumulated() -> None:
    of = trail(keeps_records=False)
    told(of, look("a0", block("a1", REPORTED), block("a2", READY, Accumulated(None))))
    assert told(of, look("a2", block("a3", READY), final="a1")) == []
    assert told(of, look("a3", block("a4", FAILED), final="a2")) == [
        ("a4", FAILED),
        ("a2", Finalised(ref("a2"))),
    ]
    assert of.is_over


def test_a_package_that_its_service_holds_back_is_not_over() -> None:
    of = trail()
    told(of, look("a0", block("a2", READY, Accumulated(None)), final="a0"))
    assert told(of, look("a2", final="a2")) == [("a2", Finalised(ref("a2")))]
    assert told(of, look("a2", final="a2")) == [], "once"
    assert not of.is_over
    assert told(of, look("a2", block("a3", READY, Accumulated(7)), final="a2")) == [
        ("a3", Accumulated(7))
    ]
    assert told(of, look("a3", final="a3")) == [("a3", Finalised(ref("a3")))]
    assert of.is_over


def test_a_package_that_its_service_refused_is_over_when_that_is_final() -> None:
    of = trail()
    refused = ServiceRefused("same_block_applied", 7)
    told(of, look("a0", block("a2", READY, Accumulated(None))))
    assert told(of, look("a2", block("a3", READY, refused), final="a3")) == [
        ("a3", refused),
        ("a3", Finalised(ref("a3"))),
    ]
    assert of.is_over


def test_a_failure_that_is_final_is_told_and_the_watch_goes_on() -> None:
    """What a node calls failed may be accumulated all the same; only the lane decides."""
    of = trail()
    assert told(of, look("a0", block("a1", FAILED), final="a1")) == [
        ("a1", FAILED),
        ("a1", Finalised(ref("a1"))),
    ]
    assert not of.is_over
    assert told(of, look("a1", block("a2", Accumulated(7)), final="a2")) == [
        ("a2", Accumulated(7)),
        ("a2", Finalised(ref("a2"))),
    ]
    assert of.is_over


def test_failed_is_taken_back_by_a_better_word() -> None:
    of = trail()
    told(of, look("a0", block("a1", FAILED), block("a2", Reportable(3))))
    assert told(of, look("a2", final="a2")) == []


def test_a_reorganisation_takes_the_end_back() -> None:
    of = trail()
    told(of, look("a0", block("a1", REPORTED), block("a2", READY, Accumulated(7)), final="a0"))
    back = look("a1", block("b2", REPORTED), gone="a2", final="a1")
    assert told(of, back) == [BlocksGone((ref("a2"),), ref("b2"))]
    assert not of.is_over


def test_a_block_that_was_forgotten_changes_nothing() -> None:
    of = trail()
    told(of, look("a0", block("a1", REPORTED)))
    assert told(of, look("a1", block("a2", is_readable=False), block("a3", REPORTED))) == []


def test_what_is_remembered_is_bounded() -> None:
    of = trail()
    for slot in range(KNOWN_BLOCKS_MAX + 3):
        list(of.take(look(f"a{slot}", block(f"a{slot + 1}", Accumulated(7)))))
    assert len(of.known()) == KNOWN_BLOCKS_MAX
    assert told(of, look(f"a{KNOWN_BLOCKS_MAX + 3}", final="a1")) == [
        ("a1", Finalised(ref("a1")))
    ], "its end outlives its block"
    assert of.is_over


def test_a_trail_may_begin_without_a_block() -> None:
    of = Trail(watched(), [])
    assert told(of, look(None, block("a3", REPORTED))) == [("a3", REPORTED)]
    assert told(Trail(watched(), []), look(None)) == []
