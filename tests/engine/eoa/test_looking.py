"""A look says what it saw in one picture, or nothing: half of a picture could settle wrongly."""

import pytest
from tests.engine.eoa.stage import AWAY, GWEI, FakeChain, Stage, fees_of, looking, order, ref

from laneway.core.facts import BlockRef, NonceOwner
from laneway.engine.eoa.making import make_all
from laneway.lanes.eoa.values import ChainRead, Made, NonceProven, ProveNonce, ReadFailed

OURS, OTHERS = b"ours", b"others"


def test_a_look_tells_the_account_the_market_and_the_block() -> None:
    stage = Stage()
    stage.chain.mine(OURS)
    seen = stage.perform(looking())
    assert isinstance(seen, ChainRead)
    assert (seen.latest, seen.preconfirmed, seen.balance) == (1, 1, 10**20)
    assert (seen.base_fee, seen.tip) == (10 * GWEI, GWEI)
    assert (seen.block, seen.block_hash, seen.fork) == (1, b"1", None)
    assert seen.receipts == ()


def test_the_price_of_a_chain_without_a_base_fee_stands_in_the_tip() -> None:
    stage = Stage()
    stage.chain.fees_said = fees_of(0, GWEI, None, is_1559=False)
    seen = stage.perform(looking())
    assert (seen.base_fee, seen.tip) == (0, GWEI)


def test_only_receipts_of_our_own_hashes_are_asked_for() -> None:
    stage = Stage()
    first = stage.chain.newest()
    stage.chain.mine(OTHERS, b"more")
    stage.chain.mine(OURS, OTHERS)

    async def story() -> None:
        (seen,) = await stage.performer.perform_all(
            stage.lane, [looking(first, OURS, b"waits")], lambda: None
        )
        assert isinstance(seen, ChainRead)
        assert [(one.hash, one.block) for one in seen.receipts] == [(OURS, 2)]
        assert stage.chain.asked_hashes == [[OURS]]
        (again,) = await stage.performer.perform_all(
            stage.lane, [looking(ref(2), b"waits")], lambda: None
        )
        assert isinstance(again, ChainRead)
        assert len(stage.chain.asked_hashes) == 1, "blocks without our hashes ask for nothing"

    stage.run(story())


def test_what_was_made_after_a_look_was_ordered_is_seen_by_it() -> None:
    """It is mined in the very block that the look reads up to, and no later look reads that one
    again: each such number would have to be proven by itself."""
    stage = Stage()
    first = stage.chain.newest()
    ordered = looking(first, OURS)

    async def receipts() -> list[bytes]:
        (seen,) = await stage.performer.perform_all(stage.lane, [ordered], lambda: None)
        assert isinstance(seen, ChainRead)
        return [one.hash for one in seen.receipts]

    async def story() -> None:
        await stage.view.since(None, first)
        (late,) = await make_all(stage.account, [order()], stage.time)
        assert isinstance(late, Made)
        stage.chain.mine(OURS, OTHERS, late.hash)
        assert await receipts() == [OURS, late.hash]
        assert await receipts() == [OURS], "the next order names it"

    stage.run(story())


def lost(chain: FakeChain) -> None:
    chain.lost_receipts.add(OURS)


def elsewhere(chain: FakeChain) -> None:
    chain.receipts_branch = "b"


def away(chain: FakeChain) -> None:
    chain.trouble = AWAY


def ahead(chain: FakeChain) -> None:
    chain.head_account = 9


@pytest.mark.parametrize("trouble", [lost, elsewhere, away, ahead])
def test_a_contradiction_is_not_read_at_all(trouble: object) -> None:
    """A block holds our hash and its receipt is null, or in another branch; the account is from a
    block that nobody has; nobody answers. Whoever moved on from here would never look back."""
    stage = Stage()
    first = stage.chain.newest()
    stage.chain.mine(OURS)
    trouble(stage.chain)  # type: ignore[operator]
    assert isinstance(stage.perform(looking(first, OURS)), ReadFailed)


def test_a_reorg_is_told_with_what_the_new_branch_holds() -> None:
    stage = Stage()
    chain = stage.chain

    async def story() -> None:
        async def look(known: BlockRef | None) -> ChainRead:
            (seen,) = await stage.performer.perform_all(
                stage.lane, [looking(known, OURS)], lambda: None
            )
            assert isinstance(seen, ChainRead)
            return seen

        await look(None)
        chain.mine()
        chain.mine(OURS)
        seen = await look(ref(0))
        assert [one.block for one in seen.receipts] == [2]
        chain.set_back(1)
        chain.mine(count=1, branch="b")
        chain.mine(OURS, branch="b")
        moved = await look(BlockRef(2, b"2"))
        assert (moved.fork, [one.block for one in moved.receipts]) == (1, [3])

    stage.run(story())


@pytest.mark.parametrize("known", [ref(0), None], ids=["far behind", "nothing known"])
def test_who_cannot_read_every_block_is_told_the_count_alone(known: BlockRef | None) -> None:
    """A receipt by itself does not say that its block stands below this one; whoever used a
    number is proven one by one."""
    stage = Stage()
    chain = stage.chain
    chain.mine(OURS)
    chain.mine(count=200)
    seen = stage.perform(looking(known, OURS, b"waits"))
    assert isinstance(seen, ChainRead)
    assert (seen.latest, seen.receipts, seen.fork) == (1, (), None)
    assert chain.asked_hashes == []


def test_who_used_a_number_is_proven_by_a_receipt_alone() -> None:
    stage = Stage()
    stage.chain.mine(OTHERS)
    order = ProveNonce(0, 1)
    assert stage.perform(order).receipt is None
    stage = Stage()
    stage.chain.mine(OTHERS)
    stage.chain.owner = NonceOwner(OTHERS, ref(1), "node", 5)
    proven = stage.perform(order)
    assert isinstance(proven, NonceProven)
    assert proven.receipt is not None
    assert (proven.nonce, proven.receipt.hash, proven.receipt.block) == (0, OTHERS, 1)


@pytest.mark.parametrize("trouble", ["lost", "away"])
def test_an_owner_without_a_receipt_proves_nothing(trouble: str) -> None:
    stage = Stage()
    stage.chain.mine(OTHERS)
    stage.chain.owner = NonceOwner(OTHERS, ref(1), "node", 5)
    if trouble == "lost":
        stage.chain.lost_receipts.add(OTHERS)
    else:
        stage.chain.trouble = AWAY
    assert stage.perform(ProveNonce(0, 1)).receipt is None
