"""A look says what it saw in one picture, or nothing: half of a picture could settle wrongly."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.eoa.stage import (
    AWAY,
    CHAIN_ID,
    GWEI,
    SECRET,
    TO,
    FakeChain,
    Stage,
    fees_of,
    looking,
    order,
    ref,
)
from tests.engine.virtual import VirtualTime

from laneway.core.facts import BlockRef, NonceClaim, ReceiptSeen
from laneway.engine.eoa import ChainView, EoaPerformer
from laneway.engine.eoa import looking as looking_module
from laneway.engine.eoa.making import make
from laneway.engine.limits import OWNERS_ASKED_MAX
from laneway.evm.envelope import SealedTransaction, draft, seal
from laneway.evm.transaction import DynamicFeeTransaction
from laneway.lanes.eoa.values import (
    ChainRead,
    LookAtChain,
    Made,
    NonceProven,
    ProveNonce,
    ReadFailed,
)
from laneway.signers.local import LocalSigner

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
        late = await make(stage.account, order(), stage.time)
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
    """A receipt by itself does not say that its block stands below this one. Those of numbers that
    are used are asked for by their hashes, which any node can answer: see below."""
    stage = Asked()
    chain = stage.chain
    chain.mine(OURS)
    chain.mine(count=200)
    seen = stage.perform(looking(known, OURS, b"waits"))
    assert isinstance(seen, ChainRead)
    assert (seen.latest, seen.receipts, seen.fork) == (1, (), None)
    assert chain.asked_hashes == []
    proven = stage.perform(ProveNonce(0, (OURS,), DEPTH))
    assert (proven.receipt.hash, proven.receipt.block) == (OURS, 1)


# Several nodes, of which one may lie.

THREE = ("a", "b", "c")
DEPTH = 2


class Asked(Stage):
    """A stage that is asked again and again."""

    def perform(self, *effects: Any, permit: Callable[[], str | None] = lambda: None) -> Any:
        self.time = VirtualTime()
        self.view = ChainView(self.chain, self.time)
        self.account.view = self.view
        self.performer = EoaPerformer({self.lane: self.account}, self.time)
        return super().perform(*effects, permit=permit)


def three() -> Stage:
    stage = Asked()
    stage.chain.nodes = THREE
    return stage


def due(known: BlockRef, *facts: tuple[bytes, int]) -> LookAtChain:
    return LookAtChain(known.number, known.hash, tuple(one for one, _ in facts), DEPTH, facts)


def forged(hash_: bytes, block: int, *, ok: bool = True, node: str = "a") -> ReceiptSeen:
    return ReceiptSeen(hash_, ok, ref(block), 21_000, GWEI, node)


def test_what_is_final_is_agreed_on_by_a_majority_of_all_nodes() -> None:
    stage = three()
    stage.chain.mine(OURS)
    known = stage.chain.mine(count=DEPTH)
    seen = stage.perform(due(known, (OURS, 1)))
    assert [(one.hash, one.block, one.ok) for one in seen.agreed] == [(OURS, 1, True)]
    stage.chain.lies["a"] = {OURS: forged(OURS, 1, ok=False)}
    assert [one.ok for one in stage.perform(due(known, (OURS, 1))).agreed] == [True]
    stage.chain.heads_behind = {"b": 0, "c": 1}
    seen = stage.perform(due(known, (OURS, 1)))
    assert (seen.agreed, seen.denied) == ((), ()), "for one of two it is not final yet"
    stage.chain.heads_behind = {"b": 0}
    assert stage.perform(due(known, (OURS, 1))).agreed == (), "one of three is no majority"


def test_what_one_node_invented_is_denied_by_the_others() -> None:
    stage = three()
    known = stage.chain.mine(count=9)
    stage.chain.lies["a"] = {OURS: forged(OURS, 1)}
    seen = stage.perform(due(known, (OURS, 1)))
    assert (seen.agreed, seen.denied) == ((), (OURS,))
    stage.chain.heads_behind = {"a": 0, "b": 0, "c": 8}
    assert stage.perform(due(known, (OURS, 1))).denied == (), "a node that lags denies nothing"


def test_what_is_not_deep_enough_is_not_asked_for() -> None:
    stage = three()
    known = stage.chain.mine(OURS)
    assert stage.perform(due(known, (OURS, 1))).agreed == ()
    assert stage.chain.asked_hashes == []


def test_one_node_alone_is_asked_nothing_more() -> None:
    stage = Stage()
    stage.chain.mine(OURS)
    known = stage.chain.mine(count=DEPTH)
    assert stage.perform(due(known, (OURS, 1))).agreed == ()
    assert "receipts_by_node" not in stage.chain.asked


def test_no_further_batch_is_asked_for_behind_one_that_is_not_agreed_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(looking_module, "RECEIPTS_AT_ONCE", 2)
    stage = three()
    hashes = [bytes([number]) * 32 for number in range(6)]
    stage.chain.mine(*hashes)
    known = stage.chain.mine(count=DEPTH)
    seen = stage.perform(due(known, *((one, 1) for one in hashes)))
    assert [one.hash for one in seen.agreed] == hashes
    stage.chain.asked_hashes.clear()
    stage.chain.lost_receipts.add(hashes[3])
    assert len(stage.perform(due(known, *((one, 1) for one in hashes))).agreed) == 3
    assert stage.chain.asked_hashes == [hashes[:2], hashes[2:4]]


# Numbers that are used, and none of ours was seen there.

KEY, STRANGER = LocalSigner("here", SECRET), LocalSigner("other", b"\x07" * 32)


def transaction(
    signer: LocalSigner = KEY, nonce: int = 0, chain_id: int = CHAIN_ID
) -> SealedTransaction:
    made = DynamicFeeTransaction(chain_id, nonce, 1, 2, 21_000, TO)
    drafted = draft(made)
    return seal(drafted, signer.sign_now(drafted.payload))


def claimed(sealed: SealedTransaction, node: str = "a", count: int = 1) -> NonceClaim:
    return NonceClaim(node, count, sealed.hash, sealed.raw)


def test_our_own_hashes_are_asked_for_first_and_all_at_once() -> None:
    """300 in flight, and a lane that was away for 100 blocks."""
    stage = three()
    hashes = [number.to_bytes(32, "big") for number in range(300)]
    stage.chain.mine(*hashes)
    stage.chain.mine(count=100)
    orders = [ProveNonce(nonce, (b"older", one), DEPTH) for nonce, one in enumerate(hashes)]
    proven = stage.run(stage.performer.perform_all(stage.lane, orders, lambda: None))
    assert [one.receipt and one.receipt.hash for one in proven] == hashes
    assert stage.chain.asked == ["receipts_by_node"]


def test_another_transaction_of_this_account_is_proven_by_its_signature_and_a_majority() -> None:
    stage = three()
    used = transaction()
    stage.chain.mine(used.hash)
    stage.chain.mine(count=DEPTH)
    order = ProveNonce(0, (OURS,), DEPTH)
    stage.chain.claims = [claimed(used)]
    proven = stage.perform(order)
    assert isinstance(proven, NonceProven)
    assert proven.receipt is not None
    assert (proven.nonce, proven.receipt.hash, proven.receipt.block) == (0, used.hash, 1)
    stage.chain.heads_behind = {"a": 0, "b": 1, "c": 1}
    waits = stage.perform(order)
    assert (waits.receipt, waits.evidence) == (None, ""), "it is final for one node alone"


@pytest.mark.parametrize(
    "lie",
    [transaction(STRANGER), transaction(nonce=1), transaction(chain_id=CHAIN_ID + 1)],
    ids=["another's signature", "another number", "another chain"],
)
def test_an_invented_owner_with_an_invented_receipt_proves_nothing(lie: SealedTransaction) -> None:
    stage = three()
    stage.chain.mine(count=50)
    stage.chain.claims = [
        claimed(lie, count=9),
        NonceClaim("b", 9, b"\x01" * 32, b"\x01"),
        NonceClaim("c", 9),
    ]
    for node in THREE:
        stage.chain.lies[node] = {lie.hash: forged(lie.hash, 1)}
    proven = stage.perform(ProveNonce(0, (OURS,), DEPTH))
    assert proven.receipt is None
    shown = ("nonce 0", f"a: count 9, 0x{lie.hash.hex()[:8]} not signed by it", "c: count 9, shows")
    for told in (*shown, f"0x{OURS.hex()[:8]}", "cancel"):
        assert told in proven.evidence


def test_one_node_that_invents_a_receipt_of_ours_does_not_hide_who_used_the_number() -> None:
    stage = three()
    used = transaction()
    stage.chain.mine(used.hash)
    stage.chain.mine(count=DEPTH)
    stage.chain.claims = [claimed(used)]
    stage.chain.lies["c"] = {OURS: forged(OURS, 1, node="c")}
    proven = stage.perform(ProveNonce(0, (OURS,), DEPTH))
    assert proven.receipt is not None
    assert proven.receipt.hash == used.hash


def test_a_receipt_of_ours_that_is_not_final_is_waited_for() -> None:
    stage = three()
    stage.chain.mine(OURS)
    proven = stage.perform(ProveNonce(0, (OURS,), DEPTH))
    assert (proven.receipt, proven.evidence) == (None, "")
    assert stage.chain.asked == ["receipts_by_node"]


def test_one_node_that_counts_more_than_the_others_is_no_evidence() -> None:
    stage = three()
    stage.chain.mine(count=9)
    stage.chain.claims = [NonceClaim("a", 9), NonceClaim("b", 0), NonceClaim("c", 0)]
    assert stage.perform(ProveNonce(0, (), DEPTH)).evidence == ""
    stage.chain.claims = [NonceClaim("a", 9), NonceClaim("b", 9), NonceClaim("c", 0)]
    assert "unsigned" in stage.perform(ProveNonce(0, (), DEPTH)).evidence


def test_owners_of_a_few_numbers_are_searched_for_at_once() -> None:
    stage = three()
    stage.chain.mine(count=9)
    orders = [ProveNonce(nonce, (bytes([nonce]) * 32,), DEPTH) for nonce in range(200)]
    proven = stage.run(stage.performer.perform_all(stage.lane, orders, lambda: None))
    assert [one.nonce for one in proven] == list(range(200))
    assert stage.chain.asked.count("at_nonce") == OWNERS_ASKED_MAX


def test_who_cannot_be_asked_proves_nothing() -> None:
    stage = three()
    stage.chain.trouble = AWAY
    proven = stage.perform(ProveNonce(0, (OURS,), DEPTH))
    assert (proven.receipt, proven.evidence) == (None, "")
