"""Laws of the contract devnet's wire protocol, spoken by a plain HTTP client on loopback."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientError, ClientSession, ServerDisconnectedError

from laneway.devnets.contract.model import ContractChain, RequestFault
from laneway.devnets.contract.node import socket as contract_socket
from laneway.devnets.contract.node.socket import ContractSocket
from laneway.ports import ContractCall

EXECUTE = "/api/execute-smart-contract"
SIGN_OFF = "/api/signature-response"
CHAIN_DATA = "/api/get-smart-contract-token-chain-data"

Json = dict[str, Any]


class Node:
    """A client that knows nothing but the paths."""

    def __init__(self, socket: ContractSocket, session: ClientSession) -> None:
        self.socket = socket
        self.session = session

    async def post(self, path: str, body: object) -> Json:
        async with self.session.post(self.socket.url + path, json=body) as response:
            assert response.status == 200
            answer: Json = await response.json()
            return answer

    async def ask(self, **more: object) -> Json:
        return await self.post(EXECUTE, body_of() | more)

    async def sign_off(self, asked: Json, password: str = "mypassword") -> Json:
        body = {"id": asked["result"]["id"], "mode": asked["result"]["mode"]}
        return await self.post(SIGN_OFF, body | {"password": password})

    async def execute(self, **more: object) -> Json:
        return await self.sign_off(await self.ask(**more))

    async def blocks(self, *, latest: bool) -> list[Json]:
        answer = await self.post(CHAIN_DATA, {"token": "Qm1", "latest": latest})
        assert answer["status"] is True
        blocks: list[Json] = answer["SCTDataReply"]
        return blocks


def body_of() -> Json:
    return {
        "smartContractToken": "Qm1",
        "executorAddr": "did1",
        "quorumType": 2,
        "smartContractData": "Red",
    }


@asynccontextmanager
async def node(chain: ContractChain | None = None, **options: Any) -> AsyncIterator[Node]:
    async with (
        ContractSocket(chain or ContractChain(round_ms=2), **options) as socket,
        ClientSession() as session,
    ):
        yield Node(socket, session)


def always(fault: RequestFault) -> Callable[[ContractCall], RequestFault]:
    return lambda call: fault


def run(story: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(story())


def test_an_execution_is_asked_for_then_signed_off_then_answered_with_its_block() -> None:
    async def story() -> None:
        async with node() as client:
            asked = await client.ask(comment="executing")
            assert asked["status"] is True
            assert asked["message"] == "Password needed"
            assert sorted(asked["result"]) == ["hash", "id", "mode", "only_priv_key"]
            ended = await client.sign_off(asked)
            assert ended["status"] is True
            assert ended["result"]["BlockNo"] == 1
            assert ended["result"]["BlockId"].startswith("1-")

    run(story)


def test_nothing_runs_before_the_sign_off() -> None:
    async def story() -> None:
        chain = ContractChain(round_ms=0)
        async with node(chain) as client:
            await client.ask()
            assert [block["BlockNo"] for block in await client.blocks(latest=False)] == [0]
            assert chain.contracts() == ()

    run(story)


def test_chain_data_shows_the_latest_block_or_all_of_them() -> None:
    async def story() -> None:
        async with node() as client:
            await client.execute()
            await client.execute(smartContractData="Blue")
            (latest,) = await client.blocks(latest=True)
            assert latest["BlockNo"] == 2
            assert latest["BlockId"].startswith("2-")
            assert latest["SmartContractData"] == "Blue"
            assert latest["ExecutorDID"] == "did1"
            assert isinstance(latest["Epoch"], int)
            history = await client.blocks(latest=False)
            assert [block["BlockNo"] for block in history] == [0, 1, 2]
            assert history[-1] == latest

    run(story)


def test_a_long_history_is_cut_to_its_newest_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract_socket, "HISTORY_COUNT_MAX", 2)

    async def story() -> None:
        async with node() as client:
            for _ in range(3):
                await client.execute()
            assert [block["BlockNo"] for block in await client.blocks(latest=False)] == [2, 3]

    run(story)


@pytest.mark.parametrize("path", [EXECUTE, SIGN_OFF, CHAIN_DATA])
@pytest.mark.parametrize(
    "raw", [b"", b"{", b"[]", b'{"x": 1}', b'{"id": "\xff"}', b'{"x":' + b"[" * 100_000]
)
def test_a_body_that_is_not_exactly_right_is_refused_with_status_false(
    path: str, raw: bytes
) -> None:
    async def story() -> None:
        async with (
            node() as client,
            client.session.post(client.socket.url + path, data=raw) as response,
        ):
            assert response.status == 200
            answer = await response.json()
            assert answer == {"status": False, "message": "Invalid input", "result": None}

    run(story)


@pytest.mark.parametrize(
    "change",
    [{"quorumType": 3}, {"quorumType": "2"}, {"surplus": 1}, {"smartContractData": None}],
)
def test_an_execution_with_a_wrong_field_is_refused(change: Json) -> None:
    async def story() -> None:
        async with node() as client:
            assert (await client.ask(**change))["status"] is False

    run(story)


def test_a_body_beyond_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract_socket, "BODY_BYTES_MAX", 1_000)

    async def story() -> None:
        async with node() as client:
            assert (await client.ask(smartContractData="x" * 2_000))["status"] is False
            assert (await client.ask(smartContractData="x" * 500))["status"] is True

    run(story)


def test_an_id_is_signed_off_once() -> None:
    async def story() -> None:
        async with node() as client:
            asked = await client.ask()
            assert (await client.sign_off(asked))["status"] is True
            second = await client.sign_off(asked)
            assert (second["status"], second["message"]) == (False, "Invalid request ID")
            assert len(await client.blocks(latest=False)) == 2

    run(story)


def test_a_wrong_password_runs_nothing() -> None:
    async def story() -> None:
        async with node(password="mypassword") as client:
            asked = await client.ask()
            assert (await client.sign_off(asked, "guess"))["status"] is False
            assert len(await client.blocks(latest=False)) == 1
            assert (await client.execute())["status"] is True

    run(story)


def test_the_oldest_request_without_a_sign_off_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract_socket, "PENDING_COUNT_MAX", 2)

    async def story() -> None:
        async with node() as client:
            first, second, third = [await client.ask() for _ in range(3)]
            assert (await client.sign_off(first))["status"] is False
            assert (await client.sign_off(second))["status"] is True
            assert (await client.sign_off(third))["status"] is True

    run(story)


def test_without_a_parent_simultaneous_executions_race_for_one_block() -> None:
    async def story() -> None:
        async with node(ContractChain(round_ms=100)) as client:
            asked = [await client.ask(smartContractData=f"test_{i}") for i in range(10)]
            ended = await asyncio.gather(*map(client.sign_off, asked))
            assert sorted(end["status"] for end in ended) == [False] * 9 + [True]
            for end in ended:
                assert end["status"] or "token chain creation failed" in end["message"]

    run(story)


def test_a_named_parent_is_kept() -> None:
    async def story() -> None:
        async with node() as client:
            assert (await client.execute(parentBlock=0))["result"]["BlockNo"] == 1
            stale = await client.execute(parentBlock=0)
            assert stale["status"] is False
            assert "sequence missing" in stale["message"]

    run(story)


def test_a_refusal_and_a_failed_consensus_are_told_with_their_reasons() -> None:
    async def story() -> None:
        async with node(ContractChain(round_ms=1, refuses=lambda call: "too red")) as client:
            refused = await client.execute()
            assert refused["status"] is False
            assert "too red" in refused["message"]
        async with node(fault=always(RequestFault.CRASH_TOLD)) as client:
            failed = await client.execute()
            assert failed["status"] is False
            assert "consensus failed, retry" in failed["message"]

    run(story)


@pytest.mark.parametrize(("fault", "height"), [(RequestFault.LOST, 1), (RequestFault.CRASH, 0)])
def test_an_untold_end_drops_the_connection(fault: RequestFault, height: int) -> None:
    async def story() -> None:
        async with node(fault=always(fault)) as client:
            asked = await client.ask()
            with pytest.raises(ServerDisconnectedError):
                await client.sign_off(asked)
            (latest,) = await client.blocks(latest=True)
            assert latest["BlockNo"] == height

    run(story)


def test_a_hanging_node_never_answers_but_still_writes() -> None:
    async def story() -> None:
        async with node(fault=always(RequestFault.LOST), hang=True) as client:
            asked = await client.ask()
            waiting = asyncio.ensure_future(client.sign_off(asked))
            while (await client.blocks(latest=True))[0]["BlockNo"] == 0:
                await asyncio.sleep(0.001)
            assert not waiting.done()
            waiting.cancel()

    run(story)


def test_closing_lets_waiting_calls_go() -> None:
    async def story() -> None:
        async with ClientSession() as session:
            async with ContractSocket(ContractChain(round_ms=600_000)) as socket:
                client = Node(socket, session)
                waiting = asyncio.ensure_future(client.execute())
                await until(lambda: socket._chain.running("Qm1") == 1)
            with pytest.raises(ClientError):
                await waiting

    run(story)


def test_a_restart_forgets_requests_and_kills_rounds() -> None:
    async def story() -> None:
        chain = ContractChain(round_ms=600_000)
        async with node(chain) as client:
            pending = await client.ask()
            waiting = asyncio.ensure_future(client.execute())
            await until(lambda: chain.running("Qm1") == 1)
            client.socket.restart()
            with pytest.raises(ServerDisconnectedError):
                await waiting
            assert (await client.sign_off(pending))["status"] is False
            assert chain.latest("Qm1") == 0

    run(story)


def test_a_socket_that_was_never_entered_can_be_left() -> None:
    async def story() -> None:
        socket = ContractSocket(ContractChain())
        await socket.__aexit__(None, None, None)
        async with socket:  # It was not spoilt by that.
            assert socket.url.startswith("http://127.0.0.1:")

    run(story)


async def until(holds: Callable[[], bool]) -> None:
    while not holds():
        await asyncio.sleep(0.001)
