"""CometBFT's methods on the model, in the shapes that were recorded."""

import base64
import hashlib
from typing import Any

import pytest
from tests.devnets.cosmos.stage import (
    CHAIN_ID,
    FEE,
    GAS,
    RICH,
    A,
    B,
    accepted,
    address,
    pay,
    publish,
    world,
)

from laneway.cosmos.messages import QueryBalanceRequest, QueryBalanceResponse
from laneway.cosmos.protobuf import decode, encode
from laneway.cosmos.tx import SignedCosmosTx
from laneway.devnets.cosmos.model.chain import CosmosModel
from laneway.devnets.cosmos.model.mempool import MempoolRules
from laneway.devnets.cosmos.node.comet import METHODS, app_hash, block_hash, timestamp
from laneway.devnets.cosmos.node.parameters import CometParameters, CometRefused
from laneway.wire.rpc_codes import INTERNAL, INVALID_PARAMS


def asked(chain: CosmosModel, method: str, node: int = 0, **params: object) -> Any:
    return METHODS[method][0](chain, node, CometParameters(params))


def refused(chain: CosmosModel, method: str, **params: object) -> tuple[int, str]:
    with pytest.raises(CometRefused) as no:
        asked(chain, method, 0, **params)
    return no.value.code, no.value.data


def text(octets: bytes) -> str:
    return base64.b64encode(octets).decode()


def hexed(made: SignedCosmosTx) -> str:
    return made.hash.hex().upper()


def committed(*made: SignedCosmosTx) -> CosmosModel:
    """A chain whose second block holds these."""
    chain = world()
    chain.produce(1_000)
    for one in made:
        accepted(chain, one)
    chain.produce(2_500)
    return chain


def test_what_is_let_in_is_named_in_large_hex() -> None:
    made = pay(0)
    assert asked(world(), "broadcast_tx_sync", tx=text(made.raw)) == {
        "code": 0,
        "data": "",
        "log": "",
        "codespace": "",
        "hash": hexed(made),
    }


def test_what_the_application_refuses_is_a_result() -> None:
    made = pay(3)
    assert asked(world(), "broadcast_tx_sync", tx=text(made.raw)) == {
        "code": 32,
        "data": "",
        "log": "account sequence mismatch, expected 0, got 3: incorrect account sequence",
        "codespace": "sdk",
        "hash": hexed(made),
    }


def test_what_the_node_refuses_is_an_error() -> None:
    chain, made = world(), pay(0)
    accepted(chain, made)
    no = refused(chain, "broadcast_tx_sync", tx=text(made.raw))
    assert no == (INTERNAL, "tx already exists in mempool")
    code, problem = refused(chain, "broadcast_tx_sync", tx="?")
    assert code == INVALID_PARAMS
    assert problem.endswith(": illegal base64 data at input byte 0")


def bare(standing: str, code: int = 0, error: str = "") -> dict[str, object]:
    return {
        "height": "0",
        "index": 0,
        "execution_code": code,
        "error": error,
        "status": standing,
    }


def test_a_status_is_short_until_it_is_committed() -> None:
    chain, made = world(), pay(0)
    assert asked(chain, "tx_status", hash=text(made.hash)) == bare("UNKNOWN")
    accepted(chain, made)
    assert asked(chain, "tx_status", hash=text(made.hash)) == bare("PENDING")
    chain.evict(0, made.hash)
    assert asked(chain, "tx_status", hash=text(made.hash)) == bare("EVICTED")
    chain.broadcast(0, pay(7).raw)
    log = "account sequence mismatch, expected 1, got 7: incorrect account sequence"
    assert asked(chain, "tx_status", hash=text(pay(7).hash)) == bare("REJECTED", 32, log)


def test_a_status_that_is_committed_tells_gas_and_signers() -> None:
    made = pay(0)
    chain = committed(pay(0, key=B, fee=2 * FEE), made)
    shown = {
        "height": "2",
        "index": 1,
        "execution_code": 0,
        "error": "",
        "status": "COMMITTED",
        "gas_wanted": str(GAS),
        "gas_used": str(65_000 + 10 * len(made.raw)),
        "signers": [address(A)],
    }
    assert asked(chain, "tx_status", hash=text(made.hash)) == shown


def test_an_execution_that_failed_names_its_codespace() -> None:
    made = pay(0, amount=RICH)
    shown = asked(committed(made), "tx_status", hash=text(made.hash))
    assert (shown["status"], shown["execution_code"], shown["codespace"]) == ("COMMITTED", 5, "sdk")
    assert shown["error"].endswith("insufficient funds")


def test_a_batch_keeps_order_and_duplicates() -> None:
    made = pay(0)
    chain = committed(made)
    hashes = [bytes(32), made.hash, bytes(32)]
    found = asked(chain, "tx_status_batch", hashes=[text(one) for one in hashes])["statuses"]
    assert [one["hash"] for one in found] == [one.hex().upper() for one in hashes]
    assert [one["result"]["status"] for one in found] == ["UNKNOWN", "COMMITTED", "UNKNOWN"]
    assert found[1]["result"] == asked(chain, "tx_status", hash=text(made.hash))
    assert asked(chain, "tx_status_batch") == {"statuses": []}


def test_a_batch_has_at_most_twenty() -> None:
    one = text(bytes(32))
    assert len(asked(world(), "tx_status_batch", hashes=[one] * 20)["statuses"]) == 20
    many = "batch request exceeds maximum (20) allowed number of transaction hashes"
    assert refused(world(), "tx_status_batch", hashes=[one] * 21) == (INTERNAL, many)


def test_one_bad_hash_fails_the_whole_batch() -> None:
    short = "failed to get tx key from hash: incorrect tx key size. Expected 32 bytes, got 3"
    hashes = [text(bytes(32)), "YWJj"]
    assert refused(world(), "tx_status_batch", hashes=hashes) == (INTERNAL, short)
    assert refused(world(), "tx_status", hash="YWJj") == (INTERNAL, short)


def test_the_application_is_asked_through_the_node() -> None:
    chain = committed(pay(0))
    data = encode(QueryBalanceRequest(address(B), "utia")).hex()
    found = asked(chain, "abci_query", path=QueryBalanceRequest.path, data=data)["response"]
    assert (found["code"], found["log"], found["codespace"], found["height"]) == (0, "", "", "2")
    coin = decode(QueryBalanceResponse, base64.b64decode(found["value"])).balance
    assert coin is not None
    assert coin.amount == str(RICH)


def test_a_question_that_fails_has_no_value() -> None:
    found = asked(world(), "abci_query", path="/unknown", data="")["response"]
    assert (found["code"], found["codespace"], found["value"]) == (6, "sdk", None)
    assert found["log"]


def test_the_application_tells_its_newest_block() -> None:
    found = asked(committed(), "abci_info")["response"]
    assert found["last_block_height"] == "2"
    assert base64.b64decode(found["last_block_app_hash"]) == app_hash(2)


def test_a_transaction_is_shown_with_its_bytes_and_blobs() -> None:
    made = publish(0)
    shown = asked(committed(made), "tx", hash=text(made.hash))
    assert (shown["hash"], shown["height"], shown["index"]) == (hexed(made), "2", 0)
    assert base64.b64decode(shown["tx"]) == made.raw
    result = shown["tx_result"]
    assert (result["code"], result["log"], result["codespace"]) == (0, "", "")
    assert (result["gas_wanted"], result["events"]) == (str(GAS), [])


def test_a_transaction_that_waits_is_not_found() -> None:
    chain, made = world(), pay(0)
    accepted(chain, made)
    missing = f"tx ({hexed(made)}) not found"
    assert refused(chain, "tx", hash=text(made.hash)) == (INTERNAL, missing)


def test_a_search_by_hash_finds_one_or_none() -> None:
    made = pay(0)
    chain = committed(made)
    found = asked(chain, "tx_search", query=f"tx.hash='{hexed(made)}'", page="1", per_page="100")
    assert found == {"txs": [asked(chain, "tx", hash=text(made.hash))], "total_count": "1"}
    spaced = f" tx.hash = '{made.hash.hex()}' "
    assert asked(chain, "tx_search", query=spaced) == found
    none = asked(chain, "tx_search", query=f"tx.hash='{'00' * 32}'")
    assert none == {"txs": [], "total_count": "0"}


def test_a_search_by_an_account_and_its_sequence_finds_who_used_it() -> None:
    made = pay(0)
    chain = committed(made)
    found = asked(chain, "tx_search", query=f"tx.acc_seq='{address(A)}/0'")
    assert found == asked(chain, "tx_search", query=f"tx.hash='{hexed(made)}'")
    for query in (f"tx.acc_seq='{address(A)}/1'", f"tx.acc_seq='{address(B)}/0'"):
        assert asked(chain, "tx_search", query=query) == {"txs": [], "total_count": "0"}


def test_a_search_by_anything_else_is_refused() -> None:
    only = (INTERNAL, "this devnet searches by tx.hash and tx.acc_seq alone")
    for query in ("", "tx.height=5", "tx.hash='00'", "tx.acc_seq='/1'"):
        assert refused(world(), "tx_search", query=query) == only


def test_there_is_no_page_before_the_first() -> None:
    query = f"tx.hash='{'00' * 32}'"
    code, problem = refused(world(), "tx_search", query=query, page="0")
    assert code == INTERNAL
    assert problem.startswith("page should be within [1, 1] range")


def test_what_waits_is_told_in_the_order_of_proposers() -> None:
    chain = world()
    first, second, dear = pay(0), pay(1), pay(0, key=B, fee=2 * FEE)
    for one in (first, second, dear):
        accepted(chain, one)
    size = str(sum(len(one.raw) for one in (first, second, dear)))
    assert asked(chain, "unconfirmed_txs", limit="2") == {
        "n_txs": "2",
        "total": "3",
        "total_bytes": size,
        "txs": [text(dear.raw), text(first.raw)],
    }
    assert len(asked(chain, "unconfirmed_txs")["txs"]) == 3
    assert asked(chain, "unconfirmed_txs", limit="100")["n_txs"] == "3"
    counted = {"n_txs": "3", "total": "3", "total_bytes": size, "txs": None}
    assert asked(chain, "num_unconfirmed_txs") == counted


def test_thirty_that_wait_are_told_unasked() -> None:
    chain = world()
    for sequence in range(31):
        accepted(chain, pay(sequence))
    found = asked(chain, "unconfirmed_txs")
    assert (found["n_txs"], found["total"], len(found["txs"])) == ("30", "31", 30)


def test_a_node_tells_of_its_own_mempool() -> None:
    chain = world(MempoolRules(), MempoolRules())
    chain.nodes[1].is_cut_off = True
    accepted(chain, pay(0))
    assert asked(chain, "num_unconfirmed_txs", node=0)["total"] == "1"
    assert asked(chain, "num_unconfirmed_txs", node=1)["total"] == "0"


def test_a_node_that_answers_is_well() -> None:
    assert asked(world(), "health") == {}


def test_the_status_tells_the_chain_and_its_newest_block() -> None:
    found = asked(committed(), "status")
    assert found["node_info"]["network"] == CHAIN_ID
    sync = found["sync_info"]
    assert (sync["latest_block_height"], sync["catching_up"]) == ("2", False)
    assert sync["latest_block_hash"] == block_hash(2).hex().upper()
    assert sync["latest_block_time"] == "1970-01-01T00:00:02.500Z"
    assert sync["earliest_block_time"] == "1970-01-01T00:00:01.000Z"
    assert sync["earliest_block_hash"] == block_hash(1).hex().upper()
    assert sync["earliest_app_hash"] == app_hash(1).hex().upper()


def test_the_status_of_a_chain_without_blocks_has_height_0() -> None:
    sync = asked(world(), "status")["sync_info"]
    times = {sync["latest_block_time"], sync["earliest_block_time"]}
    assert (sync["latest_block_height"], times) == ("0", {"1970-01-01T00:00:00.000Z"})


def test_each_node_has_an_id_of_its_own() -> None:
    chain = world(MempoolRules(), MempoolRules())
    first, second = (asked(chain, "status", node=node) for node in (0, 1))
    assert first["node_info"]["id"] != second["node_info"]["id"]
    for one in (first, second):
        assert len(one["node_info"]["id"]) == len(one["validator_info"]["address"]) == 40
    powers = [one["validator_info"]["voting_power"] for one in (first, second)]
    assert powers == ["1", "0"]


def test_a_block_shows_its_transactions() -> None:
    made = pay(0)
    chain = committed(made)
    newest = asked(chain, "block")
    assert newest == asked(chain, "block", height="2")
    assert newest["block"]["data"]["txs"] == [text(made.raw)]
    header = newest["block"]["header"]
    assert (header["chain_id"], header["height"]) == (CHAIN_ID, "2")
    assert header["time"] == "1970-01-01T00:00:02.500Z"
    assert header["app_hash"] == app_hash(1).hex().upper(), "of the block before it"
    assert newest["block_id"]["hash"] == block_hash(2).hex().upper()
    assert asked(chain, "block", height="1")["block"]["data"]["txs"] == []


def test_a_block_that_is_not_there_yet_is_refused() -> None:
    late = "height 3 must be less than or equal to the current blockchain height 2"
    assert refused(committed(), "block", height="3") == (INTERNAL, late)
    assert refused(committed(), "block", height="0")[0] == INTERNAL


def test_every_method_names_its_parameters() -> None:
    names = {method: places for method, (_, places) in METHODS.items()}
    assert names["broadcast_tx_sync"] == ("tx",)
    assert names["tx_status"] == ("hash",)
    assert names["tx_status_batch"] == ("hashes",)
    assert names["abci_query"] == ("path", "data", "height", "prove")
    assert names["tx_search"] == ("query", "prove", "page", "per_page", "order_by")
    assert names["status"] == names["health"] == names["abci_info"] == ()


def test_hashes_of_blocks_differ_and_times_have_milliseconds() -> None:
    assert len({block_hash(1), block_hash(2), app_hash(1), app_hash(2)}) == 4
    assert len(block_hash(1)) == hashlib.sha256().digest_size
    assert timestamp(1_700_000_000_007) == "2023-11-14T22:13:20.007Z"


def test_pages_and_heights_beyond_the_end_are_told_as_such() -> None:
    chain = world()
    chain.produce()
    beyond: list[tuple[str, dict[str, Any], str]] = [
        ("tx_search", {"query": f"tx.hash='{'00' * 32}'", "page": "2"}, "range, given 2"),
        ("block", {"height": "0"}, "must be greater than 0, but got 0"),
        ("block", {"height": "9"}, "current blockchain height 1"),
    ]
    for method, params, problem in beyond:
        with pytest.raises(CometRefused, match=problem):
            asked(chain, method, **params)
    accepted(chain, pay(0))
    for limit, count in (("-1", "1"), ("0", "1"), ("1", "1")):
        assert asked(chain, "unconfirmed_txs", limit=limit)["n_txs"] == count
