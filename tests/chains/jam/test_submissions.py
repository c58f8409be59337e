"""Laws of submitting: every node is offered it, and a refusal goes on to the next core."""

import asyncio
from typing import Any

import pytest
from msgspec import Raw
from tests.chains.jam.stage import SENT, TINY, Node, ref, run, served, until, watched
from tests.engine.virtual import VirtualTime
from tests.jip2_stub import Jip2Stub, Json, Silence
from tests.jip2_stub import Raw as Text
from tests.rpc_stub import Drop, No

from laneway.chains.endpoint import loop_s
from laneway.chains.jam import node as jam_node
from laneway.chains.jam import submissions
from laneway.chains.jam.clock import steady_ms
from laneway.chains.jam.node import Identity, JamNode, JamPlace
from laneway.chains.jam.phrases import answer_of
from laneway.core.jam import Failed, May, Package, PackageKind, SlotClock, SubmissionAnswers
from laneway.core.outcome import Outcome
from laneway.wire.jip2 import blob

NOBODY = No(0, "Failed to submit work-package to even a single proxy/guarantor")
BUSY = No(0, "core 0 is busy")
BROKEN = No(0, "codec error: work-package")
SUBMIT = "submitWorkPackage"
PACED = {"calls_per_s": 0.05}
"""A node that may be asked again in 18 seconds."""


def kinds(submission: SubmissionAnswers) -> list[tuple[str, int | None, str]]:
    return [(one.node, one.core, one.kind.value) for one in submission.answers]


def sent(stub: Jip2Stub) -> list[list[Any]]:
    return [params for method, params in stub.heard if method.startswith("submit")]


def test_every_node_is_offered_it_for_the_first_core() -> None:
    async def story() -> None:
        async with served([Node(), Node(), Node()]) as (chain, stubs):
            package = Package(encoded=b"p", extrinsics=(b"x", b""))
            for _ in range(2):
                submission = await chain.submit(package, [1, 0])
                assert kinds(submission) == [(name, 1, "taken") for name in "abc"]
                assert submission.outcome() is Outcome.ACCEPTED
                taken = submission.taken()
                assert taken is not None
                assert (taken.node, taken.core, taken.may) == ("a", 1, (May.WAIT,))
            for stub in stubs:
                assert sent(stub) == [[1, blob(b"p"), [blob(b"x"), ""]]] * 2

    run(story)


def test_the_nodes_are_asked_at_once() -> None:
    async def story() -> None:
        asked: list[None] = []

        async def last(_: Any) -> None:
            """Answers once all have been asked."""
            asked.append(None)
            while len(asked) < 3:
                await asyncio.sleep(0.002)

        async with served([Node(submitWorkPackage=last) for _ in range(3)]) as (chain, _):
            submission = await chain.submit(SENT, [0])
            assert kinds(submission) == [(name, 0, "taken") for name in "abc"]

    run(story)


def test_a_silent_node_keeps_nobody_once_another_has_it() -> None:
    async def story() -> None:
        heard = asyncio.Event()

        async def never(_: Any) -> None:
            heard.set()
            await asyncio.Event().wait()

        async with served([Node(submitWorkPackage=never), Node()]) as (chain, _):
            submission = await chain.submit(SENT, [0])
            assert heard.is_set()
            assert kinds(submission) == [("a", None, "silent"), ("b", 0, "taken")]
            assert (submission.outcome(), submission.final) == (Outcome.ACCEPTED, False)

    run(story)


def test_a_silent_node_keeps_nobody_once_another_refused() -> None:
    async def story() -> None:
        nodes = [Node(submitWorkPackage=BUSY), Node(submitWorkPackage=Silence())]
        async with served(nodes, slot_ms=100, submit_ms=60_000) as (chain, _):
            submission = await chain.submit(SENT, [0])
            assert kinds(submission) == [("a", 0, "core_busy"), ("b", None, "silent")]
            assert (submission.outcome(), submission.final) == (Outcome.UNKNOWN, False)

    run(story)


def test_doubt_about_a_silent_node_outweighs_final_refusals_by_the_others() -> None:
    async def story() -> None:
        nodes = [Node(submitWorkPackage=BROKEN), Node(submitWorkPackage=Silence())]
        async with served(nodes, slot_ms=100, submit_ms=60_000) as (chain, _):
            submission = await chain.submit(SENT, [0])
            assert kinds(submission) == [("a", 0, "malformed"), ("b", None, "silent")]
            assert (submission.outcome(), submission.final) == (Outcome.UNKNOWN, False)

    run(story)


Plan = list[tuple[float, PackageKind]]
"""A node's answers, each with the seconds that it takes."""
TAKEN, REFUSED = PackageKind.TAKEN, PackageKind.CORE_BUSY
LOST, SILENT = PackageKind.UNREACHABLE, PackageKind.SILENT


@pytest.mark.parametrize(
    ("plans", "waited_s"),
    [
        ([[(1, TAKEN)], [(2, REFUSED)]], 2),
        ([[(1, TAKEN)], []], 2.5),
        ([[(1, TAKEN)], [(2, REFUSED)], []], 2.5),
        ([[(1, TAKEN)], [(1, REFUSED)] * 9], 2.5),
        ([[(1, REFUSED)], [(2, REFUSED)], []], 2 + 4 * 1.5),
        ([[(1, REFUSED)], [(3, TAKEN)], []], 3 + 1.5),
        ([[(1, REFUSED)], [(5, REFUSED)] * 4], 20),
        ([[(1, REFUSED)], [(10, REFUSED)]], 1 + 4 * 1.5),
        ([[(0, LOST)], [(10, SILENT)]], 10),
        ([[(0, LOST)], [(1, REFUSED)], []], 1 + 4 * 1.5),
        ([[(10, SILENT)]], 10),
    ],
)
def test_nodes_are_waited_for_as_long_as_their_answers_may_still_come(
    plans: list[Plan], waited_s: float
) -> None:
    time = VirtualTime()

    class SlowNode:
        name = "a"

        def hedge_s(self) -> float:
            return 1.5

    def answering(plan: Plan) -> Any:
        async def carry_out(offer: submissions.Offer) -> None:
            for pause_s, kind in plan:
                await asyncio.sleep(pause_s)
                offer.is_written = kind is not LOST
                offer.answers.append(answer_of("a", 0, kind))
                offer.answered_s = loop_s()
            if not plan:
                await asyncio.Event().wait()

        return carry_out

    async def story() -> float:
        node: Any = SlowNode()
        offers = [
            submissions.Offer(node, SENT, [0], submissions.always, answering(plan))
            for plan in plans
        ]
        begun_s = loop_s()
        await submissions.enough(offers)
        ended_s = loop_s()
        for offer in offers:
            offer.task.cancel()
        return round(ended_s - begun_s, 3)

    assert time.run(story()) == waited_s


def test_the_time_of_a_submission_is_by_the_chains_slots() -> None:
    for slot_ms, submit_ms in ((100, 3_000), (400, 8_000), (6_000, 10_000)):
        node = JamNode(JamPlace("ws://127.0.0.1:1"), Identity(None, slot_ms))
        assert node.submit_ms() == submit_ms


@pytest.mark.parametrize("submit_ms", [None, 60_000])
def test_a_package_has_that_time_unless_a_setting_says_otherwise(
    submit_ms: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[int] = []

    async def offer(_: JamNode, __: object, timeout_ms: int, ___: object) -> Raw:
        times.append(timeout_ms)
        return Raw(b"null")

    monkeypatch.setattr(JamNode, "offer", offer)

    async def story() -> None:
        async with served([Node()], slot_ms=100, submit_ms=submit_ms) as (chain, _):
            await chain.submit(SENT, [0])
            assert times == [submit_ms or 3_000]

    run(story)


def gated(node: Node, method: str = "parameters", answer: Any = None) -> asyncio.Event:
    """Let a node answer this method once the event is set, and not before."""
    gate = asyncio.Event()

    async def wait(_: Any) -> Any:
        await gate.wait()
        return answer

    node.said[method] = wait
    return gate


def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on nodes are waited for as long as a busy machine may pause."""
    monkeypatch.setattr(jam_node, "HEDGE_MS_MIN", 10_000)
    monkeypatch.setattr(jam_node, "HEDGE_MS_MAX", 10_000)


def test_a_node_that_is_always_slower_than_the_others_is_offered_it_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        slow, quick = Node(), Node()
        gate = gated(slow, answer={"V1": TINY})
        async with served([quick, slow], slot_ms=400) as (chain, (_, two)):
            for _ in range(3):
                submission = await chain.submit(SENT, [0])
                assert kinds(submission) == [("a", 0, "taken"), ("b", None, "silent")]
                assert submission.answers[1].outcome is Outcome.UNKNOWN
            assert sent(two) == []
            gate.set()
            await until(lambda: len(sent(two)) == 1)
            await until(lambda: not chain._submissions._offers)
            # However many submissions it missed, it was sent the bytes once for them.
            patient(monkeypatch)
            took = gated(quick, SUBMIT)
            again = asyncio.create_task(chain.submit(SENT, [0]))
            await until(lambda: len(sent(two)) == 2)
            took.set()
            assert kinds(await again) == [("a", 0, "taken"), ("b", 0, "taken")]

    run(story)


def test_an_offer_that_goes_on_is_answered_with_the_submission_that_takes_it_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def story() -> None:
        slow, quick = Node(), Node()
        gate = gated(slow, answer={"V1": TINY})
        async with served([quick, slow], slot_ms=400) as (chain, (_, two)):
            await chain.submit(SENT, [0])
            patient(monkeypatch)
            took = gated(quick, SUBMIT)
            again = asyncio.create_task(chain.submit(SENT, [0]))
            gate.set()
            await until(lambda: len(sent(two)) == 1)
            took.set()
            assert kinds(await again) == [("a", 0, "taken"), ("b", 0, "taken")]
            assert len(sent(two)) == 1

    run(story)


def test_a_node_that_swallows_packages_is_sent_them_at_every_submission() -> None:
    async def story() -> None:
        async with served([Node(), Node(submitWorkPackage=Silence())], slot_ms=400) as (
            chain,
            (_, two),
        ):
            for times in range(1, 4):
                assert (await chain.submit(SENT, [0])).outcome() is Outcome.ACCEPTED
                await until(lambda times=times: len(sent(two)) == times)  # type: ignore[misc]
                assert len(chain._submissions._behind) == 1

    run(story)


def test_an_offer_that_goes_on_stays_here_when_it_may_not_leave_any_more() -> None:
    async def story() -> None:
        slow, reasons = Node(), [""]
        gate = gated(slow, answer={"V1": TINY})
        async with served([Node(), slow], slot_ms=400) as (chain, (_, two)):
            await chain.submit(SENT, [0], (), lambda _: reasons[0])
            reasons[0] = "the clock was set"
            gate.set()
            await until(lambda: not chain._submissions._offers)
            assert sent(two) == []

    run(story)


def test_an_offer_that_is_taken_up_has_the_permit_of_its_last_submission() -> None:
    async def story() -> None:
        slow = Node()
        gate = gated(slow, answer={"V1": TINY})
        async with served([Node(), slow], slot_ms=400) as (chain, (_, two)):
            first = ["", "the lane was given up"]
            await chain.submit(SENT, [0], (), lambda _: first.pop(0))
            await chain.submit(SENT, [0], (), lambda _: "")
            gate.set()
            await until(lambda: len(sent(two)) == 1)

    run(story)


def test_offers_that_go_on_are_bounded_in_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "BEHIND_MAX", 2)

    async def story() -> None:
        slow = Node()
        gate = gated(slow, answer={"V1": TINY})
        async with served([Node(), slow], slot_ms=400) as (chain, (_, two)):
            for number in range(4):
                package = Package(encoded=bytes([number]))
                assert kinds(await chain.submit(package, [0]))[1] == ("b", None, "silent")
            gate.set()
            await until(lambda: not chain._submissions._offers)
            assert [params[1] for params in sent(two)] == [blob(b"\0"), blob(b"\1")]

    run(story)


def test_offers_that_go_on_are_bounded_in_time() -> None:
    async def story() -> None:
        settings = {"slot_ms": 400, "submit_ms": 1_500, "b": PACED}
        async with served([Node(), Node()], **settings) as (chain, (_, two)):
            await chain.submit(SENT, [0])
            assert len(chain._submissions._behind) == 1
            await until(lambda: not chain._submissions._offers)
            assert chain._submissions._behind == []
            assert sent(two) == []

    run(story)


def test_offers_that_go_on_end_with_their_chain() -> None:
    async def story() -> None:
        silent = Node(submitWorkPackage=Silence())
        before = asyncio.all_tasks()
        async with served([Node(), Node(), silent], slot_ms=400, b=PACED) as (chain, stubs):
            await chain.submit(SENT, [0])
            await until(lambda: len(sent(stubs[2])) == 1)
            assert len(chain._submissions._offers) == 2
            await chain.aclose()
            assert chain._submissions._offers == {}
            assert chain._submissions._behind == []
        assert asyncio.all_tasks() == before

    run(story)


def test_a_submission_that_is_cancelled_leaves_nothing_that_goes_on() -> None:
    async def story() -> None:
        async with served([Node(submitWorkPackage=Silence())]) as (chain, (stub,)):
            submitting = asyncio.create_task(chain.submit(SENT, [0]))
            await until(lambda: len(sent(stub)) == 1)
            submitting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await submitting
            assert chain._submissions._offers == {}

    run(story)


def test_a_refusal_is_followed_by_the_other_cores_at_the_same_node() -> None:
    async def story() -> None:
        first = Node(submitWorkPackage=NOBODY)
        second = Node(submitWorkPackage=lambda params: None if params[0] == 1 else refuse(BUSY))
        async with served([first, second, Node()]) as (chain, _):
            submission = await chain.submit(SENT, [0, 1, 2])
            assert kinds(submission) == [
                ("a", 0, "no_guarantor"),
                ("a", 1, "no_guarantor"),
                ("a", 2, "no_guarantor"),
                ("b", 0, "core_busy"),
                ("b", 1, "taken"),
                ("c", 0, "taken"),
            ]
            assert (submission.outcome(), submission.final) == (Outcome.ACCEPTED, False)

    run(story)


def test_without_the_callers_leave_no_other_core_is_tried() -> None:
    async def story() -> None:
        async with served([Node(submitWorkPackage=NOBODY), Node(submitWorkPackage=BUSY)]) as (
            chain,
            _,
        ):
            submission = await chain.submit(SENT, [0])
            assert kinds(submission) == [("a", 0, "no_guarantor"), ("b", 0, "core_busy")]
            assert (submission.outcome(), submission.final) == (Outcome.REFUSED, False)

    run(story)


def test_after_a_refusal_that_no_core_changes_no_other_core_is_tried() -> None:
    async def story() -> None:
        async with served([Node(submitWorkPackage=BROKEN), Node()]) as (chain, _):
            submission = await chain.submit(SENT, [0, 1])
            assert kinds(submission) == [("a", 0, "malformed"), ("b", 0, "taken")]

    run(story)


@pytest.mark.parametrize(
    ("trouble", "kind"),
    [
        (Drop(), "silent"),
        (Silence(), "silent"),
        (Text("nonsense"), "silent"),
        (No(0, "oops"), "unknown"),
        (No(0, ""), "unknown"),
        (No(-32603, "Internal error"), "unknown"),
        (No(429, "Too many requests"), "rate_limited"),
    ],
)
def test_doubt_counts_as_sent_and_ends_it_at_that_node(trouble: Exception, kind: str) -> None:
    async def story() -> None:
        nodes = [Node(submitWorkPackage=trouble), Node(submitWorkPackage=BROKEN)]
        submit_ms = 100 if isinstance(trouble, Silence) else 10_000
        async with served(nodes, submit_ms=submit_ms) as (chain, (one, two)):
            submission = await chain.submit(SENT, [0, 1])
            first, other = submission.answers
            assert (first.node, first.core, first.kind.value) == ("a", 0, kind)
            assert other.node == "b"
            assert (submission.outcome(), submission.final) == (Outcome.UNKNOWN, False)
            assert first.may == (May.SAME_BYTES,)
            await until(lambda: len(sent(one)) == len(sent(two)) == 1)

    run(story)


def test_after_a_doubt_the_same_bytes_are_offered_to_every_node_again() -> None:
    async def story() -> None:
        async with served([Node(submitWorkPackage=Drop()), Node()]) as (chain, (one, two)):
            for _ in range(2):
                again = await chain.submit(SENT, [0])
                assert kinds(again) == [("a", 0, "silent"), ("b", 0, "taken")]
                assert again.outcome() is Outcome.ACCEPTED
            assert sent(one) == sent(two)

    run(story)


def test_a_node_that_turned_one_away_is_offered_the_next() -> None:
    async def story() -> None:
        validator = Node(submitWorkPackage=NOBODY)
        async with served([validator, Node()]) as (chain, _):
            for _ in range(2):
                answers = kinds(await chain.submit(SENT, [0]))
                assert answers == [("a", 0, "no_guarantor"), ("b", 0, "taken")]

    run(story)


def test_a_node_that_was_never_reached_has_refused() -> None:
    async def story() -> None:
        async with served([Node(), Node()]) as (chain, (one, _)):
            await one.stop()
            submission = await chain.submit(SENT, [0, 1])
            assert kinds(submission) == [("a", 0, "unreachable"), ("b", 0, "taken")]
            await one.start()

    run(story)


def test_a_node_that_is_cut_off_in_its_greeting_was_told_nothing() -> None:
    async def story() -> None:
        async with served([Node(parameters=Drop())]) as (chain, (one,)):
            submission = await chain.submit(SENT, [0])
            assert kinds(submission) == [("a", 0, "unreachable")]
            assert submission.outcome() is Outcome.REFUSED
            assert sent(one) == []
        async with served([Node(parameters="nonsense")]) as (chain, (one,)):
            assert kinds(await chain.submit(SENT, [0])) == [("a", 0, "unreachable")]

    run(story)


def test_a_clock_that_is_set_while_a_node_greets_keeps_the_package_here() -> None:
    async def story() -> None:
        ahead_ms = [0]
        greeted = asyncio.Event()

        async def greet(_: Any) -> Any:
            await greeted.wait()
            return {"V1": TINY}

        def permit(clock: SlotClock | None) -> str:
            assert clock is not None
            assert clock.skew_ms is not None
            return "the clock was set" if clock.skew_ms > 1_000_000 else ""

        def now_ms() -> int:
            return steady_ms() + ahead_ms[0]

        node = Node()
        async with served([node], now_ms=now_ms, era_ms=steady_ms()) as (chain, (stub,)):
            await chain.head()
            assert (await chain.submit(SENT, [0], (), permit)).outcome() is Outcome.ACCEPTED
            node.said["parameters"] = greet
            stub.cut()
            await until(lambda: chain.endpoints[0].client.losses_count == 1)
            late = asyncio.create_task(chain.submit(SENT, [0], (), permit))
            await until(lambda: stub.methods()[-1] == "parameters")
            ahead_ms[0] = 3_600_000
            greeted.set()
            (answer,) = (await late).answers
            assert (answer.kind, answer.outcome) == (PackageKind.UNREACHABLE, Outcome.REFUSED)
            assert (answer.words, answer.final) == ("the clock was set", False)
            assert len(sent(stub)) == 1
            # The node did nothing wrong.
            assert not chain.endpoints[0].is_resting()
            ahead_ms[0] = 0
            assert (await chain.submit(SENT, [0], (), permit)).outcome() is Outcome.ACCEPTED

    run(story)


def test_each_core_is_asked_for_by_itself_whether_bytes_may_leave() -> None:
    async def story() -> None:
        async with served([Node(submitWorkPackage=BUSY)]) as (chain, (stub,)):
            submission = await chain.submit(
                SENT, [0, 1], (), lambda _: "it is late" if sent(stub) else ""
            )
            assert kinds(submission) == [("a", 0, "core_busy"), ("a", 1, "unreachable")]
            assert submission.answers[1].words == "it is late"
            assert len(sent(stub)) == 1

    run(story)


def test_a_refusal_is_final_when_every_node_gave_a_final_one() -> None:
    async def story() -> None:
        nodes = [Node(submitWorkPackage=BROKEN), Node(submitWorkPackage=BROKEN)]
        async with served(nodes) as (chain, _):
            assert (await chain.submit(SENT, [0, 1])).final
            nodes[1].said[SUBMIT] = BUSY
            refused = await chain.submit(SENT, [0, 1])
            assert refused.outcome() is Outcome.REFUSED
            assert not refused.final
            del nodes[1].said[SUBMIT]
            held = await chain.submit(SENT, [0, 1])
            assert (held.outcome(), held.final) == (Outcome.ACCEPTED, False)
            only = await chain.submit(SENT, [0], only=["a"])
            assert (kinds(only), only.final) == ([("a", 0, "malformed")], True)

    run(story)


def test_nodes_that_are_only_read_from_are_offered_nothing() -> None:
    async def story() -> None:
        async with served([Node(), Node()], a={"takes_packages": False}) as (chain, (one, _)):
            assert chain.nodes == ("b",)
            assert kinds(await chain.submit(SENT, [0])) == [("b", 0, "taken")]
            assert sent(one) == []

    run(story)


def test_a_bundle_goes_first_and_the_package_where_bundles_are_not_taken() -> None:
    async def story() -> None:
        package = Package(encoded=b"p", bundle=b"b")
        async with served([Node()]) as (chain, (stub,)):
            await chain.submit(package, [1])
            assert sent(stub) == [[1, blob(b"b")]]
        no_bundles = Node(submitWorkPackageBundle=No(0, "Method not implemented"))
        async with served([no_bundles]) as (chain, (stub,)):
            submission = await chain.submit(package, [1])
            assert kinds(submission) == [("a", 1, "unsupported"), ("a", 1, "taken")]
            assert (await chain.submit(Package(bundle=b"b"), [1])).outcome() is Outcome.REFUSED
            with pytest.raises(AssertionError):
                await chain.submit(Package(), [0])

    run(story)


def test_words_that_no_table_knows_are_counted_and_kept() -> None:
    async def story() -> None:
        async with served([Node(submitWorkPackage=No(7, "oops"))]) as (chain, _):
            for _ in range(2):
                submission = await chain.submit(SENT, [0])
                assert submission.answers[0].words == "7 oops"
            assert chain.unknown_words == {"7 oops": 2}

    run(story)


def test_a_node_that_says_much_holds_up_nobody() -> None:
    async def story() -> None:
        long = "the authorizer refuses what is not signed " * 5_000
        node = Node(submitWorkPackage=No(7, long))
        node.statuses["a1"] = {"Failed": long}
        async with served([node]) as (chain, _):
            answer = (await chain.submit(SENT, [0])).answers[0]
            assert (answer.kind, answer.words) == (PackageKind.REFINE_FAILED, f"7 {long}"[:500])
            seen = await chain.look([ref("a0")], [watched("a0")])
            facts = [one.fact for block in seen.blocks for one in block.seen]
            assert Failed(PackageKind.REFINE_FAILED, long[:500]) in facts

    run(story)


def test_a_no_without_an_id_is_not_taken_for_the_packages() -> None:
    """JavaJAM: an error that names no call, while another call is under way."""

    async def story() -> None:
        def nameless(message: Json) -> Json:
            if "error" in message:
                del message["id"]
            return message

        gate = asyncio.Event()

        async def late(_: Any) -> None:
            await gate.wait()

        node = Node(statistics=No(0, "nope"))
        node.said[SUBMIT] = late
        async with served([node]) as (chain, (stub,)):
            stub._write = nameless
            submitting = asyncio.create_task(chain.submit(SENT, [0]))
            while not sent(stub):
                await asyncio.sleep(0.002)
            with pytest.raises(Exception, match="names no call"):
                await chain.statistics(bytes(32))
            assert (await submitting).answers[0].kind is PackageKind.SILENT
            gate.set()

    run(story)


def test_a_submission_is_bounded_in_answers_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "OFFERS_MAX", 3)

    async def story() -> None:
        nodes = [Node(submitWorkPackage=BUSY), Node(submitWorkPackage=BUSY)]
        async with served(nodes) as (chain, _):
            assert len((await chain.submit(SENT, range(9))).answers) == 2 * 3
        async with served(nodes, submit_all_ms=0) as (chain, _):
            assert len((await chain.submit(SENT, range(9))).answers) == 2 * 1

    run(story)


def test_preimages_go_to_the_nodes_in_turn() -> None:
    async def story() -> None:
        first = Node(submitPreimage=No(0, "service 7 waits for no preimage of these 1 bytes"))
        async with served([first, Node()]) as (chain, (_, two)):
            submission = await chain.submit_preimage(7, b"p")
            assert kinds(submission) == [("a", None, "not_requested"), ("b", None, "taken")]
            assert sent(two) == [[7, blob(b"p")]]
            refusing = first.said["submitPreimage"]
        async with served([Node(submitPreimage=refusing)]) as (chain, _):
            assert (await chain.submit_preimage(7, b"p")).outcome() is Outcome.REFUSED

    run(story)


def refuse(no: Exception) -> None:
    raise no
