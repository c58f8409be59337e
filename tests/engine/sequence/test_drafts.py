"""A draft says what the caller said, and fills in what the chain's rules leave open."""

import pytest
from tests.engine.sequence.stage import HEIGHT, NAMESPACE, Stage, order, payment, publication

from laneway.cosmos.blobs import CelestiaBlob, blob_gas, commitment
from laneway.cosmos.errors import InvalidCosmos
from laneway.cosmos.messages import Coin, MsgPayForBlobs, MsgSend, TxBody
from laneway.cosmos.protobuf import decode
from laneway.engine.performers import Parked
from laneway.engine.sequence.drafts import (
    FILLER_GAS,
    Expired,
    SequenceDraft,
    draft,
    paid,
    request_of,
    terms_of,
)
from laneway.lanes.sequence.rows import Purpose
from laneway.ports import CosmosBlob, CosmosRequest


def drafted(request: CosmosRequest, stage: Stage | None = None) -> SequenceDraft:
    return draft(request, (stage or Stage()).account, HEIGHT)


def body(one: SequenceDraft) -> TxBody:
    return decode(TxBody, one.body)


def test_an_intents_words_are_its_callers() -> None:
    asked = payment(9, gas=1, memo="rent", trace="00-aa-bb-01")
    assert request_of(order(asked), Stage().account) == asked


def test_a_filler_sends_one_coin_to_itself() -> None:
    account = Stage().account
    filler = request_of(order(purpose=Purpose.FILLER), account)
    ((url, value),) = filler.messages
    assert url == MsgSend.url
    own = account.address
    assert decode(MsgSend, value) == MsgSend(own, own, (Coin("utia", "1"),))
    assert filler.gas == FILLER_GAS


def test_messages_stand_in_the_body_as_they_came() -> None:
    request = payment(9, memo="rent", gas=80_000, fee=700, price_micro=3, granter="celestia1rich")
    one = drafted(request)
    assert [(found.type_url, found.value) for found in body(one).messages] == [*request.messages]
    assert (body(one).memo, body(one).timeout_height) == ("rent", HEIGHT + 30)
    assert one.timeout_height == HEIGHT + 30
    assert (one.gas, one.fee, one.price_micro) == (80_000, 700, 3)
    assert (one.granter, one.blobs) == ("celestia1rich", ())


def test_who_pays_is_the_callers_word_or_the_accounts() -> None:
    stage = Stage(granter="celestia1boss")
    assert drafted(payment(), stage).granter == "celestia1boss"
    assert drafted(payment(granter="celestia1rich"), stage).granter == "celestia1rich"


def test_a_callers_last_block_is_kept_or_is_over() -> None:
    assert drafted(payment(timeout_height=HEIGHT + 1)).timeout_height == HEIGHT + 1
    for over in (HEIGHT, HEIGHT - 1, 0):
        with pytest.raises(Expired):
            drafted(payment(timeout_height=over))


def test_a_callers_last_block_makes_no_bytes_valid_for_longer_than_the_lane_waits() -> None:
    """Those behind them wait for their end."""
    for last in (HEIGHT + 31, HEIGHT + 500, (1 << 53) - 1):
        one = drafted(payment(timeout_height=last))
        assert (one.timeout_height, body(one).timeout_height) == (HEIGHT + 30, HEIGHT + 30)


def test_blobs_are_paid_for_by_their_commitments() -> None:
    stage = Stage()
    blobs = (CosmosBlob(NAMESPACE, b"one"), CosmosBlob(NAMESPACE, b"second" * 200))
    one = drafted(CosmosRequest(blobs=blobs), stage)
    (message,) = body(one).messages
    assert message.type_url == MsgPayForBlobs.url
    assert decode(MsgPayForBlobs, message.value) == MsgPayForBlobs(
        stage.account.address,
        (NAMESPACE, NAMESPACE),
        (3, 1_200),
        tuple(commitment(CelestiaBlob(NAMESPACE, blob.data)) for blob in blobs),
        (0, 0),
    )
    assert [blob.data for blob in one.blobs] == [b"one", b"second" * 200]
    assert one.gas == blob_gas([CelestiaBlob(NAMESPACE, blob.data) for blob in blobs])


def test_a_blob_may_name_who_pays_for_it() -> None:
    stage = Stage()
    (blob,) = drafted(publication(share_version=1), stage).blobs
    assert (blob.share_version, blob.signer) == (1, stage.account.raw_address)


def test_a_callers_gas_stands_before_the_formula() -> None:
    assert drafted(publication(gas=5)).gas == 5


def test_what_no_formula_knows_is_left_to_a_simulation() -> None:
    assert drafted(payment()).gas is None
    mixed = CosmosRequest(messages=payment().messages, blobs=publication().blobs)
    one = drafted(mixed)
    assert one.gas is None
    assert [found.type_url for found in body(one).messages] == [MsgSend.url, MsgPayForBlobs.url]


@pytest.mark.parametrize(
    "request_",
    [
        CosmosRequest(),
        payment(memo="x" * 300),
        CosmosRequest(blobs=(CosmosBlob(NAMESPACE, b""),)),
        CosmosRequest(blobs=(CosmosBlob(b"short", b"data"),)),
        CosmosRequest(blobs=(CosmosBlob(NAMESPACE, b"data", 9),)),
    ],
)
def test_what_can_be_no_transaction_is_told(request_: CosmosRequest) -> None:
    with pytest.raises(InvalidCosmos):
        drafted(request_)


# Terms.


def test_a_fee_is_the_callers_or_gas_at_his_price_or_the_chains() -> None:
    account = Stage().account
    asked = order()

    def fee(request: CosmosRequest) -> int:
        return paid(terms_of(drafted(request), asked, account, 100_001, 4_000))

    assert fee(payment(fee=9)) == 9
    assert fee(payment(price_micro=10_000)) == 1_001, "a node takes nothing below its price"
    assert fee(payment(price_micro=0)) == 0
    assert fee(payment()) == 401
    assert fee(payment(fee=0)) == 0


def test_terms_name_chain_account_sequence_and_payer() -> None:
    stage = Stage(granter="celestia1boss")
    terms = terms_of(drafted(payment(), stage), order(sequence=12), stage.account, 80_000, 4_000)
    assert (terms.chain_id, terms.account_number, terms.sequence) == ("stage-1", 7, 12)
    assert (terms.fee.gas_limit, terms.fee.granter) == (80_000, "celestia1boss")
    assert terms.fee.amount == (Coin("utia", "320"),)


def test_more_than_the_cap_is_parked() -> None:
    account = Stage(fee_max=400).account
    assert paid(terms_of(drafted(payment()), order(), account, 100_000, 4_000)) == 400
    with pytest.raises(Parked):
        terms_of(drafted(payment()), order(), account, 100_001, 4_000)
    with pytest.raises(Parked):
        terms_of(drafted(payment(fee=401)), order(), account, 1, 0)
