"""Laws of calls in words over HTTP: JSON in, words out, and a clear no before it is stored."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests import evm_token
from tests.anvil import Anvil, address, anvil
from tests.server.stage import Client
from tests.server.test_accounts import LANE, TO, act, attempts, finish, running, until

from laneway.evm.abi.addresses import checksummed
from laneway.evm.abi.interface import read_abi

pytestmark = pytest.mark.slow

OWNER = checksummed(address())


def as_json() -> list[Any]:
    """The token's ABI as compilers write it."""
    found = []
    for item in read_abi(evm_token.ABI):
        inputs = [
            {"name": one.name, "type": one.type.text(), "indexed": one.indexed}
            for one in item.inputs
        ]
        found.append({"type": item.kind, "name": item.name, "inputs": inputs})
    return found


async def posted(client: Client, payload: dict[str, Any], **headers: str) -> Any:
    heard = await client.post("/v1/transactions", {"lane": LANE, "payload": payload}, **headers)
    assert heard.status == 202, heard
    return heard.body


async def deployed(client: Client, node: Anvil) -> str:
    made = await posted(
        client, {"deploy": evm_token.CODE, "args": ["Coin", "10 gwei"], "abi": as_json()}
    )
    token = (await finish(client, node, made["id"]))["evm"]["contract"]
    assert isinstance(token, str)
    return token


async def shown(client: Client, intent: str) -> Any:
    return (await client.get(f"/v1/transactions/{intent}")).body


def test_a_token_is_deployed_called_and_shown_over_http(tmp_path: Path) -> None:
    async def main() -> None:
        with anvil() as node:
            async with running(node, tmp_path) as (_, client):
                token = await deployed(client, node)
                call = {"to": token, "call": "transfer", "args": [TO, "7"], "abi": as_json()}
                key = {"Idempotency-Key": "order-7"}
                sent = await posted(client, call, **key)
                kept = sent["evm"]["payload"]
                assert (kept["call"], kept["args"], kept["deploy"]) == (None, None, None)
                assert kept["data"].startswith("0xa9059cbb")
                assert kept["abi"][0] == "function transfer(address to, uint256 amount)"
                await finish(client, node, sent["id"])
                evm = (await shown(client, sent["id"]))["evm"]
                assert evm["call"] == {
                    "signature": "transfer(address,uint256)",
                    "args": [
                        {"name": "to", "type": "address", "value": TO, "hashed": False},
                        {"name": "amount", "type": "uint256", "value": "7", "hashed": False},
                    ],
                }
                (log,) = evm["logs"]
                assert [one["value"] for one in log["event"]["args"]] == [OWNER, TO, "7"]
                named = {"to": token, "call": "transfer(address,uint256)", "args": [TO, 7]}
                again = await posted(client, named, **key)
                assert again["id"] == sent["id"]
                data = {"to": token, "data": kept["data"], "abi": ["event E()"]}
                assert (await posted(client, data, **key))["id"] == sent["id"]

    asyncio.run(main())


def test_a_reverted_call_is_explained_and_who_cannot_explain_it_says_so(tmp_path: Path) -> None:
    async def main() -> None:
        with anvil() as node:
            async with running(node, tmp_path) as (_, client):
                token = await deployed(client, node)
                call = {"to": token, "call": "transfer", "abi": as_json(), "gas": 100_000}
                first = await posted(client, {**call, "args": [TO, "1 ether"]})
                second = await posted(client, {**call, "call": "boom", "args": []})
                for sent in (first, second):
                    done = await finish(client, node, sent["id"])
                    assert (done["status"], done["reason"]) == ("reverted", "")
                    seen = (await shown(client, sent["id"]))["evm"]
                    assert (seen["logs"], seen["unexplained"]) == (None, "")
                    if sent is first:
                        assert seen["revert"]["error"]["args"][2]["value"] == str(10**18)
                        reason = seen["revert"]["reason"]
                        assert reason.startswith("ERC20InsufficientBalance(sender=0x")
                    else:
                        assert seen["revert"]["data"] == "0x4e487b71" + "11".rjust(64, "0")
                listed = (await client.get(f"/v1/transactions?lane={LANE}")).body["items"]
                assert [one["evm"]["revert"] for one in listed] == [None] * 3, "lists ask nobody"
                third = await posted(client, {**call, "args": [TO, "2 ether"]})
                await finish_unseen(client, node, third["id"])
                node.kill()
                seen = (await shown(client, third["id"]))["evm"]
                assert (seen["revert"], bool(seen["unexplained"])) == (None, True)

    asyncio.run(main())


async def finish_unseen(client: Client, node: Anvil, intent: str) -> None:
    """Until it is final, without asking for it alone."""
    for _ in range(600):
        node.mine()
        await asyncio.sleep(0.05)
        page = (await client.get("/v1/transactions?status=reverted")).body["items"]
        if any(one["id"] == intent for one in page):
            return
    raise AssertionError(intent)


def test_a_replacement_may_be_said_in_words(tmp_path: Path) -> None:
    async def main() -> None:
        with anvil() as node:
            async with running(node, tmp_path) as (_, client):
                sent = await posted(client, {"to": TO, "value": "1", "gas": 100_000})
                await until(client, sent["id"], "submitted")
                words = {"to": TO, "call": "pay(uint256 n)", "args": ["0x05"], "gas": 100_000}
                assert (await act(client, sent["id"], "replace", payload=words)).status == 200
                await attempts(client, sent["id"], 2)
                done = await finish(client, node, sent["id"])
                assert done["evm"]["call"]["args"][0]["value"] == "5"
                assert done["evm"]["mined"]["data"] == "0xc290d691" + "5".rjust(64, "0")
                wrong = {**words, "args": [-5]}
                refused = await act(client, sent["id"], "replace", payload=wrong)
                assert refused.status in (409, 422)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("payload", "field", "detail"),
    [
        ({"call": "pay(uint8)", "args": [256]}, "payload.args[0]", "from 0 to 255"),
        ({"call": "pay(uint8)", "args": [1.5]}, "payload.args[0]", "a whole number"),
        ({"call": "pay(uint8)", "args": []}, "payload.args", "1 argument, not 0"),
        ({"call": "pay(address)", "args": ["0x" + "Aa" * 20]}, "payload.args[0]", "checksum"),
        ({"call": "pay", "abi": ["pay(bool)", "pay(uint8)"]}, "payload.call", "ambiguous"),
        ({"call": "pay", "abi": ["play(bool)"]}, "payload.call", "it has play(bool)"),
        ({"call": "pay"}, "payload.call", "does not say how it is called"),
        ({"call": "pay()", "data": "0x01"}, "payload.data", "either this"),
        ({"call": "pay()", "abi": [{"type": "x"}]}, "payload.abi[0]", "no kind of entry"),
        ({"call": "pay()", "to": None}, "payload.to", "say which"),
        ({"deploy": "0x00"}, "payload.to", "a deployment has none"),
        ({"call": ""}, "payload.call", "length >= 1"),
        ({"call": "f(uint256[])", "args": ["[" * 5_000]}, "payload.args[0]", "not JSON"),
        ({"call": "/etc/passwd"}, "payload.call", "does not say how it is called"),
        ({"call": "f()", "abi": "/etc/passwd"}, "payload.abi", "Expected `array"),
    ],
)
def test_what_is_wrong_is_named_before_anything_is_stored(
    node: Anvil, tmp_path: Path, payload: dict[str, Any], field: str, detail: str
) -> None:
    async def main() -> None:
        async with running(node, tmp_path) as (_, client):
            body = {"lane": LANE, "payload": {"to": TO, **payload}}
            heard = await client.post("/v1/transactions", body)
            assert heard.status == 422, heard
            assert (heard.body["field"], detail in heard.body["detail"]) == (field, True), heard
            assert (await client.get("/v1/transactions")).body["items"] == []

    asyncio.run(main())


@pytest.fixture(scope="module")
def node() -> Any:
    with anvil() as made:
        yield made


def test_the_document_has_the_words() -> None:
    from laneway.kinds.site import DOCUMENT

    schemas = json.loads(json.dumps(DOCUMENT))["components"]["schemas"]
    assert {"call", "args", "abi", "deploy"} <= schemas["EvmPayload"]["properties"].keys()
    shown = {"call", "contract", "logs", "revert", "unexplained"}
    assert shown <= schemas["EvmTx"]["properties"].keys()


def test_waiting_asks_nobody_about_what_went_well(tmp_path: Path) -> None:
    async def main() -> None:
        with anvil() as node:
            async with running(node, tmp_path) as (_, client):
                call = {"to": TO, "call": "pay()", "abi": ["pay()", "event Paid()"], "gas": 60_000}
                sent = await posted(client, call)
                done = await finish(client, node, sent["id"])
                waited = await client.get(f"/v1/transactions/{sent['id']}?wait=confirmed")
                assert (done["evm"]["logs"], waited.body["evm"]["logs"]) == (None, None)
                assert (await shown(client, sent["id"]))["evm"]["logs"] == []

    asyncio.run(main())
