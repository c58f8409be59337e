"""Laws of operations: alive is the process alone, ready names what is wrong, numbers are right."""

import asyncio
from typing import Any

from tests.server.stage import running, serving

from laneway.core.errors import ChainUnreachable, ChainUnreadable, StoreUnknown
from laneway.version import __version__

SERIES = (
    "laneway_contract_fast_depth",
    "laneway_contract_slow_depth",
    "laneway_contract_enqueued_total",
    "laneway_contract_executed_total",
    "laneway_contract_queue_wait_seconds",
    "laneway_contract_execution_seconds",
    "laneway_contract_fast_hits_total",
    "laneway_contract_slow_hits_total",
    "laneway_contract_workers",
)


def wrong(body: Any) -> dict[str, str]:
    return {check["name"]: check["what"] for check in body["checks"] if not check["ok"]}


def test_a_healthy_server_is_alive_and_ready_and_says_how_durable_it_is() -> None:
    async def main() -> None:
        async with serving() as client:
            for path in ("/livez", "/healthz"):
                assert (await client.get(path)).body == {"alive": True}
            ready = await client.get("/readyz")
            assert (ready.status, ready.body["ready"]) == (200, True)
            said = {check["name"]: check["what"] for check in ready.body["checks"]}
            assert said["durability"] == "memory: nothing outlives the process"
            assert said["chain"] == "reachable"

    asyncio.run(main())


def test_a_draining_server_is_alive_and_not_ready() -> None:
    async def main() -> None:
        async with running() as (up, client):
            up.desk.draining = True
            ready = await client.get("/readyz")
            assert (ready.status, list(wrong(ready.body))) == (503, ["draining"])
            assert (await client.get("/livez")).status == 200

    asyncio.run(main())


def test_a_chain_that_cannot_be_reached_is_named() -> None:
    async def main() -> None:
        async with running() as (up, client):

            async def gone(contract: str) -> int:
                raise ChainUnreachable("http://node", "connection refused")

            up.laneway.host.latest_block = gone  # type: ignore[method-assign]
            ready = await client.get("/readyz")
            assert ready.status == 503
            assert wrong(ready.body) == {
                "chain": "http://node cannot be reached: connection refused"
            }
            assert (await client.get("/livez")).status == 200

    asyncio.run(main())


def test_a_chain_that_answers_nonsense_is_reached_all_the_same() -> None:
    async def main() -> None:
        async with running() as (up, client):

            async def odd(contract: str) -> int:
                raise ChainUnreadable("http://node", "no such token")

            up.laneway.host.latest_block = odd  # type: ignore[method-assign]
            assert (await client.get("/readyz")).status == 200

    asyncio.run(main())


def test_a_store_that_cannot_be_written_is_named_and_refuses_with_a_problem() -> None:
    async def main() -> None:
        async with running() as (up, client):
            up.laneway.engine._fail(StoreUnknown("the disk is gone"))
            ready = await client.get("/readyz")
            assert ready.status == 503
            assert "the disk is gone" in wrong(ready.body)["store"]
            body = {"lane": "contract:Qm1", "payload": {"data": "x"}}
            heard = await client.post("/v1/transactions", body)
            assert (heard.status, heard.code) == (503, "store_unknown")
            assert heard.body["retryable"] is False
            assert up.ending.came.is_set()

    asyncio.run(main())


def test_a_heart_that_is_late_is_named() -> None:
    async def main() -> None:
        async with running() as (up, client):
            up.laneway.engine._heart._until_ms = 0
            assert "heartbeat" in wrong((await client.get("/readyz")).body)["store"]

    asyncio.run(main())


def values(text: str) -> dict[str, float]:
    lines = (line.rpartition(" ") for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def test_the_numbers_of_the_seed_are_there_and_right() -> None:
    async def main() -> None:
        async with serving() as client:
            for number in range(7):
                sent = await client.send(str(number))
            await client.finish(sent["id"])
            await client.post("/v1/lanes/contract:Qm1/pause", {"reason": "r"})
            for number in range(8):
                await client.send(str(number))
            heard = await client.get("/metrics")
            assert heard.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            for name in SERIES:
                assert f"# TYPE {name} " in heard.body or f"# TYPE {name[:-6]} " in heard.body
            found = values(heard.body)
            assert found["laneway_contract_fast_depth"] == 5
            assert found["laneway_contract_slow_depth"] == 3
            assert found["laneway_contract_enqueued_total"] == 15
            assert found["laneway_contract_executed_total"] == 7
            hits = found["laneway_contract_fast_hits_total"]
            assert hits + found["laneway_contract_slow_hits_total"] == 15
            assert found["laneway_contract_queue_wait_seconds_count"] == 7
            assert found["laneway_contract_execution_seconds_count"] == 7
            assert found["laneway_contract_workers"] == 1
            assert found[f'laneway_build_info{{version="{__version__}"}}'] == 1

    asyncio.run(main())


def test_series_are_labelled_with_their_contract_only_when_asked_for() -> None:
    async def main() -> None:
        async with serving(server__metrics_per_lane="true", host__round_ms="60000") as client:
            await client.send(lane="contract:Qm1")
            await client.send(lane="contract:Qm2")
            found = values((await client.get("/metrics")).body)
            assert found['laneway_contract_enqueued_total{contract="Qm2"}'] == 1
            assert found['laneway_contract_fast_depth{contract="Qm1"}'] == 0

    asyncio.run(main())


def test_the_tasks_of_the_loop_are_counted() -> None:
    async def main() -> None:
        async with running() as (_, client):
            others = [asyncio.create_task(asyncio.sleep(60)) for _ in range(3)]
            before = values((await client.get("/metrics")).body)["laneway_asyncio_tasks"]
            for other in others:
                other.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            after = values((await client.get("/metrics")).body)["laneway_asyncio_tasks"]
            assert before - after == 3

    asyncio.run(main())
