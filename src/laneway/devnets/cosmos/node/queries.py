"""What the application is asked through a node: accounts, balances, gas and its price."""

from collections.abc import Callable

from laneway.cosmos.errors import InvalidCosmos
from laneway.cosmos.messages import (
    BaseAccount,
    Coin,
    EstimateGasPriceRequest,
    EstimateGasPriceResponse,
    GasInfo,
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
from laneway.devnets.cosmos.model.app import MICRO
from laneway.devnets.cosmos.model.chain import CosmosModel
from laneway.devnets.cosmos.model.verdicts import SDK, AppVerdict

Query = Callable[[CosmosModel, int, bytes], bytes | AppVerdict]


def account_query(chain: CosmosModel, _node: int, data: bytes) -> bytes | AppVerdict:
    address = decode(QueryAccountRequest, data, strict=False).address
    account = base_account(chain, address)
    if account is None:
        log = f"rpc error: code = NotFound desc = account {address} not found: key not found"
        return AppVerdict(22, log, SDK)
    return encode(QueryAccountResponse(packed(account, BaseAccount.url)))


def base_account(chain: CosmosModel, address: str) -> BaseAccount | None:
    """As it is committed."""
    account = chain.account(chain.app.raw_of(address))
    if account is None:
        return None
    key = packed(PubKey(account.public_key), PubKey.url) if account.public_key else None
    return BaseAccount(address, key, account.number, account.sequence)


def balance_query(chain: CosmosModel, _node: int, data: bytes) -> bytes | AppVerdict:
    asked = decode(QueryBalanceRequest, data, strict=False)
    return encode(
        QueryBalanceResponse(Coin(asked.denom, str(balance_of(chain, asked.address, asked.denom))))
    )


def balance_of(chain: CosmosModel, address: str, denom: str) -> int:
    account = chain.account(chain.app.raw_of(address))
    return account.balance if account is not None and denom == chain.app.rules.denom else 0


def simulate_query(chain: CosmosModel, node: int, data: bytes) -> bytes | AppVerdict:
    found = chain.simulate(node, decode(SimulateRequest, data, strict=False).tx_bytes)
    if isinstance(found, AppVerdict):
        return found
    if found.verdict.code:
        return found.verdict
    return encode(SimulateResponse(GasInfo(found.gas_wanted, found.gas_used)))


def price_query(chain: CosmosModel, _node: int, data: bytes) -> bytes | AppVerdict:
    decode(EstimateGasPriceRequest, data, strict=False)
    return encode(EstimateGasPriceResponse(chain.app.price_micro / MICRO))


QUERIES: dict[str, Query] = {
    QueryAccountRequest.path: account_query,
    QueryBalanceRequest.path: balance_query,
    SimulateRequest.path: simulate_query,
    EstimateGasPriceRequest.path: price_query,
}


def query(chain: CosmosModel, node: int, path: str, data: bytes) -> bytes | AppVerdict:
    found = QUERIES.get(path)
    if found is None:
        return AppVerdict(6, f"unknown query path: {path}: unknown request", SDK)
    try:
        return found(chain, node, data)
    except InvalidCosmos as error:
        return AppVerdict(18, f"{error}: invalid request", SDK)
