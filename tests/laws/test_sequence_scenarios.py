"""The scenarios that other clients of Celestia test themselves with, told to an account's lane.

Those of celestia-app's v1 client, of its queued one and of lumina's second; what does not apply to
a queue that survives its process stands in docs/sequence.md.
"""

import asyncio
from collections.abc import Sequence

import pytest
from msgspec.structs import replace
from tests.devnets.cosmos.stage import RICH, A, B, grant, raw_of, send, shown, signed
from tests.laws.sequence_house import House

from laneway.core.cosmos import CosmosLook, GasSeen, OfferAnswer, OfferKind
from laneway.core.records import Decision
from laneway.cosmos.blobs import namespace_of
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.lanes.sequence.machine import decide
from laneway.lanes.sequence.values import (
    AttemptSigned,
    NodeChanged,
    OfferReturned,
    SlotFellOut,
    Submitted,
)
from laneway.ports import CosmosBlob, CosmosRequest

MIB = 1 << 20


def signatures(house: House) -> int:
    return len(house.ear.of(AttemptSigned))


# celestia-app, v1.


def test_fee_and_gas_are_the_callers_or_the_chains() -> None:
    house = House()

    async def story() -> None:
        (given,) = await house.submit(gas=150_000, fee=5_000)
        (found,) = await house.submit(gas=None)
        assert await house.ends([given, found]) == ["confirmed"] * 2
        assert house.landed(given).gas_wanted == 150_000
        assert house.landed(found).gas_wanted == 88_000  # Of 80,000 that were simulated.
        attempts = [record.slot.attempt for record in house.ear.of(AttemptSigned)]
        assert [one.fee for one in attempts if one is not None] == [5_000, 352]

    house.run(story)


def test_an_account_that_does_not_exist_waits_until_it_does() -> None:
    house = House(balance=None)

    async def story() -> None:
        jobs = await house.submit(2)
        await house.settle_down()
        assert house.described() == "halted: its account does not exist on the chain yet"
        made = signed(0, [send(B, raw_of(A), RICH // 2)], key=B, number=0)
        house.model.broadcast(0, made.raw)
        assert await house.ends(jobs) == ["confirmed"] * 2

    house.run(story)


def test_a_rejection_by_timeout_height_gives_its_number_to_the_next() -> None:
    house = House()

    async def story() -> None:
        house.model.is_held = True
        (late,) = await house.submit(timeout_height=house.model.height + 1)
        await house.until_taken([late])
        house.block(2)
        await house.until(lambda: late in house.ear.results)
        assert house.status(late) == "expired"
        house.model.is_held = False
        (after,) = await house.submit()
        assert await house.ends([after]) == ["confirmed"]
        assert house.ear.results[after].number == 0

    house.run(story)


def test_ten_large_blobs_that_are_evicted_again_and_again_all_land() -> None:
    house = House(MempoolRules(ttl_blocks=1), timeout_blocks=100)

    async def story() -> None:
        jobs = [
            await house.publish(CosmosBlob(namespace_of(b"mine"), bytes([n]) * (3 * MIB // 2)))
            for n in range(10)
        ]
        evicted = 0
        for place in range(100):
            await house.settle_down()
            house.model.is_held = place % 8 != 7
            house.block()
            evicted = len(
                [one for one in house.ear.of(NodeChanged) if one.node.reason.startswith("evicted")]
            )
            if all(job in house.ear.results for job in jobs):
                break
        assert [house.status(job) for job in jobs] == ["confirmed"] * 10
        assert evicted >= 4
        assert signatures(house) == 10

    house.run(story)


def test_evicted_three_times_with_a_failing_resubmission_it_lands_all_the_same() -> None:
    house = House()

    async def story() -> None:
        house.model.is_held = True
        (job,) = await house.submit()
        await house.until_taken([job])
        for _ in range(3):
            house.chain.lost.append("one")
            house.model.evict(0, house.hash_of(job))
            house.block()
            await house.settle_down()
        house.model.is_held = False
        assert await house.ends([job]) == ["confirmed"]
        assert signatures(house) == 1

    house.run(story)


def test_evicted_for_ever_it_ends_with_its_timeout_height() -> None:
    house = House(timeout_blocks=5, attempts_max=2)

    async def story() -> None:
        house.model.is_held = True
        (job,) = await house.submit()
        last = house.model.height
        while job not in house.ear.results:
            await house.settle_down()
            if house.stands(job) == "submitted":
                house.model.evict(0, house.hash_of(job))
            house.block()
            assert house.model.height < last + 2 * 5 + 20
        assert house.status(job) == "expired"
        assert signatures(house) == 2

    house.run(story)


def test_what_would_fail_is_told_with_the_estimates_own_words() -> None:
    house = House()

    async def gas_used(_raw: bytes) -> GasSeen:
        return GasSeen(None, OfferKind.NO_FUNDS, "insufficient funds")

    house.chain.gas_used = gas_used  # type: ignore[method-assign]

    async def story() -> None:
        (job,) = await house.submit(gas=None)
        assert await house.ends([job]) == ["refused"]
        assert house.ear.results[job].reason == "it would fail: insufficient funds"

    house.run(story)


def test_what_is_not_next_on_a_node_is_given_the_default_gas() -> None:
    house = House()

    async def gas_used(_raw: bytes) -> GasSeen:
        return GasSeen(None, OfferKind.WRONG_SEQUENCE, "account sequence mismatch")

    house.chain.gas_used = gas_used  # type: ignore[method-assign]

    async def story() -> None:
        (job,) = await house.submit(gas=None)
        assert await house.ends([job]) == ["confirmed"]
        assert house.landed(job).gas_wanted == 200_000

    house.run(story)


@pytest.mark.parametrize("away", ["one", "two", "three"])
def test_two_nodes_of_three_that_answer_are_enough(away: str) -> None:
    house = House(MempoolRules(), MempoolRules(), MempoolRules())

    async def story() -> None:
        house.chain.away.add(away)
        jobs = await house.submit(3)
        await house.until_taken(jobs)
        for node in house.model.nodes:
            node.is_cut_off = False
        proposer = next(n for n, name in enumerate(house.chain.nodes) if name != away)
        for _ in range(3):
            house.block(proposer=proposer)
            await house.settle_down()
        assert [house.status(job) for job in jobs] == ["confirmed"] * 3
        assert house.amounts() == [1, 2, 3]
        assert signatures(house) == 3

    house.run(story)


def hung(house: House, names: set[str]) -> list[str]:
    """Nodes that take connections and never answer; who is looked at, in order."""
    look_at, send_to = house.chain.look, house.chain.send
    looked: list[str] = []

    async def look(node: str, address: str, hashes: Sequence[bytes]) -> CosmosLook:
        looked.append(node)
        if node in names:
            await asyncio.sleep(1_000)
        return await look_at(node, address, hashes)

    async def send(
        raws: Sequence[bytes], only: Sequence[str] = ()
    ) -> Sequence[Sequence[OfferAnswer]]:
        if only[0] in names:
            await asyncio.sleep(15)
            return [[OfferAnswer(only[0], OfferKind.SILENT)] for _ in raws]
        return await send_to(raws, only)

    house.chain.look, house.chain.send = look, send  # type: ignore[method-assign]
    return looked


def test_a_node_that_hangs_does_not_hold_the_answers_of_the_others() -> None:
    house = House(*(MempoolRules(),) * 3)

    async def story() -> None:
        hung(house, {"one"})
        begun_ms = house.time.now_ms()
        for _ in range(3):
            assert await house.ends(await house.submit()) == ["confirmed"]
        assert house.time.now_ms() - begun_ms < 5_000

    house.run(story)


def test_the_only_node_that_answers_is_not_asked_without_a_pause() -> None:
    house = House(*(MempoolRules(),) * 3)

    async def story() -> None:
        looked = hung(house, {"one", "two"})
        await house.submit()
        await asyncio.sleep(5)
        assert looked.count("three") <= 5_000 // house.settings.poll_ms + 1

    house.run(story)


def test_one_of_two_nodes_far_behind_ends_no_bytes_at_their_birth() -> None:
    house = House(MempoolRules(), MempoolRules(), block_ms=500, timeout_blocks=30)
    real = house.chain.look

    async def look(node: str, address: str, hashes: Sequence[bytes]) -> CosmosLook:
        seen = await real(node, address, hashes)
        return replace(seen, height=seen.height - 200) if node == "one" else seen

    async def story() -> None:
        house.block(400)
        house.chain.look = look  # type: ignore[method-assign]
        assert await house.ends(await house.submit(2)) == ["confirmed"] * 2
        assert {word for _, _, word in house.chain.offers} == {"taken", "in_mempool"}

    house.run(story)


def test_a_node_that_lags_at_the_first_read_costs_no_intent() -> None:
    """A new database, an account with a history, and one of two honest nodes some seconds behind:
    the number that both have reached is used."""
    house = House(MempoolRules(), MempoolRules())
    real, lag = house.chain.look, ["one"]

    async def look(node: str, address: str, hashes: Sequence[bytes]) -> CosmosLook:
        seen = await real(node, address, hashes)
        assert seen.account is not None
        if node in lag:
            seen = replace(seen, height=2, account=replace(seen.account, sequence=0))
        return seen

    async def story() -> None:
        for number in range(3):
            house.foreign(number)
            house.block()
        house.chain.look = look  # type: ignore[method-assign]
        jobs = await house.submit(3)
        await house.settle_down()
        assert "one shows account 0 at sequence 0 in block 2" in house.described()
        assert not house.offered()
        lag.clear()
        assert await house.ends(jobs) == ["confirmed"] * 3
        assert house.amounts()[-3:] == [1, 2, 3]

    house.run(story)


@pytest.mark.parametrize("attempts", [1, 2])
def test_bytes_in_a_block_that_nodes_call_too_late_are_not_told_to_be_expired(
    attempts: int,
) -> None:
    """One node of three takes bytes, says that they are too late and never counts them; of the
    others one was away until their last block was over, has forgotten its mempool, and looks at the
    timeout before it looks at the sequence."""
    house = House(MempoolRules(), MempoolRules(), MempoolRules(), attempts_max=attempts)
    look_at, offer_to = house.chain.look, house.chain._offer

    async def look(node: str, address: str, hashes: Sequence[bytes]) -> CosmosLook:
        seen = await look_at(node, address, hashes)
        assert seen.account is not None
        if node == "one":
            seen = replace(seen, account=replace(seen.account, sequence=1), txs=())
        return seen

    def offer(name: str, raw: bytes) -> OfferAnswer:
        answer = offer_to(name, raw)
        if name == "one" and answer.kind is OfferKind.TAKEN:
            return OfferAnswer(name, OfferKind.TIMED_OUT, 30, "sdk", "tx timeout height")
        return answer

    async def story() -> None:
        assert await house.ends(await house.submit()) == ["confirmed"]
        house.chain.look, house.chain._offer = look, offer  # type: ignore[method-assign]
        house.chain.away |= {"two", "three"}
        (job,) = await house.submit(timeout_height=house.model.height + 3)
        await house.until(lambda: len(house.offered("one")) > 1)
        house.block(6)
        for node in range(3):
            house.model.restart(node)
        house.chain.away.remove("two")
        await house.until(lambda: house.chain.offers[-1][::2] == ("two", "timed_out"))
        await house.settle_down()
        assert job not in house.ear.results
        house.chain.away.clear()
        assert await house.ends([job]) == ["confirmed"]
        assert house.amounts() == [1, 2]

    house.run(story)


def test_what_one_node_of_three_shows_is_not_told_before_another_shows_it_too() -> None:
    house = House(MempoolRules(), MempoolRules(), MempoolRules())

    async def story() -> None:
        (first,) = await house.submit()
        await house.ends([first])
        house.chain.away.update(("two", "three"))
        (job,) = await house.submit()
        await house.until_taken([job])
        house.block(3)
        await house.settle_down()
        assert house.stands(job) == "submitted"
        house.chain.away.remove("three")
        await house.settle_down()
        assert house.status(job) == "confirmed"
        assert signatures(house) == 2

    house.run(story)


def test_when_no_node_answers_it_waits_and_goes_on_when_one_does() -> None:
    house = House(MempoolRules(), MempoolRules())

    async def story() -> None:
        (first,) = await house.submit()
        await house.ends([first])
        house.chain.away.update(("one", "two"))
        jobs = await house.submit(2)
        await house.settle_down()
        assert all(job not in house.ear.results for job in jobs)
        assert house.described().startswith("recovering: one: unreachable")
        house.chain.away.clear()
        assert await house.ends(jobs) == ["confirmed"] * 2
        assert house.amounts() == [1, 2, 3]

    house.run(story)


def test_with_several_nodes_the_sequence_moves_once() -> None:
    house = House(MempoolRules(), MempoolRules(), MempoolRules())

    async def story() -> None:
        jobs = await house.submit(4)
        assert await house.ends(jobs) == ["confirmed"] * 4
        assert [house.ear.results[job].number for job in jobs] == [0, 1, 2, 3]
        told = [intent for record in house.ear.of(Submitted) for intent in record.intents]
        assert sorted(filter(None, told)) == sorted(jobs)

    house.run(story)


def test_a_lane_at_rest_has_nothing_left() -> None:
    house = House()

    async def story() -> None:
        jobs = await house.submit(20)
        assert await house.ends(jobs) == ["confirmed"] * 20
        lane = house.held()
        assert not lane.slots
        assert not lane.hashes
        assert not lane.raws
        assert lane.head.signed_bytes == 0

    house.run(story)


def test_a_worker_account_pays_with_its_granters_coins_and_fails_without_them() -> None:
    house = House(balance=1, attempts_max=1, timeout_blocks=4)

    async def story() -> None:
        (poor,) = await house.submit(granter=shown(raw_of(B)))
        assert await house.ends([poor]) == ["refused"]
        allowed = signed(0, [grant(B, raw_of(A))], key=B)
        house.model.broadcast(0, allowed.raw)
        house.block()
        (rich,) = await house.submit(amount=1, granter=shown(raw_of(B)))
        assert await house.ends([rich]) == ["confirmed"]

    house.run(story)


def test_a_blob_of_version_1_names_the_account_in_its_shares() -> None:
    house = House()

    async def story() -> None:
        job = await house.publish(CosmosBlob(namespace_of(b"mine"), b"data" * 99, 1))
        assert await house.ends([job]) == ["confirmed"]
        found = house.model.committed(house.landed(job).hash)
        assert found is not None
        assert found.tx.blobs[0].signer == raw_of(A)

    house.run(story)


# celestia-app, queued.


def test_a_signer_that_refuses_ends_one_job_and_no_other() -> None:
    house = House()

    async def story() -> None:
        house.signer.refusals = 1
        jobs = await house.submit(3)
        assert await house.ends(jobs) == ["refused", "confirmed", "confirmed"]
        assert [house.ear.results[job].number for job in jobs[1:]] == [0, 1]

    house.run(story)


def test_a_thousand_land_without_one_mismatch() -> None:
    house = House()

    async def story() -> None:
        jobs = await house.submit(1_000)
        assert await house.ends(jobs, blocks=200) == ["confirmed"] * 1_000
        assert house.amounts() == list(range(1, 1_001))
        assert {word for _, _, word in house.chain.offers} == {"taken"}
        assert signatures(house) == 1_000

    house.run(story)


def test_what_is_wrong_in_the_middle_does_not_stop_the_rest() -> None:
    house = House()

    async def story() -> None:
        first = await house.submit(2)
        wrong = await house.ask(CosmosRequest(messages=(("/unknown.Msg", b""),), gas=90_000))
        rest = await house.submit(2)
        ends = await house.ends([*first, wrong, *rest])
        assert ends == ["confirmed", "confirmed", "refused", "confirmed", "confirmed"]
        assert len(house.ear.of(SlotFellOut)) == 1
        assert house.ear.results[rest[-1]].number == 3

    house.run(story)


def test_a_callers_last_block_far_away_does_not_stop_those_behind_it() -> None:
    """A fee that nobody can pay, in bytes that would be valid for ever."""
    house = House(*(MempoolRules(),) * 3, attempts_max=1)

    async def story() -> None:
        far = (1 << 53) - 1
        jobs = await house.submit(gas=far, price_micro=1_023_000_000, timeout_height=far)
        jobs += await house.submit(3)
        assert await house.ends(jobs) == ["expired", "confirmed", "confirmed", "confirmed"]
        assert house.amounts()[-3:] == [2, 3, 4]

    house.run(story)


def test_cancelling_what_waits_and_what_no_node_has() -> None:
    house = House(inflight=2)

    async def story() -> None:
        house.model.is_held = True
        jobs = await house.submit(4)
        await house.until_taken(jobs[:2])
        await house.tell("cancel", intent=jobs[3])
        await house.tell("cancel", intent=jobs[0])
        await house.settle_down()
        assert house.status(jobs[3]) == "cancelled"
        assert jobs[0] not in house.ear.results
        house.model.is_held = False
        assert await house.ends(jobs[:3]) == ["confirmed"] * 3
        assert house.amounts() == [1, 2, 3]

    house.run(story)


def test_a_paused_lane_signs_nothing_new_and_finishes_what_is_out() -> None:
    house = House()

    async def story() -> None:
        (first,) = await house.submit()
        await house.until_taken([first])
        await house.tell("pause")
        await house.settle_down()
        (second,) = await house.submit()
        assert await house.ends([first]) == ["confirmed"]
        assert signatures(house) == 1
        assert house.described() == "paused: why"
        await house.tell("resume")
        assert await house.ends([second]) == ["confirmed"]

    house.run(story)


# lumina.


def test_an_answer_of_an_older_epoch_is_ignored() -> None:
    house = House()

    async def story() -> None:
        house.model.is_held = True
        jobs = await house.submit(2)
        await house.until_taken(jobs)
        node = house.node()
        now_ms, hashes = house.time.now_ms(), (house.hash_of(jobs[0]),)
        refused = (OfferAnswer("one", OfferKind.MALFORMED),)
        late = OfferReturned(now_ms, "one", node.serial - 1, node.epoch, 0, hashes, refused)
        assert decide(house.held(), late) == Decision()
        house.model.is_held = False
        assert await house.ends(jobs) == ["confirmed"] * 2

    house.run(story)


def test_recovering_over_several_nodes_that_forgot_different_things() -> None:
    house = House(MempoolRules(), MempoolRules(), MempoolRules())

    async def story() -> None:
        house.model.is_held = True
        for node in house.model.nodes:
            node.is_cut_off = True
        jobs = await house.submit(6)
        await house.until(lambda: all(house.node(n).next == 6 for n in range(3)))
        house.model.restart(0)
        house.model.nodes[0].is_cut_off = True
        for job in jobs[3:]:
            house.model.evict(1, house.hash_of(job))
        await house.settle_down()
        house.block()
        await house.settle_down()
        assert [house.node(n).next for n in range(3)] == [6, 6, 6]
        house.model.is_held = False
        assert await house.ends(jobs) == ["confirmed"] * 6
        assert house.amounts() == [1, 2, 3, 4, 5, 6]
        assert signatures(house) == 6

    house.run(story)


def test_a_crash_at_any_moment_signs_nothing_twice() -> None:
    for pause_ms in range(0, 60, 7):
        house = House()

        async def story(house: House = house, pause_ms: int = pause_ms) -> None:
            jobs = await house.submit(5)
            await asyncio.sleep(pause_ms / 1_000)
            await house.crash()
            assert await house.ends(jobs) == ["confirmed"] * 5
            assert house.amounts() == [1, 2, 3, 4, 5]
            assert signatures(house) <= 5 + (pause_ms == 0)

        house.run(story)
