"""Seed 004's two endpoints, byte for byte, and its load test from end to end."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.server.stage import Client, Heard, running, serving

from laneway.devnets.contract.model import ContractChain
from laneway.devnets.contract.node.socket import ContractSocket

GOLDEN = Path(__file__).parent / "golden"
EXECUTE = "/api/execute-smart-contract"
METRICS = "/api/smart-contract-queue-metrics"


def golden(name: str) -> str:
    return (GOLDEN / name).read_text().strip()


async def execute(client: Client, body: str) -> Heard:
    headers = {"Content-Type": "application/json"}
    return await client.ask("POST", EXECUTE, data=body, headers=headers)


async def text(client: Client, path: str) -> str:
    async with client.session.get(client.url + path) as answer:
        assert answer.status == 200
        return await answer.text()


def test_a_request_as_the_seed_writes_it_is_queued() -> None:
    async def main() -> None:
        async with serving(host__round_ms="60000") as client:
            headers = {"Content-Type": "application/json"}
            async with client.session.post(
                client.url + EXECUTE, data=golden("request.json"), headers=headers
            ) as answer:
                said = await answer.text()
            intent = json.loads(said)["result"]["id"]
            assert (answer.status, said.replace(intent, "TX")) == (200, golden("queued.json"))
            tx = (await client.get(f"/v1/transactions/{intent}")).body
            assert tx["lane"] == "contract:Qm123456789"
            assert tx["payload"] == {
                "data": "test_1",
                "executor": "12D3Koo.bafybmi",
                "quorum_type": 1,
                "comment": "",
            }

    asyncio.run(main())


def test_the_metrics_have_the_seeds_names_and_no_other() -> None:
    async def main() -> None:
        async with serving(host__round_ms="60000") as client:
            for _ in range(8):
                await execute(client, golden("request.json"))
            request = golden("request.json").replace("Qm123456789", "Qm987654321")
            await execute(client, request)
            for _ in range(6_000):
                said = await text(client, METRICS)
                if json.loads(said)[1]["executeCount"] == 1:
                    break
                await asyncio.sleep(0.01)
            assert said == golden("metrics.json")

    asyncio.run(main())


def test_a_queue_that_cannot_take_it_says_so_in_the_seeds_words() -> None:
    async def main() -> None:
        async with running() as (up, client):
            await up.laneway.engine.drain("now")
            headers = {"Content-Type": "application/json"}
            async with client.session.post(
                client.url + EXECUTE, data=golden("request.json"), headers=headers
            ) as answer:
                assert (answer.status, await answer.text()) == (200, golden("error.json"))

    asyncio.run(main())


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "{}", '{"smartContractToken": 5}', '{"smartContractToken": "a b"}']
)
def test_bad_input_is_status_false_with_http_200_as_the_node_has_it(body: str) -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await execute(client, body)
            assert (heard.status, heard.body["status"], heard.body["result"]) == (200, False, None)
            assert heard.body["message"].startswith("Invalid input")

    asyncio.run(main())


def test_a_bad_token_is_told_in_the_seeds_words() -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await execute(client, golden("request.json").replace("Qm123456789", "a b"))
            assert heard.body["message"].startswith("Failed to enqueue execution: contract: ")

    asyncio.run(main())


def test_the_seeds_own_port_serves_the_same_queue() -> None:
    async def main() -> None:
        async with (
            running(server__seed_port="0", host__round_ms="60000") as (up, client),
            Client(up.server.urls[1]) as second,
        ):
            assert up.server.urls[0] != up.server.urls[1]
            await execute(second, golden("request.json"))
            assert json.loads(await text(client, METRICS))[0]["enqueueCount"] == 1

    asyncio.run(main())


@pytest.mark.slow
def test_fifty_concurrent_requests_of_the_load_test_are_executed_once_and_in_order(
    tmp_path: Path,
) -> None:
    """Through HTTP, a file, the remote host adapter and the devnet's socket."""

    async def main() -> None:
        chain = ContractChain(round_ms=10)
        async with (
            ContractSocket(chain, password="secret") as node,
            serving(
                store__path=str(tmp_path / "q.db"),
                store__durability="full",
                host__kind="rest",
                host__url=node.url,
                host__password_file=password(tmp_path),
                host__takes_parent="true",
            ) as client,
        ):
            body = json.loads(golden("request.json"))
            requests = [
                execute(client, json.dumps(body | {"smartContractData": f"test_{number}"}))
                for number in range(1, 51)
            ]
            heard = await asyncio.gather(*requests)
            assert {answer.status for answer in heard} == {200}
            assert all(answer.body["status"] for answer in heard)
            ids = [answer.body["result"]["id"] for answer in heard]
            ended = await asyncio.gather(*map(client.finish, ids))
            assert {tx["status"] for tx in ended} == {"confirmed"}
            by_place = sorted(ended, key=lambda tx: tx["seq"])
            assert [tx["block"] for tx in by_place] == list(range(1, 51))
            on_chain = [block.data for block in chain.history(body["smartContractToken"])]
            assert on_chain[-50:] == [tx["payload"]["data"] for tx in by_place]
            row = json.loads(await text(client, METRICS))[0]
            assert (row["enqueueCount"], row["executeCount"]) == (50, 50)
            assert row["fastHitCount"] + row["slowHitCount"] == 50

    asyncio.run(main())


def password(folder: Path) -> str:
    path = folder / "password"
    path.touch(0o600)
    path.write_text("secret\n")
    return str(path)
