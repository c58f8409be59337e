"""Laws of the REST host: what each answer, and each missing answer, proves."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from laneway.chains import contract_rest
from laneway.chains.contract_rest import WORDS, RefusalPhrase, RestHost
from laneway.core.errors import BadRequest, ChainUnreachable, ChainUnreadable
from laneway.core.limits import REASON_CHARS_MAX
from laneway.core.outcome import Outcome
from laneway.devnets.contract.model import ContractChain, RequestFault
from laneway.devnets.contract.node.socket import ContractSocket
from laneway.ports import ChainFinding, ContractCall, ContractHost, Execution

CALL = ContractCall("Qm1", "did1", "Red")
ASKED = {"id": "C22411FC", "mode": 4, "hash": None, "only_priv_key": False}
SIGNED_OFF = {"id": "C22411FC", "mode": 4, "password": "mypassword"}
PASSWORD_NEEDED = {"status": True, "message": "Password needed", "result": ASKED}

Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]
Story = Callable[[], Coroutine[Any, Any, None]]


class BrokenNode:
    """A raw server: each path has its replies, the last one again and again."""

    def __init__(self, **replies: list[Reply]) -> None:
        self.replies = replies
        self.bodies: list[dict[str, Any]] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            self.bodies.append(json.loads(await reader.readexactly(size)))
            word = head.split(b" ")[1].decode().rpartition("/")[2].split("-")[0]
            replies = self.replies[word]
            await (replies.pop(0) if len(replies) > 1 else replies[0])(writer)
        finally:
            writer.close()


@asynccontextmanager
async def broken(**replies: list[Reply]) -> AsyncIterator[BrokenNode]:
    """Paths are named by their first word: execute, signature, get."""
    node = BrokenNode(**replies)
    server = await asyncio.start_server(node.serve, "127.0.0.1", 0)
    node.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield node


def says(body: object, status: int = 200) -> Reply:
    return raw(json.dumps(body).encode(), status)


def raw(body: bytes, status: int = 200, size: int | None = None) -> Reply:
    length = len(body) if size is None else size
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"

    async def reply(writer: asyncio.StreamWriter) -> None:
        writer.write(head.encode() + body)
        await writer.drain()

    return reply


async def reset(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def hang(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(0.2)


def refuses(message: str) -> Reply:
    return says({"status": False, "message": message, "result": None})


def block(number: int, data: str = "Red", **more: object) -> dict[str, object]:
    return {"BlockNo": number, "BlockId": f"{number}-x", "SmartContractData": data} | more


def chain_data(*blocks: dict[str, object]) -> Reply:
    return says({"status": True, "message": "", "result": None, "SCTDataReply": blocks})


@asynccontextmanager
async def host_of(url: str, **options: Any) -> AsyncIterator[RestHost]:
    host = RestHost(url, password="mypassword", **options)
    try:
        yield host
    finally:
        await host.close()


@asynccontextmanager
async def devnet(chain: ContractChain | None = None, **options: Any) -> AsyncIterator[RestHost]:
    traits = {"takes_parent": options.pop("takes_parent", False)}
    async with (
        ContractSocket(
            chain or ContractChain(round_ms=2), password="mypassword", **options
        ) as socket,
        host_of(socket.url, **traits) as host,
    ):
        yield host


def run(story: Story) -> None:
    asyncio.run(story())


def signed_off(reply: Reply, **options: Any) -> Execution:
    """The outcome of an execution whose sign-off gets this reply."""

    async def story() -> Execution:
        async with (
            broken(execute=[says(PASSWORD_NEEDED)], signature=[reply], get=[reset]) as node,
            host_of(node.url, **options) as host,
        ):
            answer = await host.execute(CALL, 0)
            # A short deadline may pass before a busy machine reads the sign-off.
            assert node.bodies[1:2] in ([], [SIGNED_OFF])
            return answer

    return asyncio.run(story())


def found(newest: Reply, history: Reply, parent: int, **options: Any) -> ChainFinding:
    async def story() -> ChainFinding:
        async with (
            broken(get=[newest, history]) as node,
            host_of(node.url, **options) as host,
        ):
            return await host.find(CALL, parent)

    return asyncio.run(story())


def test_a_rest_host_is_a_contract_host() -> None:
    host: ContractHost = RestHost("http://127.0.0.1:20000/", password="")
    assert not host.traits.takes_parent
    assert host.traits.has_chain


@pytest.mark.parametrize("url", ["127.0.0.1:20000", "ftp://node", "http://", ""])
def test_an_address_that_is_no_http_url_is_refused_at_once(url: str) -> None:
    with pytest.raises(BadRequest):
        RestHost(url, password="")


def test_an_execution_on_the_devnet_makes_the_next_block() -> None:
    async def story() -> None:
        async with devnet() as host:
            assert await host.latest_block("Qm1") == 0
            assert await host.execute(CALL, 0) == Execution(Outcome.ACCEPTED, block=1)
            assert await host.execute(CALL, 1) == Execution(Outcome.ACCEPTED, block=2)
            assert await host.latest_block("Qm1") == 2
            assert await host.find(CALL, 0) == ChainFinding(2, 1)
            assert host.unknown_words_count == 0

    run(story)


def test_the_parent_is_named_only_to_a_host_that_takes_it() -> None:
    async def story(takes_parent: bool) -> dict[str, Any]:
        async with (
            broken(get=[chain_data(block(7))], execute=[refuses("no")]) as node,
            host_of(node.url, takes_parent=takes_parent) as host,
        ):
            await host.execute(CALL, 7)
            return node.bodies[1]

    plain = asyncio.run(story(False))
    assert plain == {
        "smartContractToken": "Qm1",
        "executorAddr": "did1",
        "quorumType": 2,
        "smartContractData": "Red",
        "comment": "",
    }
    assert asyncio.run(story(True)) == plain | {"parentBlock": 7}


def test_a_conflict_is_a_stale_refusal() -> None:
    async def story() -> None:
        async with devnet(takes_parent=True) as host:
            await host.execute(CALL, 0)
            answer = await host.execute(CALL, 0)
            assert answer.outcome is Outcome.REFUSED
            assert answer.stale
            assert not answer.final

    run(story)


def test_the_devnets_refusals_and_failures_are_known_words() -> None:
    async def story() -> None:
        async with devnet(ContractChain(round_ms=1, refuses=lambda call: "never")) as host:
            refused = await host.execute(CALL, 0)
            assert refused.outcome is Outcome.REFUSED
            assert refused.final
            assert "never" in refused.reason
        async with devnet(fault=lambda call: RequestFault.CRASH_TOLD) as host:
            failed = await host.execute(CALL, 0)
            assert failed.outcome is Outcome.REFUSED
            assert not failed.final
            assert not failed.stale
            assert host.unknown_words_count == 0

    run(story)


@pytest.mark.parametrize(("fault", "block"), [(RequestFault.LOST, 1), (RequestFault.CRASH, None)])
def test_a_dropped_connection_is_unknown_whatever_happened(
    fault: RequestFault, block: int | None
) -> None:
    async def story() -> None:
        async with devnet(fault=lambda call: fault) as host:
            assert (await host.execute(CALL, 0)).outcome is Outcome.UNKNOWN
            assert (await host.find(CALL, 0)).block == block

    run(story)


def test_a_wrong_password_is_refused_but_not_for_good() -> None:
    async def story() -> None:
        chain = ContractChain(round_ms=1)
        async with (
            ContractSocket(chain, password="another") as socket,
            host_of(socket.url) as host,
        ):
            answer = await host.execute(CALL, 0)
            assert answer.outcome is Outcome.REFUSED
            assert not answer.final
            assert chain.latest("Qm1") == 0

    run(story)


@pytest.mark.parametrize(
    "reply",
    [
        reset,
        raw(b"not json"),
        raw(b"{"),
        raw(b""),
        raw(b'{"status": true, "message": "\xff"}'),
        raw(b'{"status": true, "x":' + b"[" * 100_000),
        raw(b'{"status": true', size=100),
        says({"message": "no status"}),
        says([]),
        says({"status": True, "message": "Executed"}, status=500),
        says({"status": True, "message": "Executed"}, status=502),
        says({"status": True, "message": "Executed"}, status=404),
        says({"status": True, "message": "Executed"}, status=307),
        says({"status": True, "message": "Executed", "result": {"BlockNo": -1}}),
        says({"status": True, "message": "Executed", "result": {"BlockNo": 1 << 64}}),
        says(PASSWORD_NEEDED),
    ],
)
def test_a_broken_answer_to_the_sign_off_is_unknown(reply: Reply) -> None:
    answer = signed_off(reply)
    assert answer.outcome is Outcome.UNKNOWN
    assert answer.reason
    assert not answer.final
    assert not answer.stale


def test_silence_past_the_deadline_is_unknown() -> None:
    answer = signed_off(hang, answer_ms=20)
    assert answer.outcome is Outcome.UNKNOWN
    assert "0.02 s" in answer.reason


def test_an_answer_beyond_the_limit_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract_rest, "ANSWER_BYTES_MAX", 1_000)
    assert signed_off(says({"status": True, "message": "x" * 1_000})).outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(
    "message",
    [
        "something new",
        "",
        "Invalid request ID",
        "Consensus failedfailed to update pledge token status",
        # A peer's words behind the write must not look like a refusal of the request.
        "Consensus failedInvalid input",
    ],
)
def test_a_refused_sign_off_in_words_that_prove_nothing_is_unknown(message: str) -> None:
    answer = signed_off(refuses(message))
    assert answer == Execution(Outcome.UNKNOWN, reason=message)


@pytest.mark.parametrize("row", WORDS, ids=lambda row: row.words)
def test_every_row_of_the_table_decides_for_its_own_words(row: RefusalPhrase) -> None:
    message = f"So: {row.words.upper()}, he said"
    answer = signed_off(refuses(message))
    assert answer == Execution(row.outcome, final=row.final, stale=row.stale, reason=message)


def test_only_a_refusal_can_be_final_or_stale_and_never_both() -> None:
    for row in WORDS:
        assert row.words == row.words.lower()
        assert row.outcome is not Outcome.ACCEPTED
        assert row.outcome is Outcome.REFUSED or not (row.final or row.stale)
        assert not (row.final and row.stale)


def test_the_table_can_be_replaced_and_unknown_words_are_counted() -> None:
    async def story() -> None:
        words = (RefusalPhrase("nope", Outcome.REFUSED, final=True),)
        async with (
            broken(
                execute=[says(PASSWORD_NEEDED)],
                signature=[refuses("Nope."), refuses("sequence missing")],
            ) as node,
            host_of(node.url) as host,
        ):
            host.words = words
            assert (await host.execute(CALL, 0)).final
            assert host.unknown_words_count == 0
            assert (await host.execute(CALL, 0)).outcome is Outcome.UNKNOWN
            assert host.unknown_words_count == 1

    run(story)


def test_a_reason_is_kept_short() -> None:
    assert len(signed_off(refuses("x" * 9_999)).reason) == REASON_CHARS_MAX


def asked(reply: Reply, **options: Any) -> Execution:
    """The outcome of an execution whose first call gets this reply; no sign-off may follow."""

    async def story() -> Execution:
        async with broken(execute=[reply]) as node, host_of(node.url, **options) as host:
            try:
                return await host.execute(CALL, 0)
            finally:
                assert len(node.bodies) <= 1

    return asyncio.run(story())


@pytest.mark.parametrize("reply", [reset, raw(b'{"status": true', size=100), hang])
def test_a_first_call_without_an_answer_proves_that_nothing_ran(reply: Reply) -> None:
    with pytest.raises(ChainUnreachable):
        asked(reply, read_ms=20)


@pytest.mark.parametrize("reply", [raw(b"not json"), says(PASSWORD_NEEDED, status=500)])
def test_a_first_call_with_an_unreadable_answer_is_refused_but_not_for_good(reply: Reply) -> None:
    answer = asked(reply)
    assert answer.outcome is Outcome.REFUSED
    assert not answer.final


def test_a_refused_first_call_is_refused_even_in_unknown_words() -> None:
    assert asked(refuses("something new")) == Execution(Outcome.REFUSED, reason="something new")
    assert asked(refuses("Invalid quorum type")).final


@pytest.mark.parametrize("result", [None, {}, {"BlockNo": 1}, "done"])
def test_a_first_call_that_needs_no_password_may_have_run(result: object) -> None:
    answer = asked(says({"status": True, "message": "Executed", "result": result}))
    assert answer.outcome is Outcome.UNKNOWN


def test_a_node_that_cannot_be_reached_was_sent_nothing() -> None:
    async def story() -> None:
        async with broken() as node:
            url = node.url
        async with host_of(url) as host:
            for attempt in (host.execute(CALL, 0), host.find(CALL, 0), host.latest_block("Qm1")):
                with pytest.raises(ChainUnreachable):
                    await attempt

    run(story)


def test_a_sign_off_that_cannot_connect_was_never_sent() -> None:
    async def story() -> None:
        server: asyncio.Server | None = None

        async def close_then_ask(writer: asyncio.StreamWriter) -> None:
            assert server is not None
            server.close()
            await says(PASSWORD_NEEDED)(writer)

        node = BrokenNode(execute=[close_then_ask])
        server = await asyncio.start_server(node.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with host_of(f"http://127.0.0.1:{port}") as host:
            with pytest.raises(ChainUnreachable):
                await host.execute(CALL, 0)
        assert len(node.bodies) == 1

    run(story)


def test_a_closed_host_sends_nothing() -> None:
    async def story() -> None:
        async with devnet() as host:
            await host.latest_block("Qm1")
            await host.close()
            with pytest.raises(ChainUnreachable):
                await host.execute(CALL, 0)

    run(story)


def test_a_cancelled_execution_is_not_tried_again() -> None:
    async def story() -> None:
        chain = ContractChain(round_ms=5)
        async with devnet(chain) as host:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(host.execute(CALL, 0), 0.003)
            await asyncio.sleep(0.02)
            assert await host.latest_block("Qm1") <= 1

    run(story)


def test_success_without_a_number_is_looked_up_on_the_chain() -> None:
    done = says({"status": True, "message": "Executed successfully in 50.1s", "result": None})

    async def story() -> None:
        async with (
            broken(
                execute=[says(PASSWORD_NEEDED)],
                signature=[done],
                get=[chain_data(block(8, ExecutorDID="did1"))],
            ) as node,
            host_of(node.url) as host,
        ):
            assert await host.execute(CALL, 7) == Execution(Outcome.ACCEPTED, block=8)

    run(story)
    assert signed_off(done) == Execution(Outcome.ACCEPTED, block=None)
    assert signed_off(done, takes_parent=True) == Execution(Outcome.ACCEPTED, block=1)


def test_a_chain_that_did_not_grow_needs_no_history() -> None:
    assert found(chain_data(block(4)), reset, 4) == ChainFinding(4, None)
    assert found(chain_data(block(3)), reset, 4) == ChainFinding(3, None)


@pytest.mark.parametrize("key", ["ExecutorDID", "executor"])
@pytest.mark.parametrize("executor", ["did1", "someone"])
def test_the_next_block_is_ours_with_our_executor_and_data(key: str, executor: str) -> None:
    newest = chain_data(block(5, **{key: executor}))
    assert found(newest, reset, 4) == ChainFinding(5, 5 if executor == "did1" else None)


def test_an_executor_address_matches_its_identity_on_the_chain() -> None:
    async def story() -> None:
        call = ContractCall("Qm1", "12D3Koo.bafybmi", "Red")
        async with (
            broken(get=[chain_data(block(5, ExecutorDID="bafybmi"))]) as node,
            host_of(node.url) as host,
        ):
            assert await host.find(call, 4) == ChainFinding(5, 5)

    run(story)


def test_without_a_parent_the_first_block_of_ours_behind_it_counts() -> None:
    newest = block(6, ExecutorDID="did1")
    history = chain_data(block(4, ExecutorDID="did1"), block(5, "Blue"), newest)
    assert found(chain_data(newest), history, 4) == ChainFinding(6, 6)


def test_with_a_parent_only_the_next_block_counts() -> None:
    newest = block(6, ExecutorDID="did1")
    history = chain_data(block(4, ExecutorDID="did1"), block(5, "Blue"), newest)
    assert found(chain_data(newest), history, 4, takes_parent=True) == ChainFinding(6, None)


def test_blocks_may_stand_in_the_result_and_numbers_in_strings() -> None:
    rows = [{"BlockNo": "5", "SmartContractData": "Red", "executor": "did1"}]
    assert found(says({"status": True, "result": rows}), reset, 4) == ChainFinding(5, 5)


@pytest.mark.parametrize(
    ("newest", "history"),
    [
        (chain_data(), reset),
        (says({"status": True, "message": "", "result": None}), reset),
        (refuses("token does not exist"), reset),
        (raw(b"not json"), reset),
        (raw(b"", status=500), reset),
        (says({"status": True, "SCTDataReply": [{"BlockId": "5-x"}]}), reset),
        # A number that no chain of blocks can have.
        (chain_data(block(-1)), reset),
        (chain_data(block(1 << 53)), reset),
        (chain_data(block(10**100)), reset),
        # Absence is claimed only of blocks that were shown.
        (chain_data(block(9)), chain_data(block(0, "Blue"), block(1, "Blue"))),
        (chain_data(block(9)), chain_data(block(9))),
        # Our data without an executor may be ours.
        (chain_data(block(5)), reset),
    ],
)
def test_a_chain_that_cannot_be_read_claims_nothing(newest: Reply, history: Reply) -> None:
    with pytest.raises(ChainUnreadable):
        found(newest, history, 4)


@pytest.mark.parametrize("reply", [reset, hang])
def test_a_read_without_an_answer_is_unreachable(reply: Reply) -> None:
    with pytest.raises(ChainUnreachable):
        found(reply, reply, 4, read_ms=20)


SECRET = "hidden-key-7"


def text_of(error: BaseException | None) -> str:
    """All that a traceback, a log or a program could show of an error."""
    return "" if error is None else f"{error!r} {error} {vars(error)} {text_of(error.__cause__)}"


def with_secrets(url: str) -> str:
    return f"{url.replace('://', f'://me:{SECRET}@')}/{SECRET}"


def echo(writer: asyncio.StreamWriter) -> Awaitable[None]:
    said = f"/{SECRET} was not found; mypassword is wrong"
    return raw(said.encode(), 404)(writer)


@pytest.mark.parametrize("reply", [echo, reset, refuses(f"{SECRET} and mypassword are wrong")])
def test_no_error_shows_the_secrets_of_the_address(reply: Reply) -> None:
    async def story() -> None:
        async with (
            broken(get=[reply], execute=[reply]) as node,
            host_of(with_secrets(node.url)) as host,
        ):
            with pytest.raises((ChainUnreachable, ChainUnreadable)) as caught:
                await host.latest_block("Qm1")
            said = text_of(caught.value)
            try:
                said += repr(await host.execute(CALL, 0))
            except ChainUnreachable as error:
                said += text_of(error)
        assert SECRET not in said
        assert "mypassword" not in said
        assert node.url.removeprefix("http://") in said

    run(story)


def test_a_dead_node_is_named_without_the_secrets_of_its_address() -> None:
    async def story() -> None:
        async with broken() as node:
            url = node.url
        async with host_of(with_secrets(url)) as host:
            with pytest.raises(ChainUnreachable) as caught:
                await host.latest_block("Qm1")
        assert SECRET not in text_of(caught.value)
        assert caught.value.endpoint == f"{url.replace('://', '://(redacted)@')}/(redacted)"

    run(story)


@pytest.mark.parametrize(
    "url", [f"me:{SECRET}@node", f"http://me:{SECRET}/x@node", f"http://a:{SECRET}", "http://["]
)
def test_an_address_that_is_refused_is_named_without_its_secrets(url: str) -> None:
    with pytest.raises(BadRequest, match="not an address") as caught:
        RestHost(url, password="")
    assert SECRET not in text_of(caught.value)


@pytest.mark.parametrize("end", [f"?key={SECRET}", f"/x?{SECRET}", f"#{SECRET}", "?", "#"])
def test_an_address_to_which_no_path_can_be_appended_is_refused(end: str) -> None:
    with pytest.raises(BadRequest, match="has no \\? and no #") as caught:
        RestHost(f"http://127.0.0.1:20000{end}", password="")
    assert SECRET not in text_of(caught.value)


def test_a_node_without_a_block_that_was_seen_lags_or_serves_another_chain() -> None:
    async def story() -> None:
        replies = [
            chain_data(block(7)),
            chain_data(block(5)),
            refuses("no such token"),
            chain_data(),
            chain_data(block(7)),
        ]
        async with broken(get=replies) as node, host_of(node.url) as host:
            assert await host.latest_block("Qm1") == 7
            assert await host.latest_block("Qm1") == 5
            (found,) = host.standings()
            assert (found.trouble, found.node) == ("wrong_chain", node.url)
            assert found.problem.startswith("answers block 5 of Qm1, laneway has seen block 7")
            for answer in ("no block of Qm1: no such token", "no block of Qm1"):
                await host.probe(10_000, 0)
                (found,) = host.standings()
                assert found.problem.startswith(f"answers {answer}, laneway has seen block 7")
            await host.probe(10_000, 0)
            assert host.standings()[0].trouble == ""

    run(story)


def test_a_node_that_knows_no_contract_yet_is_there_and_another_server_is_not() -> None:
    async def story() -> None:
        replies = [refuses("no such token"), raw(b"<html>", 404), chain_data(block(1))]
        async with broken(get=replies) as node, host_of(node.url) as host:
            await host.probe(10_000, 0)
            assert host.standings()[0].trouble == ""
            await host.probe(10_000, 60_000)
            assert len(node.bodies) == 1
            await host.probe(10_000, 0)
            assert host.standings()[0].trouble == "node_unreadable"
            host.witness = ("Qm2", 3)
            await host.latest_block("Qm1")
            assert host.standings()[0].trouble == ""
            assert host.witness == ("Qm2", 3)

    run(story)


def test_nothing_is_executed_by_a_node_that_lacks_a_block_that_was_seen() -> None:
    async def story() -> None:
        replies = [chain_data(block(5)), refuses("no such token"), chain_data(block(7))]
        execute = [says(PASSWORD_NEEDED)]
        async with (
            broken(get=replies, execute=execute, signature=[refuses("x")]) as node,
            host_of(node.url) as host,
        ):
            host.witness = ("Qm1", 7)
            for _ in range(2):
                with pytest.raises(ChainUnreachable, match="laneway has seen block 7"):
                    await host.execute(CALL, 7)
            assert not any("smartContractData" in body for body in node.bodies)
            assert (await host.execute(CALL, 7)).outcome is Outcome.UNKNOWN

    run(story)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (chain_data(block(1)), "answers block 1 of Qm1, laneway has seen block 3"),
        (chain_data(), "answers no block of Qm1, laneway has seen block 3"),
        (refuses("no token"), "answers no block of Qm1: no token, laneway has seen block 3"),
        (raw(b"<html>"), "block 3 of Qm1 was not shown, and nothing was sent"),
    ],
)
def test_a_parent_that_the_node_never_showed_is_asked_for_before_anything_is_sent(
    answer: Reply, words: str
) -> None:
    async def story() -> None:
        replies = [answer, answer, chain_data(block(3)), chain_data(block(1))]
        execute = [says(PASSWORD_NEEDED)]
        async with (
            broken(get=replies, execute=execute, signature=[refuses("x")]) as node,
            host_of(node.url) as host,
        ):
            for _ in range(2):
                with pytest.raises(ChainUnreachable, match=words):
                    await host.execute(CALL, 3)
            assert not any("smartContractData" in body for body in node.bodies)
            assert (await host.execute(CALL, 3)).outcome is Outcome.UNKNOWN
            assert host.standings()[0].trouble == ""
            asked = len(node.bodies)
            await host.execute(CALL, 3)
            assert [*node.bodies[asked]] == [*node.bodies[asked - 2]], "it is not asked again"

    run(story)


def test_a_block_that_the_node_made_or_showed_is_not_asked_for_again() -> None:
    async def story() -> None:
        async with devnet(takes_parent=True) as host:
            asked: list[str] = []
            exchange = host._exchange

            async def counted(path: str, *rest: Any) -> Any:
                asked.append(path)
                return await exchange(path, *rest)

            host._exchange = counted  # type: ignore[method-assign, assignment]
            for parent in range(3):
                assert (await host.execute(CALL, parent)).block == parent + 1
            assert asked == [contract_rest.EXECUTE, contract_rest.SIGN_OFF] * 3

    run(story)


def test_a_contract_without_blocks_needs_the_block_that_was_seen_of_another() -> None:
    """The answer for a new contract proves nothing of which chain it is on."""

    async def story() -> None:
        replies = [chain_data(block(0)), refuses("no such token"), chain_data(block(7))]
        execute = [says(PASSWORD_NEEDED)]
        async with (
            broken(get=replies, execute=execute, signature=[refuses("x")]) as node,
            host_of(node.url) as host,
        ):
            host.witness = ("Qm2", 7)
            assert await host.latest_block("Qm1") == 0
            with pytest.raises(ChainUnreachable, match=r"no block of Qm2.*has seen block 7"):
                await host.execute(CALL, 0)
            assert not any("smartContractData" in body for body in node.bodies)
            assert (await host.execute(CALL, 0)).outcome is Outcome.UNKNOWN

    run(story)


def test_a_node_that_lost_a_block_of_a_contract_executes_nothing_of_it() -> None:
    """Though it has the block that was seen of another."""

    async def story() -> None:
        other, ours = chain_data(block(3)), chain_data(block(7))
        replies = [other, ours, chain_data(block(5)), other, chain_data(block(5)), other, ours]
        execute = [says(PASSWORD_NEEDED)]
        async with (
            broken(get=replies, execute=execute, signature=[refuses("x")]) as node,
            host_of(node.url) as host,
        ):
            await host.latest_block("Qm2")
            assert await host.latest_block("Qm1") == 7
            assert await host.latest_block("Qm1") == 5
            with pytest.raises(ChainUnreachable, match="block 5 of Qm1, laneway has seen block 7"):
                await host.execute(CALL, 7)
            assert not any("smartContractData" in body for body in node.bodies)
            assert (await host.execute(CALL, 7)).outcome is Outcome.UNKNOWN

    run(story)
