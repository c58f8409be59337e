"""What the application answers of accounts, balances, gas and its price."""

from tests.devnets.cosmos.stage import (
    DENOM,
    FEE,
    GAS,
    RICH,
    STRANGER,
    TO,
    A,
    accepted,
    address,
    pay,
    shown,
    world,
)

from laneway.cosmos.messages import (
    BaseAccount,
    Coin,
    EstimateGasPriceRequest,
    EstimateGasPriceResponse,
    PubKey,
    QueryAccountRequest,
    QueryAccountResponse,
    QueryBalanceRequest,
    QueryBalanceResponse,
    SimulateRequest,
    SimulateResponse,
)
from laneway.cosmos.protobuf import decode, encode
from laneway.cosmos.tx import packed
from laneway.devnets.cosmos.model.chain import CosmosModel
from laneway.devnets.cosmos.model.verdicts import AppVerdict
from laneway.devnets.cosmos.node.queries import QUERIES, balance_of, base_account, query


def answered(chain: CosmosModel, path: str, asked: bytes) -> bytes:
    found = query(chain, 0, path, asked)
    assert isinstance(found, bytes), found
    return found


def refused(chain: CosmosModel, path: str, asked: bytes) -> AppVerdict:
    found = query(chain, 0, path, asked)
    assert isinstance(found, AppVerdict)
    assert found.code
    return found


def account(chain: CosmosModel, who: str) -> BaseAccount:
    asked = encode(QueryAccountRequest(who))
    found = decode(QueryAccountResponse, answered(chain, QueryAccountRequest.path, asked)).account
    assert found is not None
    assert found.type_url == BaseAccount.url
    return decode(BaseAccount, found.value)


def test_an_account_is_told_as_it_is_committed() -> None:
    chain = world()
    assert account(chain, address(A)) == BaseAccount(address(A), None, 0, 0)
    accepted(chain, pay(0))
    assert account(chain, address(A)).sequence == 0
    chain.produce()
    key = packed(PubKey(A.public_key), PubKey.url)
    assert account(chain, address(A)) == BaseAccount(address(A), key, 0, 1)
    assert base_account(chain, shown(TO)) == BaseAccount(shown(TO), None, 2, 0)


def test_an_account_that_does_not_exist_is_not_found() -> None:
    no = refused(world(), QueryAccountRequest.path, encode(QueryAccountRequest(address(STRANGER))))
    assert (no.code, no.codespace) == (22, "sdk")
    assert f"account {address(STRANGER)} not found: key not found" in no.log
    assert base_account(world(), address(STRANGER)) is None


def balance(chain: CosmosModel, who: str, denom: str = DENOM) -> Coin | None:
    asked = encode(QueryBalanceRequest(who, denom))
    return decode(QueryBalanceResponse, answered(chain, QueryBalanceRequest.path, asked)).balance


def test_a_balance_is_told_as_it_is_committed() -> None:
    chain = world()
    accepted(chain, pay(0))
    assert balance(chain, address(A)) == Coin(DENOM, str(RICH))
    chain.produce()
    assert balance(chain, address(A)) == Coin(DENOM, str(RICH - FEE - 5))
    assert balance(chain, shown(TO)) == Coin(DENOM, "5")


def test_who_has_nothing_has_none_of_it() -> None:
    assert balance(world(), address(STRANGER)) == Coin(DENOM, "0")
    assert balance(world(), address(A), "other") == Coin("other", "0")
    assert balance_of(world(), address(A), DENOM) == RICH


def test_a_trial_tells_the_gas() -> None:
    made = pay(0)
    asked = encode(SimulateRequest(made.raw))
    found = decode(SimulateResponse, answered(world(), SimulateRequest.path, asked)).gas_info
    assert found is not None
    assert (found.gas_wanted, found.gas_used) == (GAS, 65_000 + 10 * len(made.raw))


def test_a_trial_that_fails_tells_why() -> None:
    tried = [
        (pay(3), "account sequence mismatch, expected 0, got 3"),
        (pay(0, amount=2 * RICH), "insufficient funds"),
    ]
    for made, why in tried:
        no = refused(world(), SimulateRequest.path, encode(SimulateRequest(made.raw)))
        assert why in no.log


def test_the_price_is_what_a_node_takes() -> None:
    chain = world()
    asked = encode(EstimateGasPriceRequest(2))
    path = EstimateGasPriceRequest.path
    assert decode(EstimateGasPriceResponse, answered(chain, path, asked)).estimated_gas_price == (
        0.004
    )
    chain.app.price_micro = 20_000
    assert decode(EstimateGasPriceResponse, answered(chain, path, b"")).estimated_gas_price == 0.02


def test_an_unknown_path_is_refused() -> None:
    no = refused(world(), "/cosmos.gov.v1.Query/Proposals", b"")
    assert (no.code, no.codespace) == (6, "sdk")
    assert no.log.startswith("unknown query path")


def test_a_question_that_cannot_be_read_is_invalid() -> None:
    for path in QUERIES:
        no = refused(world(), path, b"\xff")
        assert (no.code, no.codespace) == (18, "sdk")
        assert no.log.endswith(": invalid request")
    nobody = refused(world(), QueryAccountRequest.path, encode(QueryAccountRequest("nobody")))
    assert nobody.code == 18
    assert "nobody" in nobody.log


def test_fields_that_are_unknown_are_passed_over() -> None:
    questions = {
        QueryAccountRequest.path: QueryAccountRequest(address(A)),
        QueryBalanceRequest.path: QueryBalanceRequest(address(A), DENOM),
        SimulateRequest.path: SimulateRequest(pay(0).raw),
        EstimateGasPriceRequest.path: EstimateGasPriceRequest(1),
    }
    assert set(questions) == set(QUERIES)
    for path, question in questions.items():
        asked = encode(question)
        assert answered(world(), path, asked + b"\x78\x01") == answered(world(), path, asked)
