"""Laws of the application: what is refused before a transaction, and what its messages do."""

import pytest
from msgspec.structs import replace
from tests.devnets.cosmos.stage import (
    BLOB,
    CHAIN_ID,
    DENOM,
    FEE,
    GAS,
    PREFIX,
    RICH,
    STRANGER,
    TO,
    A,
    B,
    address,
    grant,
    pay,
    paying,
    publish,
    raw_of,
    reads,
    resigned,
    send,
    shown,
    signed,
)

from laneway.cosmos import bech32
from laneway.cosmos.blobs import CelestiaBlob, commitment, namespace_of
from laneway.cosmos.errors import MalformedAddress
from laneway.cosmos.messages import (
    Any,
    AuthInfo,
    Coin,
    MsgGrantAllowance,
    MsgPayForBlobs,
    MsgSend,
    SignerInfo,
)
from laneway.cosmos.tx import Read, SignedCosmosTx, packed
from laneway.devnets.cosmos.model import verdicts
from laneway.devnets.cosmos.model.app import (
    App,
    CosmosRules,
    Mode,
    amount_of,
    blob_verdict,
    gas_wanted,
    understood,
)
from laneway.devnets.cosmos.model.ledger import BankAccount, Grant, Ledger
from laneway.devnets.cosmos.model.verdicts import OK, AppVerdict

HEIGHT = 9
RECORDED = CosmosRules(
    checks_signatures=False,
    opens_accounts=True,
    gas_used=64_321,
    shows_address=False,
    checks_messages=False,
)
NOOP = Any("/test.v1.MsgNoop", b"")


def ledger(balance: int = RICH) -> Ledger:
    """Of the first account, which pays; the second is rich."""
    made = Ledger()
    made.change(raw_of(A), balance=balance)
    made.change(raw_of(B), balance=RICH)
    return made


def ante(
    made: SignedCosmosTx,
    state: Ledger | None = None,
    *,
    mode: Mode = Mode.CHECK,
    app: App | None = None,
) -> AppVerdict:
    judge = app or App(CosmosRules())
    return judge.ante(state or ledger(), reads(made), len(made.raw), HEIGHT, mode)


def executed(state: Ledger, *messages: Any, app: App | None = None) -> AppVerdict:
    made = signed(0, messages)
    return (app or App(CosmosRules())).deliver(state, reads(made), len(made.raw)).verdict


def test_a_good_one_pays_its_fee_and_takes_its_sequence() -> None:
    state = ledger()
    assert ante(pay(0), state) is OK
    assert state.account(raw_of(A)) == BankAccount(0, 1, RICH - FEE, A.public_key)
    assert ante(pay(1), state) is OK


@pytest.mark.parametrize("mode", list(Mode))
def test_the_sequence_must_be_the_next_whatever_for(mode: Mode) -> None:
    state = ledger()
    assert ante(pay(1), state, mode=mode) == verdicts.wrong_sequence(0, 1)
    assert state.account(raw_of(A)) == BankAccount(0, 0, RICH), "the fee was not taken either"


@pytest.mark.parametrize("mode", [Mode.CHECK, Mode.DELIVER])
@pytest.mark.parametrize("made", [pay(0, chain_id="other"), pay(0, number=5)])
def test_a_signature_for_another_chain_or_account_is_none(mode: Mode, made: SignedCosmosTx) -> None:
    assert ante(made, mode=mode) == verdicts.not_signed(0, 0, CHAIN_ID)


@pytest.mark.parametrize("mode", [Mode.RECHECK, Mode.SIMULATE])
def test_a_signature_is_not_looked_at_again_nor_for_a_trial(mode: Mode) -> None:
    assert ante(pay(0, chain_id="other"), mode=mode) is OK


def test_a_wrong_sequence_is_told_before_a_wrong_signature() -> None:
    assert ante(pay(3, chain_id="other")).code == 32


def test_signatures_may_be_left_unchecked() -> None:
    assert ante(pay(0, chain_id="other"), app=App(CosmosRules(checks_signatures=False))) is OK


def test_its_last_block_is_the_timeout() -> None:
    assert ante(pay(0, timeout=HEIGHT)) is OK
    assert ante(pay(0, timeout=HEIGHT - 1)) == verdicts.timed_out(HEIGHT, HEIGHT - 1)


@pytest.mark.parametrize("mode", [Mode.CHECK, Mode.RECHECK])
def test_a_node_takes_no_fee_below_its_price(mode: Mode) -> None:
    low = verdicts.fee_too_low(f"{FEE - 1}utia", f"{FEE}utia")
    assert ante(pay(0, fee=FEE - 1), mode=mode) == low
    assert ante(pay(0, gas=GAS + 1), mode=mode).code == 13, "a part of a coin is a whole one"


@pytest.mark.parametrize("mode", [Mode.DELIVER, Mode.SIMULATE])
def test_the_price_is_a_nodes_own_and_no_rule_of_blocks(mode: Mode) -> None:
    assert ante(pay(0, fee=0), mode=mode) is OK


def test_the_price_can_be_raised() -> None:
    app = App(CosmosRules())
    app.price_micro = 8_000
    assert ante(pay(0), app=app) == verdicts.fee_too_low("400utia", "800utia")


def test_nobody_pays_a_fee_that_he_does_not_have() -> None:
    short = verdicts.no_funds(f"{FEE - 1}utia", f"{FEE}utia")
    assert ante(pay(0), ledger(FEE - 1)) == short
    assert ante(pay(0), ledger(FEE)) is OK


def test_who_has_no_account_does_not_send() -> None:
    assert ante(pay(0, key=STRANGER)) == verdicts.no_account(address(STRANGER))


def test_a_recorded_application_opened_accounts_and_took_no_money() -> None:
    state = Ledger()
    assert ante(pay(0, gas=10, fee=1), state, app=App(RECORDED)) is OK
    assert state.account(raw_of(A)) == BankAccount(0, 1, 0, A.public_key)


def test_gas_must_reach_for_what_is_used_except_in_a_trial() -> None:
    poor = pay(0, gas=60_000)
    used = 65_000 + 10 * len(poor.raw)
    assert ante(poor) == verdicts.out_of_gas(60_000, used)
    assert ante(poor, mode=Mode.SIMULATE) is OK
    assert ante(pay(0, gas=used)) is OK
    assert ante(pay(0, gas=used - 1)).code == 11


def test_without_a_fee_there_is_no_gas() -> None:
    made = pay(0)
    bare = resigned(made, replace(reads(made).auth, fee=None))
    assert gas_wanted(reads(bare)) == 0
    assert ante(bare).code == 11


def test_without_a_fee_nothing_is_paid() -> None:
    state, made = ledger(), pay(0)
    bare = resigned(made, replace(reads(made).auth, fee=None))
    assert ante(bare, state, mode=Mode.RECHECK, app=App(CosmosRules(gas_used=1))) is OK
    assert state.account(raw_of(A)) == BankAccount(0, 1, RICH, A.public_key)


def test_another_pays_whose_grant_it_is() -> None:
    state = ledger()
    state.allow(raw_of(B), raw_of(A), Grant())
    assert ante(pay(0, granter=address(B)), state) is OK
    payer, signer = state.account(raw_of(B)), state.account(raw_of(A))
    assert payer == BankAccount(1, 0, RICH - FEE)
    assert signer == BankAccount(0, 1, RICH, A.public_key)
    assert state.grant(raw_of(B), raw_of(A)) == Grant()


def test_a_grant_is_spent_to_its_last_coin() -> None:
    state = ledger()
    state.allow(raw_of(B), raw_of(A), Grant(FEE + 1))
    assert ante(pay(0, granter=address(B)), state) is OK
    assert state.grant(raw_of(B), raw_of(A)) == Grant(1)
    assert ante(pay(1, granter=address(B)), state) == verdicts.GRANT_SPENT
    assert state.grant(raw_of(B), raw_of(A)) == Grant(1)
    state.allow(raw_of(B), raw_of(A), Grant(FEE))
    assert ante(pay(1, granter=address(B)), state) is OK
    assert state.grant(raw_of(B), raw_of(A)) == Grant(0)


def test_nobody_pays_for_another_unasked() -> None:
    refusal = verdicts.no_grant(address(B), address(A))
    assert ante(pay(0, granter=address(B))) == refusal


def test_a_grantee_needs_an_account_of_his_own() -> None:
    state = ledger()
    state.allow(raw_of(A), raw_of(STRANGER), Grant())
    made = pay(0, key=STRANGER, granter=address(A))
    assert ante(made, state) == verdicts.no_account(address(STRANGER))
    assert state.account(raw_of(A)) == BankAccount(0, 0, RICH)


def test_a_granter_that_is_no_address_is_no_transaction() -> None:
    assert ante(pay(0, granter="nobody")) == verdicts.PARSE


def test_a_payment_moves_coins_and_opens_the_account_of_its_receiver() -> None:
    state = ledger()
    assert executed(state, send(A, amount=7)) is OK
    assert state.account(raw_of(A)) == BankAccount(0, 0, RICH - 7)
    assert state.account(TO) == BankAccount(2, 0, 7)
    assert executed(state, send(A, raw_of(B), 1)) is OK
    assert state.account(raw_of(B)) == BankAccount(1, 0, RICH + 1)


def test_all_that_one_has_can_be_paid() -> None:
    state = ledger(7)
    assert executed(state, send(A, amount=7)) is OK
    assert state.account(raw_of(A)) == BankAccount(0, 0, 0)


def test_a_payment_to_oneself_changes_nothing() -> None:
    state = ledger()
    assert executed(state, send(A, raw_of(A), 7)) is OK
    assert state.account(raw_of(A)) == BankAccount(0, 0, RICH)


def test_who_pays_more_than_he_has_is_told_which_message_it_was() -> None:
    state = ledger(9)
    verdict = executed(state, send(A, amount=5), send(A, amount=5))
    begin = "failed to execute message; message index: 1: spendable balance"
    log = f"{begin} 4utia is smaller than 5utia: insufficient funds"
    assert verdict == AppVerdict(5, log, "sdk")
    assert state.account(raw_of(A)) == BankAccount(0, 0, 9), "all of its messages or none"
    assert state.account(TO) is None


def test_nobody_pays_or_grants_from_an_account_that_did_not_sign() -> None:
    state = ledger()
    for message in (send(B), grant(B, raw_of(A))):
        assert ante(signed(0, [message]), state).code == 4
    assert ante(with_fee(pay(0), payer=address(B)), state).code == 4
    assert state.account(raw_of(B)) == BankAccount(1, 0, RICH)
    assert state.grant(raw_of(B), raw_of(A)) is None


def test_a_grant_opens_the_account_of_its_grantee() -> None:
    state = ledger()
    assert executed(state, grant(A, TO)) is OK
    assert (state.grant(raw_of(A), TO), state.account(TO)) == (Grant(), BankAccount(2))
    assert executed(state, grant(A, raw_of(B), 70)) is OK
    assert state.grant(raw_of(A), raw_of(B)) == Grant(70)
    assert state.account(raw_of(B)) == BankAccount(1, 0, RICH)


def test_only_a_basic_allowance_is_known() -> None:
    periodic = Any("/cosmos.feegrant.v1beta1.PeriodicAllowance", b"")
    for allowance in (periodic, None):
        message = MsgGrantAllowance(address(A), address(B), allowance)
        assert ante(signed(0, [packed(message, MsgGrantAllowance.url)]), ledger()).code == 2


def test_paying_for_blobs_moves_nothing_but_the_fee() -> None:
    state = ledger()
    assert executed(state, packed(paying(A, [BLOB]), MsgPayForBlobs.url)) is OK
    assert state.account(raw_of(A)) == BankAccount(0, 0, RICH)


def with_fee(made: SignedCosmosTx, *coins: Coin, payer: str = "") -> SignedCosmosTx:
    fee = reads(made).auth.fee
    assert fee is not None
    told = replace(fee, amount=coins or fee.amount, payer=payer)
    return resigned(made, replace(reads(made).auth, fee=told))


def paid(*coins: Coin, to: str = "") -> Any:
    return packed(MsgSend(address(A), to or shown(TO), coins), MsgSend.url)


OWN = Coin(DENOM, "5")


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (NOOP, 2),
        (Any(MsgSend.url, b"\xff"), 2),
        (paid(OWN, to="nobody"), 2),
        (paid(OWN, to=bech32.encode("cosmos", TO)), 2),
        (paid(), 10),
        (paid(Coin(DENOM, "-5")), 10),
        (paid(Coin(DENOM, "0")), 10),
        (paid(Coin(DENOM, "²")), 10),
        (paid(Coin(DENOM, "٤٠٠")), 10),
        (paid(Coin(DENOM, "9" * 5_000)), 10),
        (paid(Coin("", "5")), 10),
        (paid(OWN, OWN), 10),
    ],
)
def test_what_can_never_be_carried_out_is_not_let_in(message: Any, code: int) -> None:
    for mode in (Mode.CHECK, Mode.SIMULATE):
        state = ledger()
        assert ante(signed(0, [message]), state, mode=mode).code == code
        assert state.account(raw_of(A)) == BankAccount(0, 0, RICH)


def test_a_fee_that_is_no_amount_is_refused_and_breaks_nothing() -> None:
    for amount in ("²", "-1", "9" * 5_000):
        made = with_fee(pay(0), Coin(DENOM, amount))
        assert ante(made, ledger()).code == 10


def test_coins_that_nobody_has_are_not_moved() -> None:
    state = ledger()
    verdict = executed(state, paid(Coin("other", "5")))
    assert (verdict.code, "0other is smaller than 5other" in verdict.log) == (5, True)
    assert state.account(TO) is None


def test_an_execution_may_be_told_to_fail() -> None:
    app, state = App(CosmosRules()), ledger()
    made = pay(0)
    app.fails[made.hash] = AppVerdict(5, "as it was recorded", "sdk")
    done = app.deliver(state, reads(made), len(made.raw))
    assert done.verdict == AppVerdict(5, "as it was recorded", "sdk")
    assert state.account(TO) is None


def test_what_came_of_it_tells_its_gas_and_its_signer() -> None:
    made = pay(0)
    done = App(CosmosRules()).deliver(ledger(), reads(made), len(made.raw))
    assert (done.gas_wanted, done.gas_used) == (GAS, 65_000 + 10 * len(made.raw))
    assert done.signers == (address(A),)
    recorded = App(RECORDED).deliver(ledger(), reads(made), len(made.raw))
    assert (recorded.gas_used, recorded.signers) == (64_321, (f"{PREFIX}1{raw_of(A).hex()}",))


def test_a_recorded_application_carried_no_message_out() -> None:
    state = ledger()
    assert executed(state, NOOP, app=App(RECORDED)) is OK
    assert executed(state, send(A), app=App(RECORDED)) is OK
    assert state.account(TO) is None


def test_a_blob_costs_eight_for_each_byte_of_its_shares() -> None:
    small, large = publish(0), publish(0, replace(BLOB, data=b"x" * 500))
    app = App(CosmosRules())
    grown = app.gas_used(reads(large), len(large.raw)) - app.gas_used(reads(small), len(small.raw))
    inner = (len(large.raw) - 500) - (len(small.raw) - 4)
    assert grown == 8 * 512 + 10 * inner


def test_bytes_that_are_no_transaction_are_not_understood() -> None:
    made = pay(0)
    assert understood(b"nonsense") == verdicts.PARSE
    nameless = AuthInfo((SignerInfo(None, None, 0),), reads(made).auth.fee)
    assert understood(resigned(made, nameless).raw) == verdicts.PARSE
    broken = AuthInfo((SignerInfo(Any("", b"\xff"), None, 0),), reads(made).auth.fee)
    assert understood(resigned(made, broken).raw) == verdicts.PARSE
    assert understood(made.raw) == reads(made)


def blob_code(*messages: Any, blobs: tuple[CelestiaBlob, ...] = (BLOB,)) -> int:
    return blob_verdict(reads(signed(0, messages, blobs)), PREFIX).code


def test_blobs_and_what_pays_for_them_come_together() -> None:
    pays = packed(paying(A, [BLOB]), MsgPayForBlobs.url)
    assert blob_code(pays) == 0
    assert blob_code(send(A), blobs=()) == 0
    assert blob_code(pays, blobs=()) == 11_131
    assert blob_code(pays, pays) == 11_129
    assert blob_code(send(A)) == 11_126
    assert blob_code(Any(MsgPayForBlobs.url, b"\xff")) == 11_136


OTHER = namespace_of(b"other")


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"signer": address(B)}, 11_140),
        ({"blob_sizes": (5,)}, 11_113),
        ({"blob_sizes": (4, 4)}, 11_125),
        ({"namespaces": (OTHER,)}, 11_127),
        ({"share_versions": (1,)}, 11_127),
        ({"share_commitments": (commitment(CelestiaBlob(OTHER, b"data")),)}, 11_116),
    ],
)
def test_what_is_paid_for_is_what_is_carried(changed: dict[str, object], code: int) -> None:
    lie = replace(paying(A, [BLOB]), **changed)
    assert blob_code(packed(lie, MsgPayForBlobs.url)) == code


def test_the_second_blob_is_looked_at_like_the_first() -> None:
    second = CelestiaBlob(OTHER, b"more")
    pays = paying(A, [BLOB, second])
    assert blob_code(packed(pays, MsgPayForBlobs.url), blobs=(BLOB, second)) == 0
    lie = replace(pays, share_commitments=(commitment(BLOB), commitment(BLOB)))
    assert blob_code(packed(lie, MsgPayForBlobs.url), blobs=(BLOB, second)) == 11_116


def test_a_blob_of_share_version_1_names_who_pays_for_it() -> None:
    mine = CelestiaBlob(BLOB.namespace, b"data", 1, raw_of(A))
    theirs = replace(mine, signer=raw_of(B))
    for blob, code in ((mine, 0), (theirs, 11_140), (replace(mine, signer=b""), 11_136)):
        assert blob_code(packed(paying(A, [blob]), MsgPayForBlobs.url), blobs=(blob,)) == code


def test_a_blob_in_a_namespace_of_the_chain_is_invalid() -> None:
    reserved = CelestiaBlob(bytes(28) + b"\x01", b"data")
    assert blob_code(packed(paying(A, [reserved]), MsgPayForBlobs.url), blobs=(reserved,)) == 11_136


@pytest.mark.parametrize(
    ("mode", "code"), [(Mode.CHECK, 11_131), (Mode.RECHECK, 0), (Mode.DELIVER, 0)]
)
def test_blobs_are_compared_when_a_node_first_sees_them(mode: Mode, code: int) -> None:
    bare = signed(0, [packed(paying(A, [BLOB]), MsgPayForBlobs.url)])
    assert ante(bare, mode=mode).code == code
    assert ante(publish(0), mode=mode) is OK


def test_coins_of_another_kind_do_not_count() -> None:
    assert amount_of((Coin("utia", "5"), Coin("other", "7"), Coin("utia", "1")), "utia") == 6
    assert amount_of((), "utia") == 0


def test_an_address_is_one_of_this_chain() -> None:
    app = App(CosmosRules())
    assert app.raw_of(shown(TO)) == TO
    for foreign in (bech32.encode("cosmos", TO), bech32.encode("celestia", TO[:19]), "", "x"):
        with pytest.raises(MalformedAddress):
            app.raw_of(foreign)


@pytest.mark.parametrize(
    "made",
    [
        pay(0, fee=1),
        pay(0, timeout=1),
        pay(0, gas=60_000),
        pay(0, number=7),
        publish(1),
    ],
)
def test_a_refusal_changes_nothing_at_all(made: SignedCosmosTx) -> None:
    state = ledger()
    assert ante(made, state).code
    assert [one for _, one in state.accounts()] == [
        BankAccount(0, 0, RICH),
        BankAccount(1, 0, RICH),
    ]


def test_what_is_read_is_what_was_signed() -> None:
    found = understood(publish(4).raw)
    assert isinstance(found, Read)
    assert (found.sequence(), len(found.blobs), gas_wanted(found)) == (4, 1, GAS)
