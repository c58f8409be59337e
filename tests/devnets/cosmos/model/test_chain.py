"""Laws of the Cosmos chain model. Nothing happens but what is told to.

The rows of the recorded node (s04 to s20) stand here as stories; the transcripts are replayed
elsewhere, word by word.
"""

import hashlib

import pytest
from msgspec.structs import replace
from tests.devnets.cosmos.stage import (
    BLOB,
    CHAIN_ID,
    FEE,
    GAS,
    RICH,
    STRANGER,
    TO,
    A,
    B,
    accepted,
    account,
    address,
    blocks,
    grant,
    pay,
    paying,
    publish,
    raw_of,
    refused,
    send,
    signed,
    standings,
    world,
)

from laneway.cosmos.blobs import CelestiaBlob
from laneway.cosmos.messages import MsgPayForBlobs
from laneway.cosmos.tx import SignedCosmosTx, packed, read, read_blob_tx
from laneway.devnets.cosmos.model import verdicts
from laneway.devnets.cosmos.model.app import CosmosRules, Delivered
from laneway.devnets.cosmos.model.chain import (
    CosmosBlock,
    CosmosModel,
    MempoolRefused,
    MempoolStanding,
    TransactionStatus,
)
from laneway.devnets.cosmos.model.ledger import BankAccount
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.devnets.cosmos.model.verdicts import OK, AppVerdict

COMMITTED, PENDING, EVICTED = (
    MempoolStanding.COMMITTED,
    MempoolStanding.PENDING,
    MempoolStanding.EVICTED,
)
REJECTED, UNKNOWN = MempoolStanding.REJECTED, MempoolStanding.UNKNOWN


def test_a_payment_waits_and_is_then_committed_and_every_coin_is_accounted_for() -> None:
    chain = world()
    made = pay(0)
    assert chain.status(0, made.hash) == TransactionStatus(UNKNOWN)
    accepted(chain, made)
    assert chain.status(0, made.hash) == TransactionStatus(PENDING)
    assert account(chain, raw_of(A)).sequence == 0, "nothing is committed yet"
    assert chain.produce(1_000) == CosmosBlock(1, (made.hash,), 1_000)
    found = chain.status(0, made.hash)
    assert (found.standing, found.verdict) == (COMMITTED, OK)
    assert found.committed is chain.committed(made.hash)
    assert found.committed is not None
    assert (found.committed.height, found.committed.index, found.committed.raw) == (1, 0, made.raw)
    assert found.committed.delivered.signers == (address(A),)
    assert account(chain, raw_of(A)) == BankAccount(0, 1, RICH - FEE - 5, A.public_key)
    assert account(chain, TO) == BankAccount(2, 0, 5)
    assert chain.nodes[0].mempool.size == 0
    assert chain.nodes[0].mempool.rejected.get(made.hash) is None


def test_many_of_one_account_stand_in_one_block_in_their_order() -> None:
    chain = world()
    made = [pay(0), pay(1), pay(2)]
    for one in made:
        accepted(chain, one)
    dear = pay(0, key=B, fee=2 * FEE)
    accepted(chain, dear)
    assert chain.produce().hashes == tuple(one.hash for one in (dear, *made))


def test_s02_a_sequence_that_is_too_high_is_valid_once_it_is_the_next() -> None:
    chain = world()
    first, second = pay(0), pay(1)
    assert refused(chain, second) == verdicts.wrong_sequence(0, 1)
    assert standings(chain, second) == [REJECTED]
    accepted(chain, first)
    accepted(chain, second)
    chain.produce()
    assert standings(chain, first, second) == [COMMITTED, COMMITTED]


def test_s03_a_sequence_that_is_spent_is_too_low() -> None:
    chain = world()
    accepted(chain, pay(0))
    other = pay(0, amount=6)
    assert refused(chain, other) == verdicts.wrong_sequence(1, 0)
    chain.produce()
    assert refused(chain, other) == verdicts.wrong_sequence(1, 0)


def test_s04_a_duplicate_is_refused_while_it_waits() -> None:
    chain = world()
    made = pay(0)
    accepted(chain, made)
    with pytest.raises(MempoolRefused, match="tx already exists in mempool"):
        chain.broadcast(0, made.raw)
    assert standings(chain, made) == [PENDING]
    chain.produce()
    assert refused(chain, made) == verdicts.wrong_sequence(1, 0)
    assert standings(chain, made) == [COMMITTED], "what is committed stays so"


def test_s05_age_evicts_the_whole_set_and_it_comes_back_in_order_alone() -> None:
    chain = world(MempoolRules(ttl_blocks=2))
    made = [pay(0), pay(1), pay(2)]
    for one in made:
        accepted(chain, one)
    blocks(chain, 2)
    assert standings(chain, *made) == [PENDING] * 3
    blocks(chain, 1)
    assert standings(chain, *made) == [EVICTED] * 3
    assert refused(chain, pay(3)) == verdicts.wrong_sequence(0, 3)
    assert refused(chain, made[2]) == verdicts.wrong_sequence(0, 2)
    for one in made:
        accepted(chain, one)
    assert standings(chain, *made) == [PENDING] * 3
    chain.produce()
    assert standings(chain, *made) == [COMMITTED] * 3


def test_s06_a_full_mempool_refuses_what_it_has_already_counted() -> None:
    others = [pay(0, key=B), pay(1, key=B), pay(2, key=B)]
    size = sum(len(one.raw) for one in others)
    chain = world(MempoolRules(bytes_max=size))
    for one in others:
        accepted(chain, one)
    ours = pay(0)
    with pytest.raises(MempoolRefused, match=rf"mempool is full .*Size: \(3:{size}\)$"):
        chain.broadcast(0, ours.raw)
    assert standings(chain, ours) == [EVICTED]
    assert refused(chain, ours) == verdicts.wrong_sequence(1, 0)
    assert standings(chain, ours) == [EVICTED]
    chain.produce()
    accepted(chain, ours)
    assert standings(chain, ours) == [PENDING]


def crowded() -> tuple[CosmosModel, list[SignedCosmosTx], SignedCosmosTx]:
    """A mempool that has dropped the third of a cheap signer for one that pays more."""
    cheap = [pay(0), pay(1), pay(2, memo="x" * 250)]
    dear = pay(0, key=B, fee=2 * FEE)
    chain = world(MempoolRules(bytes_max=sum(len(one.raw) for one in cheap) + 200))
    for one in cheap:
        accepted(chain, one)
    accepted(chain, dear)
    return chain, cheap, dear


def test_s07_after_an_eviction_the_node_takes_a_gap_and_finds_it_at_the_recheck() -> None:
    chain, cheap, dear = crowded()
    assert standings(chain, *cheap, dear) == [PENDING, PENDING, EVICTED, PENDING]
    behind = pay(3)
    accepted(chain, behind)
    assert standings(chain, behind) == [PENDING]
    assert chain.produce().hashes == (dear.hash, cheap[0].hash, cheap[1].hash)
    assert chain.status(0, behind.hash) == TransactionStatus(
        REJECTED, verdicts.wrong_sequence(2, 3)
    )


def test_s19_what_was_evicted_is_taken_again_after_the_next_block() -> None:
    chain, cheap, _ = crowded()
    assert refused(chain, cheap[2]) == verdicts.wrong_sequence(3, 2)
    assert standings(chain, cheap[2]) == [EVICTED]
    chain.produce()
    accepted(chain, cheap[2])
    chain.produce()
    assert standings(chain, *cheap) == [COMMITTED] * 3


def late_second() -> tuple[CosmosModel, list[SignedCosmosTx]]:
    """Four of one account, of which the second had to be in block 2 and is not."""
    chain = world()
    made = [pay(0), pay(1, timeout=2), pay(2), pay(3)]
    for one in made:
        accepted(chain, one)
    blocks(chain, 3)
    return chain, made


def test_s08_a_timeout_takes_the_tail_with_it() -> None:
    chain, made = late_second()
    assert [chain.status(0, one.hash) for one in made] == [
        TransactionStatus(PENDING),
        TransactionStatus(REJECTED, verdicts.timed_out(3, 2)),
        TransactionStatus(REJECTED, verdicts.wrong_sequence(1, 2)),
        TransactionStatus(REJECTED, verdicts.wrong_sequence(1, 3)),
    ]
    assert refused(chain, made[1]) == verdicts.timed_out(3, 2)


def test_s20_the_old_bytes_of_a_casualty_are_valid_again_once_the_gap_is_filled() -> None:
    chain, made = late_second()
    filler = pay(1, amount=6)
    accepted(chain, filler)
    accepted(chain, made[2])
    assert standings(chain, made[0], filler, made[2]) == [PENDING] * 3
    chain.produce()
    assert standings(chain, made[0], filler, made[2]) == [COMMITTED] * 3
    assert standings(chain, made[1], made[3]) == [REJECTED, REJECTED]


def test_one_whose_last_block_is_the_newest_is_let_in_and_never_proposed() -> None:
    chain = world()
    blocks(chain, 2)
    made = pay(0, timeout=2)
    accepted(chain, made)
    assert chain.produce().hashes == ()
    assert chain.status(0, made.hash) == TransactionStatus(REJECTED, verdicts.timed_out(3, 2))


def old(chain: CosmosModel, *made: SignedCosmosTx) -> None:
    """Let these wait until they are evicted."""
    for one in made:
        accepted(chain, one)
    blocks(chain, chain.nodes[0].mempool.rules.ttl_blocks + 1)
    assert standings(chain, *made) == [EVICTED] * len(made)


def test_s09_a_timeout_after_an_eviction_is_masked() -> None:
    chain = world(MempoolRules(ttl_blocks=1))
    made = pay(0, timeout=1)
    old(chain, made)
    assert refused(chain, made) == verdicts.timed_out(2, 1)
    assert chain.status(0, made.hash) == TransactionStatus(EVICTED)


def test_s12_a_fee_that_is_too_low_after_an_eviction_is_masked() -> None:
    chain = world(MempoolRules(ttl_blocks=1))
    made = pay(0)
    old(chain, made)
    chain.app.price_micro *= 2
    assert refused(chain, made) == verdicts.fee_too_low("400utia", "800utia")
    assert chain.status(0, made.hash) == TransactionStatus(EVICTED)
    chain.app.price_micro //= 2
    accepted(chain, made)
    chain.produce()
    assert standings(chain, made) == [COMMITTED]


def test_s13_another_with_the_same_sequence_leaves_ours_evicted_for_ever() -> None:
    chain = world(MempoolRules(ttl_blocks=1))
    ours, theirs = pay(0), pay(0, amount=6)
    old(chain, ours)
    accepted(chain, theirs)
    chain.produce()
    assert refused(chain, ours) == verdicts.wrong_sequence(1, 0)
    blocks(chain, 5)
    assert standings(chain, ours, theirs) == [EVICTED, COMMITTED]


def test_s10_the_first_rejection_is_the_one_that_is_told() -> None:
    chain = world()
    first, second = pay(0), pay(1, timeout=1)
    assert refused(chain, second) == verdicts.wrong_sequence(0, 1)
    accepted(chain, first)
    accepted(chain, second)
    assert standings(chain, second) == [PENDING]
    blocks(chain, 2)
    assert chain.status(0, second.hash) == TransactionStatus(
        REJECTED, verdicts.wrong_sequence(0, 1)
    )
    assert refused(chain, second) == verdicts.timed_out(2, 1)


def test_s14_what_is_too_large_leaves_no_trace() -> None:
    made = pay(0)
    size = len(made.raw)
    chain = world(MempoolRules(tx_bytes_max=size - 1))
    with pytest.raises(
        MempoolRefused, match=f"^Tx too large. Max size is {size - 1}, but got {size}"
    ):
        chain.broadcast(0, made.raw)
    assert standings(chain, made) == [UNKNOWN]
    accepted(world(MempoolRules(tx_bytes_max=size)), made)


def test_s14_what_cannot_be_read_is_rejected_and_costs_no_sequence() -> None:
    chain = world()
    hash_, verdict = chain.broadcast(0, b"nonsense")
    assert (hash_, verdict) == (hashlib.sha256(b"nonsense").digest(), verdicts.PARSE)
    assert chain.status(0, hash_) == TransactionStatus(REJECTED, verdicts.PARSE)
    accepted(chain, pay(0))


def test_s15_a_restart_forgets_what_waits_and_the_same_bytes_come_back_in_order() -> None:
    chain = world()
    done, waiting = pay(0), [pay(1), pay(2)]
    accepted(chain, done)
    chain.produce()
    for one in waiting:
        accepted(chain, one)
    assert refused(chain, pay(7)).code == 32
    chain.stop(0)
    chain.restart(0)
    assert standings(chain, done, *waiting, pay(7)) == [COMMITTED, UNKNOWN, UNKNOWN, UNKNOWN]
    assert refused(chain, waiting[1]) == verdicts.wrong_sequence(1, 2)
    for one in waiting:
        accepted(chain, one)
    chain.produce()
    assert standings(chain, *waiting) == [COMMITTED, COMMITTED]


def test_s16_an_execution_that_fails_takes_the_fee_and_the_sequence() -> None:
    chain = world()
    made, after = pay(0, amount=RICH), pay(1)
    accepted(chain, made)
    accepted(chain, after)
    chain.produce()
    found = chain.status(0, made.hash)
    assert (found.standing, found.verdict.code, found.verdict.codespace) == (COMMITTED, 5, "sdk")
    problem = f"{RICH - FEE}utia is smaller than {RICH}utia: insufficient funds"
    assert found.verdict.log.endswith(problem)
    assert standings(chain, after) == [COMMITTED]
    assert account(chain, raw_of(A)) == BankAccount(0, 2, RICH - 2 * FEE - 5, A.public_key)


def test_one_that_cannot_pay_after_the_messages_before_it_is_left_out() -> None:
    chain = world()
    spends, broke = pay(0, amount=RICH - FEE), pay(1)
    accepted(chain, spends)
    accepted(chain, broke)
    assert chain.produce().hashes == (spends.hash,)
    assert chain.status(0, broke.hash) == TransactionStatus(
        REJECTED, verdicts.no_funds("0utia", "400utia")
    )


def test_s17_one_with_blobs_is_named_by_what_is_inside() -> None:
    chain = world()
    made = publish(0, BLOB, replace(BLOB, data=b"x" * 2_000))
    inner = read_blob_tx(made.raw)
    assert inner is not None
    assert accepted(chain, made) == hashlib.sha256(inner.tx).digest()
    chain.produce()
    assert standings(chain, made) == [COMMITTED]
    found = chain.committed(made.hash)
    assert found is not None
    assert found.raw == made.raw
    assert chain.status(0, hashlib.sha256(made.raw).digest()).standing is UNKNOWN


VALIDATOR, FULL_NODE = 0, 1


def test_s18_what_one_node_evicted_another_commits() -> None:
    chain = world(MempoolRules(ttl_blocks=0), MempoolRules(ttl_blocks=1))
    made = [pay(0), pay(1)]
    for one in made:
        accepted(chain, one, FULL_NODE)
    blocks(chain, 2)
    assert standings(chain, *made, node=FULL_NODE) == [EVICTED, EVICTED]
    assert standings(chain, *made, node=VALIDATOR) == [PENDING, PENDING]
    chain.produce(proposer=VALIDATOR)
    assert standings(chain, *made, node=FULL_NODE) == [COMMITTED, COMMITTED]
    assert refused(chain, made[0], FULL_NODE) == verdicts.wrong_sequence(2, 0)
    accepted(chain, pay(2), FULL_NODE)


def test_a_node_tells_the_others_what_it_let_in_and_nothing_else() -> None:
    chain = world(MempoolRules(), MempoolRules())
    good, bad = pay(0), pay(5)
    accepted(chain, good, FULL_NODE)
    assert standings(chain, good, node=VALIDATOR) == [PENDING]
    refused(chain, bad, FULL_NODE)
    assert standings(chain, bad, node=VALIDATOR) == [UNKNOWN]
    assert standings(chain, bad, node=FULL_NODE) == [REJECTED]


def test_what_another_node_does_not_take_is_still_taken_here() -> None:
    made = pay(0)
    chain = world(MempoolRules(), MempoolRules(tx_bytes_max=len(made.raw) - 1))
    accepted(chain, made)
    assert standings(chain, made, node=1) == [UNKNOWN]
    assert chain.produce(proposer=1).hashes == (), "it proposes what it holds"
    assert chain.produce(proposer=0).hashes == (made.hash,)


@pytest.mark.parametrize("cut_off", [0, 1])
def test_a_node_that_is_cut_off_tells_nobody_and_is_told_nothing(cut_off: int) -> None:
    chain = world(MempoolRules(), MempoolRules())
    chain.nodes[cut_off].is_cut_off = True
    made = pay(0)
    accepted(chain, made, 0)
    assert standings(chain, made, node=1) == [UNKNOWN]


def test_a_node_that_is_down_hears_nothing_until_it_is_back() -> None:
    chain = world(MempoolRules(), MempoolRules())
    first, second = pay(0), pay(1)
    accepted(chain, first)
    chain.stop(1)
    accepted(chain, second)
    chain.produce()
    assert list(chain.nodes[1].mempool.in_order()) == [chain.nodes[1].mempool.get(first.hash)]
    chain.restart(1)
    assert standings(chain, first, second, node=1) == [COMMITTED, COMMITTED], "it keeps its blocks"
    accepted(chain, pay(2), 1)


def test_one_may_be_evicted_by_hand() -> None:
    chain = world()
    made = pay(0)
    assert not chain.evict(0, made.hash)
    accepted(chain, made)
    assert chain.evict(0, made.hash)
    assert standings(chain, made) == [EVICTED]
    assert refused(chain, made) == verdicts.wrong_sequence(1, 0), "until the next block"
    blocks(chain, 1)
    accepted(chain, made)


WRONG_COMMITMENT = replace(paying(A, [BLOB]), share_commitments=(bytes(32),))


@pytest.mark.parametrize(
    ("made", "verdict"),
    [
        (pay(0, chain_id="other"), verdicts.not_signed(0, 0, CHAIN_ID)),
        (pay(0, number=1), verdicts.not_signed(0, 0, CHAIN_ID)),
        (pay(0, fee=FEE - 1), verdicts.fee_too_low("399utia", "400utia")),
        (pay(0, fee=RICH + 1), verdicts.no_funds(f"{RICH}utia", f"{RICH + 1}utia")),
        (pay(0, key=STRANGER), verdicts.no_account(address(STRANGER))),
        (pay(0, granter=address(B)), verdicts.no_grant(address(B), address(A))),
        (
            signed(0, [packed(WRONG_COMMITMENT, MsgPayForBlobs.url)], [BLOB]),
            verdicts.bad_blob(11_116, "invalid commitment for create share"),
        ),
    ],
)
def test_a_bad_one_is_rejected_and_the_sequence_is_free(
    made: SignedCosmosTx, verdict: AppVerdict
) -> None:
    chain = world()
    assert refused(chain, made) == verdict
    assert chain.status(0, made.hash) == TransactionStatus(REJECTED, verdict)
    accepted(chain, pay(0))


def test_one_with_too_little_gas_for_its_blobs_is_rejected() -> None:
    chain = world()
    large = CelestiaBlob(BLOB.namespace, b"x" * 10_000)
    verdict = refused(chain, publish(0, large))
    assert (verdict.code, verdict.codespace) == (11, "sdk")
    accepted(chain, publish(0, large, gas=2 * GAS, fee=2 * FEE))


def test_a_grant_lets_a_new_account_send_at_anothers_cost() -> None:
    chain = world()
    accepted(chain, signed(0, [grant(A, raw_of(STRANGER), FEE), send(A, raw_of(STRANGER), 5)]))
    chain.produce()
    assert account(chain, raw_of(STRANGER)) == BankAccount(2, 0, 5)
    sponsored = pay(0, key=STRANGER, granter=address(A))
    accepted(chain, sponsored)
    assert refused(chain, pay(1, key=STRANGER, granter=address(A))) == verdicts.GRANT_SPENT
    chain.produce()
    assert standings(chain, sponsored) == [COMMITTED]
    assert account(chain, raw_of(STRANGER)) == BankAccount(2, 1, 0, STRANGER.public_key)
    assert account(chain, raw_of(A)).balance == RICH - 2 * FEE - 5


def test_a_trial_tells_the_gas_on_the_state_of_this_node_and_changes_nothing() -> None:
    chain = world()
    made = pay(0, gas=0, fee=0)
    done = chain.simulate(0, made.raw)
    assert isinstance(done, Delivered)
    assert (done.verdict, done.gas_used) == (OK, 65_000 + 10 * len(made.raw))
    assert chain.simulate(0, made.raw) == done
    accepted(chain, pay(0))
    assert chain.simulate(0, made.raw) == verdicts.wrong_sequence(1, 0)
    assert chain.simulate(0, b"nonsense") == verdicts.PARSE
    broke = chain.simulate(0, pay(1, amount=RICH).raw)
    assert isinstance(broke, Delivered)
    assert broke.verdict.code == 5
    assert account(chain, raw_of(A)) == BankAccount(0, 0, RICH)


def test_what_does_not_fit_into_a_block_waits_for_the_next() -> None:
    first, second, other = pay(0), pay(1), pay(0, key=B)
    chain = world(rules=CosmosRules(block_bytes_max=len(first.raw) + len(other.raw)))
    for one in (first, second, other):
        accepted(chain, one)
    assert chain.produce().hashes == (first.hash, other.hash)
    assert standings(chain, second) == [PENDING]
    assert chain.produce().hashes == (second.hash,)


def test_a_block_takes_so_many_with_blobs_and_others_still() -> None:
    chain = world(rules=CosmosRules(blob_txs_max=2))
    made = [publish(0), publish(1), publish(2), pay(3)]
    plain = pay(0, key=B)
    for one in (*made, plain):
        accepted(chain, one)
    assert chain.produce().hashes == (made[0].hash, made[1].hash, plain.hash)
    assert chain.produce().hashes == (made[2].hash, made[3].hash)


def test_a_chain_that_keeps_no_blobs_forgets_them_with_their_block() -> None:
    made, plain = publish(0), pay(1)
    for keeps in (True, False):
        chain = world(rules=CosmosRules(keeps_blobs=keeps))
        accepted(chain, made)
        accepted(chain, plain)
        assert chain.produce().hashes == (made.hash, plain.hash)
        found, other = chain.committed(made.hash), chain.committed(plain.hash)
        assert found is not None
        assert other is not None
        inner = read_blob_tx(made.raw)
        assert inner is not None
        assert found.raw == (made.raw if keeps else inner.tx)
        assert bool(found.tx.blobs) is keeps
        assert found.delivered.gas_used == chain.app.gas_used(read(made.raw), len(made.raw))
        assert other.raw == plain.raw


def test_a_node_that_is_down_proposes_nothing() -> None:
    chain = world(MempoolRules(), MempoolRules())
    chain.nodes[0].is_cut_off = True
    mine, theirs = pay(0), pay(0, key=B)
    accepted(chain, mine)
    accepted(chain, theirs, 1)
    chain.stop(0)
    assert chain.produce().hashes == (theirs.hash,), "whoever is up proposes"
    chain.stop(1)
    assert chain.produce().hashes == ()
    chain.restart(0)
    assert chain.nodes[0].is_cut_off, "a restart mends no wire"


def test_who_used_a_number_is_known_from_its_block_on() -> None:
    chain, made = world(), pay(0)
    accepted(chain, made)
    assert chain.used_by(address(A), 0) is None
    chain.produce()
    used = chain.used_by(address(A), 0)
    assert used is not None
    assert used.tx.hash == made.hash
    assert chain.used_by(address(A), 1) is None


def test_what_fails_before_its_number_is_taken_is_in_a_block_and_used_nothing() -> None:
    chain = world()
    made = [pay(0), pay(1)]
    for one in made:
        accepted(chain, one)
    chain.app.ante_fails[made[0].hash] = verdicts.no_funds("0utia", "1utia")
    assert chain.produce().hashes == (made[0].hash,)
    found = chain.committed(made[0].hash)
    assert found is not None
    assert (found.is_used, found.delivered.verdict.code, found.delivered.gas_used) == (False, 5, 0)
    assert chain.used_by(address(A), 0) is None
    seen = account(chain, raw_of(A))
    assert (seen.sequence, seen.balance) == (0, RICH)
    # The same bytes are good for as long as their number is free.
    accepted(chain, made[0])
    chain.produce()
    again = chain.committed(made[0].hash)
    assert again is not None
    assert again.is_used
