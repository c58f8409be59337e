"""What a real node was seen to do, row by row (s04 to s20), and what an account's lane makes of it.

The n-th payment pays n, so the chain alone tells which landed, how often and in what order.
"""

from typing import get_args

from tests.devnets.cosmos.stage import RICH
from tests.laws.sequence_house import House

from laneway.core.outcome import Status
from laneway.cosmos.blobs import namespace_of
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.lanes.sequence.values import (
    AttemptSigned,
    NodeChanged,
    OfSlot,
    SlotSettled,
    SlotsRenumbered,
)
from laneway.ports import CosmosBlob

SMALL = MempoolRules(ttl_blocks=2)


def signatures(house: House) -> int:
    return len(house.ear.of(AttemptSigned))


def test_s04_what_is_in_the_mempool_already_counts_as_submitted() -> None:
    house = House()

    async def story() -> None:
        house.chain.lost.append("one")
        (job,) = await house.submit()
        await house.until_taken([job])
        assert [word for _, _, word in house.chain.offers] == ["taken", "in_mempool"]
        assert len(set(house.offered())) == 1
        assert await house.ends([job]) == ["confirmed"]
        assert house.amounts() == [1]

    house.run(story)


def test_s05_a_set_that_was_evicted_for_its_age_is_offered_again_lowest_first() -> None:
    house = House(SMALL)

    async def story() -> None:
        house.model.is_held = True
        jobs = await house.submit(3)
        await house.until_taken(jobs)
        first = house.offered()
        house.block(3)
        assert [house.model.status(0, house.hash_of(job)).standing.value for job in jobs] == [
            "EVICTED"
        ] * 3
        await house.until(lambda: len(house.offered()) >= 6)
        assert house.offered()[3:6] == first
        house.model.is_held = False
        assert await house.ends(jobs) == ["confirmed"] * 3
        assert house.amounts() == [1, 2, 3]
        assert signatures(house) == 3

    house.run(story)


def test_s06_behind_a_full_mempool_a_mismatch_is_spurious_until_the_next_block() -> None:
    house = House(MempoolRules(count_max=1))

    async def story() -> None:
        jobs = await house.submit(3)
        await house.settle_down()
        words = [word for _, _, word in house.chain.offers]
        assert words == ["taken", "mempool_full"]
        assert house.node().gate == house.model.height
        assert await house.ends(jobs) == ["confirmed"] * 3
        assert house.amounts() == [1, 2, 3]
        assert signatures(house) == 3

    house.run(story)


def test_s07_s19_what_was_evicted_for_room_is_offered_again_behind_a_block() -> None:
    house = House()

    async def story() -> None:
        house.model.is_held = True
        jobs = await house.submit(3)
        await house.until_taken(jobs)
        house.model.evict(0, house.hash_of(jobs[2]))
        await house.until(lambda: house.node().gate is not None)
        assert (house.node().expected, house.node().ours) == (3, 2)
        tries = len(house.offered())
        await house.settle_down()
        assert len(house.offered()) == tries  # Not before the next block.
        house.model.is_held = False
        assert await house.ends(jobs) == ["confirmed"] * 3
        assert house.amounts() == [1, 2, 3]
        assert signatures(house) == 3

    house.run(story)


def test_s08_one_that_timed_out_is_the_root_and_those_behind_it_keep_their_bytes() -> None:
    house = House(attempts_max=1)

    async def story() -> None:
        house.model.is_held = True
        (root,) = await house.submit(timeout_height=house.model.height + 2)
        tail = await house.submit(2)
        await house.until_taken([root, *tail])
        kept = [house.hash_of(job) for job in tail]
        house.block(3)
        house.model.is_held = False
        assert await house.ends([root]) == ["expired"]
        assert "not in a block up to 3" in house.ear.results[root].reason
        assert [house.hash_of(job) for job in tail] == kept
        assert await house.ends(tail) == ["confirmed"] * 2
        assert [house.landed(job).hash for job in tail] == kept
        assert house.amounts() == [1, 2, 3]  # The first of them is the coin that fills the number.

    house.run(story)


def test_s20_a_casualty_is_never_signed_again_while_its_old_bytes_may_land() -> None:
    house = House(attempts_max=1)

    async def story() -> None:
        house.model.is_held = True
        (root,) = await house.submit(timeout_height=house.model.height + 2)
        tail = await house.submit(3)
        await house.until_taken([root, *tail])
        kept = [house.hash_of(job) for job in tail]
        house.block(4)
        assert [house.model.status(0, one).verdict.code for one in kept] == [32] * 3
        await house.settle_down()
        assert [house.hash_of(job) for job in tail] == kept
        signed = [record.slot.intent for record in house.ear.of(AttemptSigned)]
        assert [signed.count(job) for job in tail] == [1, 1, 1]
        house.model.is_held = False
        assert await house.ends(tail) == ["confirmed"] * 3
        assert house.amounts()[1:] == [2, 3, 4]

    house.run(story)


def test_s09_s12_an_eviction_masks_every_later_reason_and_only_the_timeout_ends_it() -> None:
    house = House(timeout_blocks=6, attempts_max=1)

    async def story() -> None:
        house.model.is_held = True
        (job,) = await house.submit()
        await house.until_taken([job])
        house.model.app.price_micro *= 2
        house.model.evict(0, house.hash_of(job))
        kept = house.hash_of(job)
        house.block()
        await house.settle_down()
        assert house.model.status(0, kept).standing.value == "EVICTED"
        assert house.sight(job).waits.startswith("fee_too_low")
        assert house.hash_of(job) == kept
        house.block(7)
        assert await house.ends([job]) == ["expired"]
        assert "fee_too_low" in house.ear.results[job].reason
        assert house.amounts() == []

    house.run(story)


def test_s12_the_fee_has_risen_and_it_is_signed_again_only_behind_its_timeout_height() -> None:
    house = House(timeout_blocks=6)

    async def story() -> None:
        house.model.is_held = True
        (job,) = await house.submit()
        await house.until_taken([job])
        old = house.hash_of(job)
        slot = house.held().slot_of(job)
        assert slot is not None
        assert slot.attempt is not None
        last = slot.attempt.timeout_height
        house.model.app.price_micro *= 2
        house.chain.price = 0.008
        house.model.evict(0, old)
        while house.model.height <= last:
            assert house.hash_of(job) == old
            house.block()
            await house.settle_down()
        house.model.is_held = False
        assert await house.ends([job]) == ["confirmed"]
        seen = house.landed(job)
        assert seen.hash != old
        assert seen.height > last
        assert house.amounts() == [1]

    house.run(story)


def test_s10_the_first_rejection_sticks_and_is_not_believed() -> None:
    house = House()

    async def story() -> None:
        jobs = await house.submit(2)
        await house.until_taken(jobs)
        # A restart, and the second one is offered alone by someone: 32 is remembered for ever.
        house.model.restart(0)
        house.model.broadcast(0, house.offered()[1])
        hashes = [house.hash_of(job) for job in jobs]
        assert house.model.status(0, hashes[1]).verdict.code == 32
        assert await house.ends(jobs) == ["confirmed"] * 2
        assert house.amounts() == [1, 2]
        assert signatures(house) == 2

    house.run(story)


def test_s13_a_number_that_someone_else_used_is_a_conflict_proven_by_his_transaction() -> None:
    house = House()

    async def story() -> None:
        house.model.is_held = True
        jobs = await house.submit(3)
        await house.until_taken(jobs)
        house.model.restart(0)
        other = house.foreign(0)
        house.model.is_held = False
        house.block()
        await house.until(lambda: jobs[0] in house.ear.results)
        assert house.status(jobs[0]) == "refused"
        assert other.hex().upper() in house.ear.results[jobs[0]].reason
        assert await house.ends(jobs[1:]) == ["confirmed"] * 2
        assert house.amounts() == [999, 2, 3]

    house.run(story)


def test_s13_without_an_index_nobody_knows_and_the_caller_gets_the_bytes() -> None:
    house = House(conflict_blocks=3)

    async def story() -> None:
        house.chain.has_index = False
        house.model.is_held = True
        (job,) = await house.submit()
        await house.until_taken([job])
        house.model.restart(0)
        house.foreign(0)
        house.model.is_held = False
        assert await house.ends([job]) == ["indeterminate"]
        result = house.ear.results[job]
        assert result.number == 0
        assert result.hash is not None
        assert house.history(job).raw == house.offered()[0]
        (later,) = await house.submit()
        assert await house.ends([later]) == ["confirmed"]

    house.run(story)


def test_a_number_that_was_used_before_any_node_had_ours_is_simply_another() -> None:
    house = House()

    async def story() -> None:
        house.model.is_held = True
        (warm,) = await house.submit()
        await house.until_taken([warm])
        house.model.is_held = False
        await house.ends([warm])
        house.foreign(1)  # In the mempool: the account still says 1.
        jobs = await house.submit(2)
        await house.settle_down()
        assert house.node().expected == 2
        assert await house.ends(jobs) == ["confirmed"] * 2
        assert house.ear.of(SlotsRenumbered)
        assert house.amounts() == [1, 999, 2, 3]

    house.run(story)


def test_s14_what_is_too_large_or_wrong_is_refused_at_once_and_uses_no_number() -> None:
    house = House(MempoolRules(tx_bytes_max=3_000))

    async def story() -> None:
        large = await house.publish(CosmosBlob(namespace_of(b"mine"), b"d" * 4_000))
        after = await house.submit(2)
        await house.settle_down()
        assert house.status(large) == "refused"
        assert house.ear.results[large].reason.startswith("too_large")
        assert await house.ends(after) == ["confirmed"] * 2
        numbers = [house.ear.results[job].number for job in after]
        assert numbers == [0, 1]

    house.run(story)


def test_s15_a_node_that_forgot_everything_is_given_the_same_bytes_in_order() -> None:
    house = House()

    async def story() -> None:
        house.model.is_held = True
        jobs = await house.submit(3)
        await house.until_taken(jobs)
        first = house.offered()
        house.model.restart(0)
        assert house.model.status(0, house.hash_of(jobs[0])).standing.value == "UNKNOWN"
        await house.until(lambda: len(house.offered()) >= 6)
        assert house.offered()[3:6] == first
        assert "unknown: sequence 0" in next(
            record.node.reason for record in house.ear.of(NodeChanged) if record.node.reason
        )
        house.model.is_held = False
        assert await house.ends(jobs) == ["confirmed"] * 3
        assert house.amounts() == [1, 2, 3]
        assert signatures(house) == 3

    house.run(story)


def test_s16_a_failed_execution_uses_its_number_and_is_told_with_its_code() -> None:
    house = House()

    async def story() -> None:
        (good,) = await house.submit()
        (dear,) = await house.submit(amount=2 * RICH)
        (after,) = await house.submit()
        assert await house.ends([good, dear, after]) == ["confirmed", "reverted", "confirmed"]
        seen = house.landed(dear)
        assert (seen.code, seen.codespace) == (5, "sdk")
        assert "insufficient funds" in seen.log
        assert [house.ear.results[job].number for job in (good, dear, after)] == [0, 1, 2]

    house.run(story)


def test_s17_a_transaction_with_blobs_is_known_by_what_is_inside() -> None:
    house = House()

    async def story() -> None:
        job = await house.publish(CosmosBlob(namespace_of(b"mine"), b"data" * 300))
        await house.until_taken([job])
        hash_ = house.hash_of(job)
        assert await house.ends([job]) == ["confirmed"]
        found = house.model.committed(hash_)
        assert found is not None
        assert found.tx.blobs[0].data == b"data" * 300

    house.run(story)


def test_s18_evicted_here_and_pending_there_it_lands_without_another_signature() -> None:
    house = House(MempoolRules(), MempoolRules())

    async def story() -> None:
        house.model.is_held = True
        jobs = await house.submit(2)
        await house.until_taken(jobs)
        await house.settle_down()
        house.model.nodes[0].is_cut_off = True
        for job in jobs:
            house.model.evict(0, house.hash_of(job))
        house.model.is_held = False
        house.block(proposer=1)
        assert await house.ends(jobs) == ["confirmed"] * 2
        assert house.amounts() == [1, 2]
        assert signatures(house) == 2

    house.run(story)


def test_the_operator_sees_expected_and_ours_the_reason_and_what_comes_next() -> None:
    house = House()

    async def story() -> None:
        house.model.is_held = True
        jobs = await house.submit(3)
        await house.until_taken(jobs)
        house.model.evict(0, house.hash_of(jobs[2]))
        await house.until(lambda: house.node().gate is not None)
        await house.settle_down()
        told = house.described()
        assert told.startswith("recovering: one: wrong_sequence")
        assert "it expects sequence 3, ours is 2" in told
        assert f"asked again after block {house.model.height}" in told
        (waits,) = await house.submit()
        await house.settle_down()
        assert house.sight(waits).waits == "recovering"
        assert house.sight(waits).status is Status.QUEUED
        house.model.is_held = False
        assert await house.ends([*jobs, waits]) == ["confirmed"] * 4
        assert house.described().startswith("idle")

    house.run(story)


def test_rejections_in_a_row_set_a_node_back_exactly_once() -> None:
    house = House(attempts_max=1)

    async def story() -> None:
        house.model.is_held = True
        (root,) = await house.submit(timeout_height=house.model.height + 2)
        tail = await house.submit(4)
        await house.until_taken([root, *tail])
        before = house.node().epoch
        house.block(3)
        await house.settle_down()
        assert house.node().epoch - before <= 2
        house.model.is_held = False
        await house.ends([root, *tail])
        backs = {record.sequence for kind in get_args(OfSlot) for record in house.ear.of(kind)}
        assert backs <= {0, 1, 2, 3, 4}
        assert [one.status for one in house.ear.of(SlotSettled)].count("expired") == 1

    house.run(story)
