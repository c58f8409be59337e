"""The REST gateway says what the SDK's does, in its words and shapes."""

import base64
import json
from typing import Any

import pytest
from tests.devnets.cosmos.stage import (
    BLOB,
    DENOM,
    PREFIX,
    RICH,
    STRANGER,
    TO,
    A,
    B,
    accepted,
    address,
    pay,
    publish,
    shown,
    world,
)

from laneway.cosmos.messages import MsgPayForBlobs, MsgSend, PubKey
from laneway.cosmos.tx import SignedCosmosTx
from laneway.devnets.cosmos.limits import BLOCK_BYTES_MAX, GAS_PER_TX
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.devnets.cosmos.node import rest


def posted(made: SignedCosmosTx, name: str = "tx_bytes") -> bytes:
    return json.dumps({name: base64.b64encode(made.raw).decode()}).encode()


def told(gas: int = 100_000) -> dict[str, Any]:
    """A transaction in JSON, as cosmpy tells it."""
    key = {"@type": PubKey.url, "key": base64.b64encode(A.public_key).decode()}
    message = {
        "@type": MsgSend.url,
        "fromAddress": address(A),
        "toAddress": shown(TO),
        "amount": [{"denom": DENOM, "amount": "5"}],
    }
    signer = {"publicKey": key, "modeInfo": {"single": {"mode": "SIGN_MODE_DIRECT"}}}
    fee = {"amount": [{"denom": DENOM, "amount": "400"}], "gasLimit": str(gas)}
    return {
        "body": {"messages": [message]},
        "authInfo": {"signerInfos": [signer], "fee": fee},
        "signatures": [base64.b64encode(bytes(64)).decode()],
    }


def test_an_account_is_told_with_its_key_once_it_has_sent() -> None:
    chain = world()
    status, said = rest.account(chain, address(A))
    shown_account = said["account"]
    assert (status, shown_account["pub_key"], shown_account["sequence"]) == (200, None, "0")
    accepted(chain, pay(0))
    chain.produce()
    _, said = rest.account(chain, address(A))
    assert said["account"]["sequence"] == "1"
    assert said["account"]["pub_key"]["key"] == base64.b64encode(A.public_key).decode()
    assert rest.account(chain, address(STRANGER))[0] == 404
    assert rest.account(chain, "celestia1x")[0] == 400


def test_a_balance_is_of_the_chains_own_coin() -> None:
    chain = world()
    assert rest.balance(chain, address(A), DENOM)[1] == {
        "balance": {"denom": DENOM, "amount": str(RICH)}
    }
    assert rest.balance(chain, address(A), "other")[1]["balance"]["amount"] == "0"
    assert rest.balance(chain, "nobody", DENOM)[0] == 400


@pytest.mark.parametrize("name", ["tx_bytes", "txBytes"])
def test_a_transaction_is_sent_and_found_again(name: str) -> None:
    chain = world()
    made = pay(0, memo="m", timeout=9)
    _, said = rest.broadcast(chain, 0, posted(made, name))
    assert (said["tx_response"]["code"], said["tx_response"]["height"]) == (0, "0")
    assert rest.transaction(chain, made.hash.hex())[0] == 404
    chain.produce(5_000)
    status, said = rest.transaction(chain, said["tx_response"]["txhash"])
    response = said["tx_response"]
    assert (status, response["height"], response["gas_wanted"]) == (200, "1", "100000")
    assert int(response["gas_used"]) > GAS_PER_TX
    assert response["timestamp"] == "1970-01-01T00:00:05.000Z"
    body = said["tx"]["body"]
    assert (body["memo"], body["timeout_height"]) == ("m", "9")
    assert body["messages"] == [
        {
            "@type": MsgSend.url,
            "from_address": address(A),
            "to_address": shown(TO),
            "amount": [{"denom": DENOM, "amount": "5"}],
        }
    ]
    assert rest.transaction(chain, "no hash")[0] == 400


def test_blobs_are_told_by_what_was_paid_for() -> None:
    chain = world()
    made = publish(0)
    accepted(chain, made)
    chain.produce()
    (message,) = rest.transaction(chain, made.hash.hex())[1]["tx"]["body"]["messages"]
    assert message["@type"] == MsgPayForBlobs.url
    assert message["blob_sizes"] == [len(BLOB.data)]
    assert message["namespaces"] == [base64.b64encode(BLOB.namespace).decode()]
    assert message["signer"].startswith(PREFIX)


def test_what_a_node_says_by_itself_is_a_code_without_a_word() -> None:
    chain = world(MempoolRules(bytes_max=400, tx_bytes_max=600))
    accepted(chain, pay(0, fee=900))
    assert code_of(rest.broadcast(chain, 0, posted(pay(0, fee=900)))) == (19, "")
    assert code_of(rest.broadcast(chain, 0, posted(pay(0, key=B)))) == (20, "")
    large = pay(0, key=B, memo="x" * 250, fee=10**200)
    assert code_of(rest.broadcast(chain, 0, posted(large))) == (21, "")


def test_what_the_application_says_is_told_in_its_words() -> None:
    code, log = code_of(rest.broadcast(world(), 0, posted(pay(3))))
    assert (code, log.startswith("account sequence mismatch, expected 0, got 3")) == (32, True)


def code_of(said: rest.Answer) -> tuple[int, str]:
    assert said[0] == 200
    response = said[1]["tx_response"]
    return response["code"], response["raw_log"]


def test_a_transaction_is_tried_without_being_sent() -> None:
    chain = world()
    status, said = rest.simulate(chain, 0, json.dumps({"tx": told(gas=0)}).encode())
    assert status == 200
    assert int(said["gas_info"]["gas_used"]) > GAS_PER_TX
    assert rest.simulate(chain, 0, posted(pay(0)))[0] == 200
    assert len(chain.nodes[0].mempool) == 0
    status, said = rest.simulate(chain, 0, posted(pay(2)))
    assert (status, "expected 0, got 2" in said["message"]) == (500, True)
    status, said = rest.simulate(chain, 0, posted(pay(0, amount=2 * RICH)))
    assert (status, "insufficient funds" in said["message"]) == (500, True)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"tx": 1}', b'{"tx_bytes": "%"}'])
def test_what_is_no_transaction_is_said_so(body: bytes) -> None:
    chain = world()
    assert rest.simulate(chain, 0, body)[0] == rest.broadcast(chain, 0, body)[0] == 400


def test_a_block_is_bounded_by_its_bytes() -> None:
    _, said = rest.consensus_params()
    assert said["params"]["block"] == {"max_bytes": str(BLOCK_BYTES_MAX), "max_gas": "-1"}
