"""What users of such systems praise and keep asking for, each as a law of the door.

One row for each system, with what we do for its users. Its tests stand below or where the row says.

| system | what we do | law |
|---|---|---|
| OpenZeppelin Relayer | a place is derived from rows, never counted; begun is not sent; both directions | `tests/lanes/contract/test_laws.py` for a contract's height, `tests/lanes/eoa/test_laws.py` for nonces |
| rrelayer | cancelling leaves no hole | `test_cancelling_one_leaves_no_hole_behind_it` |
| bcnmy | cancel by API, CLI and client | `test_what_waits_is_taken_back_by_api_command_and_client`; bump: `tests/{server,client,cli}/test_accounts.py` |
| ithaca relay | what the chain says closes what is open | `tests/lanes/contract/test_absence.py`; gaps and fees come with EOA lanes |
| thirdweb Engine | Idempotency-Key, for ever | `test_a_key_outlives_its_transaction`; reset-nonce and no-ops: `tests/server/test_accounts.py` |
| Gear | a repeated request never makes a second job | `test_a_repeated_request_*` |
| Celestia | recovering is shown | `test_a_lane_that_lost_its_node_*`; sequences come with sequence lanes |
| Temporal | every action by API, who and why, timers | `test_every_action_is_audited`, `test_a_lane_that_lost_its_node_*` |
| bull-board | pause and resume, one or all; read-only that is | `test_all_lanes_are_paused_and_resumed_at_once`, `test_a_key_that_may_only_read_cannot_act`; counts in menus come with the dashboard |
| Flower | retry sends the stored request | `test_a_retry_is_the_stored_request_byte_for_byte` |
| celery-insights | scopes from day one | `test_a_key_that_may_only_read_cannot_act`, `tests/server/test_access.py` |
| Sidekiq | a paused lane says who, why, when; search | `test_a_paused_lane_says_who_why_and_since_when`, `test_a_transaction_is_found_by_id_and_by_key`; by hash and nonce: `tests/server/test_accounts.py` |
| Oban Web | indexed filters, keyset pages | `tests/stores/test_database.py` (no query plan scans), `test_no_statement_skips_rows_by_counting`; the live toggle comes with the dashboard |
| RedisInsight | server-side paging at 100k | `test_a_hundred_thousand_are_paged_without_gap_or_repeat` |
| Otterscan, Blockscout, Stacks | what is dropped never looks pending or confirmed | `test_what_is_dropped_never_shows_as_pending_or_confirmed`; nonce pages come with EOA lanes and the dashboard |
| cast, anvil | `--json` everywhere, secrets in files | `test_every_command_that_tells_something_tells_it_as_json`, `test_no_secret_is_taken_from_the_command_line`; `key import` comes with signers |
| lightwalletd | alive is not ready; connections counted; the backend tried for ever | `tests/server/test_health.py`, `test_connections_are_counted`, `test_a_lane_that_lost_its_node_*` |
| geth console | – | JSON-RPC and the shell come with EOA lanes |
"""  # noqa: E501 - a table's row is a line.

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from tests.cli.stage import Terminal, beside
from tests.fleet.stores import started
from tests.server.stage import CALL, Client, running, serving
from tests.wiring.hooked import configured, hooked

from laneway.cli.app import app
from laneway.cli.app import commands as listed
from laneway.client.asynchronous import AsyncClient
from laneway.core.errors import ChainUnreachable
from laneway.ports import ContractCall, Execution
from laneway.wire.values import DrainOrder, Order
from laneway.wiring.keys import as_toml, new_key

WHY = {"reason": "node upgrade"}
SLOW = {"host__round_ms": "60000"}
KEY = {"Idempotency-Key": "order-7"}
LANE = "/v1/lanes/contract:Qm1"
PAST = "2020-01-01T00:00:00Z"
NOBODY = "tx_" + "0" * 32


def on_file(folder: Path, **more: str) -> dict[str, str]:
    return {"store__path": str(folder / "a.db"), "store__durability": "full", **more}


async def words(client: Client, status: str) -> list[str]:
    """The data of all transactions with this status."""
    items = (await client.get(f"/v1/transactions?status={status}")).body["items"]
    return sorted(tx["payload"]["data"] for tx in items)


# Never a second job, never a hole.


def test_a_repeated_request_makes_no_second_job_however_many_come_at_once() -> None:
    """Gear: a repeated request restarted an active transaction and doubled it."""

    async def main() -> None:
        async with serving(**SLOW) as client:
            asked = (client.post("/v1/transactions", CALL, **KEY) for _ in range(50))
            heard = await asyncio.gather(*asked)
            assert {answer.status for answer in heard} == {202}
            assert len({answer.body["id"] for answer in heard}) == 1
            replayed = [answer.headers.get("Idempotent-Replayed") for answer in heard]
            assert sorted(map(str, replayed)) == ["None"] + ["true"] * 49
            assert (await client.get(LANE)).body["queue"]["enqueued"] == 1

    asyncio.run(main())


def test_a_repeated_request_makes_no_second_job_across_a_restart(tmp_path: Path) -> None:
    """Gear: while it runs, when it has ended, and after the process was another."""

    async def main() -> None:
        seen = set()
        for _ in range(3):
            async with serving(**on_file(tmp_path)) as client:
                for form in ("order-7", '"order-7"'):
                    first = await client.post("/v1/transactions", CALL, **{"Idempotency-Key": form})
                    other = await client.post(
                        "/v1/transactions", CALL, **{"x-idempotency-key": form}
                    )
                    seen |= {first.body["id"], other.body["id"]}
                    await client.finish(first.body["id"])
                assert (await client.get(LANE)).body["queue"]["enqueued"] == 1
        assert len(seen) == 1

    asyncio.run(main())


@pytest.mark.slow
@pytest.mark.parametrize("store", ["postgres", "redis"])
def test_a_repeated_request_makes_no_second_job_in_a_fleet(store: str) -> None:
    """Gear: two processes that hear the same request at the same time."""

    async def main(url: str) -> None:
        lane = f"contract:Gear{store}"
        flags = {"store__path": url, "store__durability": "full", **SLOW}
        async with serving(**flags) as one, serving(**flags) as two:
            for number in range(10):
                body = {"lane": lane, "payload": {"data": str(number)}}
                key = {"Idempotency-Key": f"order-{number}"}
                asked = (client.post("/v1/transactions", body, **key) for client in (one, two) * 5)
                heard = await asyncio.gather(*asked)
                assert {answer.status for answer in heard} == {202}
                assert len({answer.body["id"] for answer in heard}) == 1
            assert (await two.get(f"/v1/lanes/{lane}")).body["queue"]["enqueued"] == 10

    with started(store) as server:
        asyncio.run(main(server.url))


def test_a_key_outlives_its_transaction() -> None:
    """thirdweb: an idempotency key that expires after a day doubles what is sent on the second."""

    async def main() -> None:
        async with running() as (up, client):
            first = await client.post("/v1/transactions", CALL, **KEY)
            await client.finish(first.body["id"])
            assert await up.laneway.store.prune(1 << 50, 0, 100) == 1
            again = await client.post("/v1/transactions", CALL, **KEY)
            assert again.body["id"] == first.body["id"]
            assert again.headers["Idempotent-Replayed"] == "true"
            other = await client.post(
                "/v1/transactions", CALL | {"payload": {"data": "other"}}, **KEY
            )
            assert (other.status, other.code) == (422, "idempotency_conflict")

    asyncio.run(main())


def test_cancelling_one_leaves_no_hole_behind_it() -> None:
    """rrelayer: cancelling one pending transaction left all later ones stuck."""

    async def main() -> None:
        async with serving() as client:
            await client.finish((await client.send("first"))["id"])
            await client.post(f"{LANE}/pause", WHY)
            sent = [(await client.send(str(number)))["id"] for number in range(5)]
            await client.post(f"/v1/transactions/{sent[2]}/cancel", WHY)
            await client.post(f"{LANE}/resume", WHY)
            done = [await client.finish(intent) for intent in sent]
            assert [tx["block"] for tx in done] == [2, 3, None, 4, 5]

    asyncio.run(main())


def test_what_waits_is_taken_back_by_api_command_and_client(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """bcnmy: an admin needed a cancel API, and built a command because there was none."""
    with beside(**SLOW) as url:
        terminal = Terminal(url, capsys)

        async def main() -> list[str]:
            async with Client(url) as client, AsyncClient(url) as library:
                await client.send("runs")
                one, two, three = [(await client.send(n))["id"] for n in ("1", "2", "3")]
                await client.post(f"/v1/transactions/{one}/cancel", WHY)
                await library.cancel(two, reason="a mistake")
                return [one, two, three]

        sent = asyncio.run(main())
        terminal.json("tx", "cancel", sent[2], "--reason", "a mistake")
        shown = [terminal.json("tx", "show", intent)[0]["status"] for intent in sent]
        assert shown == ["cancelled"] * 3


# Who, why, when, and what comes next.


def test_every_action_is_audited(tmp_path: Path) -> None:
    """Temporal: "to use tctl we'd share certs, and there are no audit logs"."""
    from laneway.kinds.site import ROUTES

    async def main() -> None:
        slow = {name.replace("__", "."): value for name, value in SLOW.items()}
        hook = configured(tmp_path, "http://127.0.0.1:1/", flags=slow)
        async with hooked(hook) as (_, client):
            await client.send("runs")
            waits = (await client.send("waits"))["id"]
            told = (await client.post("/v1/webhooks/hook/test", WHY)).body["delivery"]["id"]
            acts = [r for r in ROUTES if r.method != "GET" and r.body in (Order, DrainOrder)]
            # Those of accounts alone are tried in tests/server/test_accounts.py and test_cosmos.py,
            # `settle` and `revive` of lanes that stand still in test_revival.py.
            acts = [r for r in acts if not r.path.endswith(("/bump", "/reset-nonce", "/revive"))]
            # The rest of what is not a GET is a transaction, whose row says who sent it.
            others = [r for r in ROUTES if r.method != "GET" and r not in acts]
            assert sorted(r.path.rpartition("/")[2] for r in others) == [
                "bump", "execute-smart-contract", "replace", "reset-nonce", "revive", "revive",
                "set-sequence", "settle", "transactions", "transactions",
            ]  # fmt: skip
            for route in sorted(acts, key=lambda r: ("retry" in r.path, r.path)):
                path = route.path.replace("{lane}", "contract:Qm1").replace("{id}", waits)
                path = path.replace("{webhook}", "hook").replace("{delivery}", told)
                assert (await client.post(path, WHY)).status == 200, path
            entries = (await client.get("/v1/audit")).body["items"]
            done = [entry for entry in entries if entry["outcome"] == "done"]
            assert {entry["action"] for entry in done} == {
                ("webhook." if "{webhook}" in route.path else "") + route.path.rpartition("/")[2]
                for route in acts
            }
            assert {(entry["actor"], entry["reason"]) for entry in entries} == {
                ("loopback", "node upgrade")
            }

    asyncio.run(main())


def test_a_lane_that_lost_its_node_says_when_it_tries_again_and_never_gives_up() -> None:
    """Temporal: timers in sight. lightwalletd: the backend is tried for ever."""

    async def main() -> None:
        flags = {"contract__retry_ms_min": "30", "contract__retry_ms_max": "60",
                 "contract__breaker_failures": "3", "contract__breaker_open_ms": "80"}  # fmt: skip
        async with running(**flags) as (up, client):
            execute, tries = up.laneway.host.execute, 0

            async def gone(call: ContractCall, parent: int) -> Execution:
                nonlocal tries
                tries += 1
                if tries <= 8:
                    raise ChainUnreachable("http://node", "connection refused")
                return await execute(call, parent)

            up.laneway.host.execute = gone  # type: ignore[method-assign]
            sent = await client.send()
            seen: set[str] = set()
            while not (tx := (await client.get(f"/v1/transactions/{sent['id']}")).body)["final"]:
                lane = (await client.get(LANE)).body
                if lane["next_attempt_at"] is not None:
                    seen.add(lane["state"])
                    assert "connection refused" in lane["reason"]
                if tx["next_attempt_at"] is not None:
                    assert tx["status"] == "submitted"
                    seen.add("tx")
                await asyncio.sleep(0.005)
            assert seen == {"backing off", "tripped", "tx"}
            assert (tx["status"], tx["block"], tx["next_attempt_at"]) == ("confirmed", 1, None)

    asyncio.run(main())


def test_a_paused_lane_says_who_why_and_since_when(capsys: pytest.CaptureFixture[str]) -> None:
    """Sidekiq: a paused badge, so that colleagues do not panic."""
    with beside() as url:
        terminal = Terminal(url, capsys)
        terminal.type("send", "contract:Qm1", "--data", "x", "--wait")
        terminal.type("lane", "pause", "contract:Qm1", "--reason", "node upgrade")
        for (lane,) in (terminal.json("lane", "show", "contract:Qm1"), terminal.json("lanes")):
            assert (lane["state"], lane["by"], lane["reason"]) == (
                "paused", "loopback", "node upgrade",
            )  # fmt: skip
            assert lane["since"].startswith("20")
        for command in (["lanes"], ["lane", "show", "contract:Qm1"]):
            _, out, _ = terminal.type(*command)
            assert all(word in out for word in ("paused", "loopback", "node upgrade", "since"))
        (sent,) = terminal.json("send", "contract:Qm1", "--data", "y")
        assert terminal.json("tx", "show", sent["id"])[0]["reason"] == "paused node upgrade"


def test_all_lanes_are_paused_and_resumed_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    """bull-board: pause and resume all, with what that means said before."""
    with beside(**SLOW) as url:
        terminal = Terminal(url, capsys)
        for lane in ("contract:A", "contract:B"):
            terminal.type("send", lane, "--data", "x")
        why = ("--all", "--reason", "node upgrade")
        thought = terminal.json("lane", "pause", *why, "--dry-run")
        assert [(a["outcome"], a["lane"]["id"]) for a in thought] == [
            ("would", "contract:A"), ("would", "contract:B"),
        ]  # fmt: skip
        assert [a["lane"]["state"] for a in terminal.json("lane", "pause", *why)] == ["paused"] * 2
        assert [a["lane"]["state"] for a in terminal.json("lane", "resume", *why)] == [
            "running"
        ] * 2
        assert terminal.type("lane", "pause", "--reason", "which?")[0] == 2
        assert terminal.type("lane", "pause", "contract:A", *why)[0] == 2


# What a key may do, and what is shown of secrets.


def test_a_key_that_may_only_read_cannot_act(tmp_path: Path) -> None:
    """bull-board: read-only that really is. celery-insights: scopes from day one."""
    from laneway.kinds.site import ROUTES

    token, key = new_key("reader", scopes=("tx:read",))
    (tmp_path / "keys.toml").write_text(as_toml(key))

    async def main() -> None:
        async with running(server__keys_file=str(tmp_path / "keys.toml")) as (up, client):
            reader = {"Authorization": f"Bearer {token}"}
            for route in ROUTES:
                path = route.path.replace("{lane}", "contract:Qm1").replace(
                    "{id}", "tx_" + "0" * 32
                )
                if route.method == "GET":
                    continue
                heard = await client.post(path, WHY, **reader)
                assert (heard.status, heard.code) == (403, "scope_missing"), path
            assert await up.laneway.lanes() == []
            assert (await client.get("/v1/lanes", **reader)).status == 200

    asyncio.run(main())


def commands(group: click.Group, *names: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        else:
            yield " ".join((*names, name)), command


SILENT = {"up", "init"}
"""They do something, and say with their exit code how it went; what `up` logs is JSON anyway."""


def test_every_command_that_tells_something_tells_it_as_json() -> None:
    """cast: `--json` everywhere."""
    assert isinstance(app, click.Group)
    found = dict(commands(app))
    assert set(listed()) == {name.partition(" ")[0] for name in found}
    lacking = {
        name
        for name, command in found.items()
        if not any("--json" in option.opts for option in command.params)
    }
    assert lacking == SILENT


def test_no_secret_is_taken_from_the_command_line() -> None:
    """cast: a key in a file, by option or environment; others can read the command line."""
    assert isinstance(app, click.Group)
    for name, command in commands(app):
        for option in (option for given in command.params for option in given.opts):
            secret = any(word in option for word in ("password", "secret", "token", "api-key"))
            assert not secret or option.endswith("-file"), f"{name} {option}"


# Lists, searches and words.


def test_a_transaction_is_found_by_id_and_by_key(capsys: pytest.CaptureFixture[str]) -> None:
    """Sidekiq: search; a dead set that can be looked through."""
    with beside(**SLOW) as url:
        terminal = Terminal(url, capsys)
        (sent,) = terminal.json("send", "contract:Qm1", "--data", "x", "--key", "order 7")
        assert terminal.json("tx", "show", sent["id"])[0]["id"] == sent["id"]
        assert terminal.json("tx", "show", "key:order 7")[0]["id"] == sent["id"]
        (waits,) = terminal.json("send", "contract:Qm1", "--data", "y")
        terminal.type("tx", "cancel", waits["id"])
        (found,) = terminal.json("tx", "list", "--status", "cancelled")
        assert found["id"] == waits["id"]


def test_what_is_dropped_never_shows_as_pending_or_confirmed() -> None:
    """Blockscout, Stacks: a dropped transaction that is shown as pending, or as a success."""

    async def main() -> None:
        async with running() as (up, client):
            up.laneway.host._chain.refuses = (  # type: ignore[attr-defined]
                lambda call: "no such method" if call.data == "refused" else None
            )
            await client.finish((await client.send("refused"))["id"])
            await client.post(f"{LANE}/pause", WHY)
            expired = await client.send("expired", valid_until=PAST)
            taken = await client.send("cancelled")
            await client.post(f"/v1/transactions/{taken['id']}/cancel", WHY)
            await client.post(f"{LANE}/resume", WHY)
            await client.finish(expired["id"])
            await client.finish((await client.send("confirmed"))["id"])
            for word in ("refused", "expired", "cancelled", "confirmed"):
                assert await words(client, word) == [word]
            for word in ("queued", "submitted", "included"):
                assert await words(client, word) == []

    asyncio.run(main())


def test_a_retry_is_the_stored_request_byte_for_byte() -> None:
    """Flower: arguments were cut off for showing, so a retry sent something else."""

    async def main() -> None:
        async with running() as (up, client):
            payload = {"data": 'é"\\\n' + "x" * 100_000, "executor": "did:1", "comment": "…"}
            body = {"lane": "contract:Qm1", "payload": payload, "valid_until": PAST}
            sent = (await client.post("/v1/transactions", body, traceparent=TRACE)).body
            await client.finish(sent["id"])
            again = (await client.post(f"/v1/transactions/{sent['id']}/retry", WHY)).body["tx"]
            views = [await up.laneway.store.intent(tx["id"]) for tx in (sent, again)]
            one, two = (view.intent.payload for view in views if view is not None)
            assert one == two
            assert again["payload"] == {"quorum_type": 2, **payload}
            assert again["retry_of"] == sent["id"]

    asyncio.run(main())


def test_no_statement_skips_rows_by_counting() -> None:
    """Oban: a search must not hammer the database. Pages go by keys; OFFSET reads what it skips."""
    home = Path(__file__).parents[2] / "src/laneway/stores"
    texts = [path for path in home.rglob("*") if path.suffix in (".sql", ".lua", ".py")]
    assert len(texts) > 10
    for path in texts:
        assert " OFFSET " not in path.read_text().upper(), path


@pytest.mark.slow
def test_a_hundred_thousand_are_paged_without_gap_or_repeat(tmp_path: Path) -> None:
    """RedisInsight: dies at 100k messages."""
    count, lanes = 100_000, 50

    async def main() -> None:
        async with running(**on_file(tmp_path, **SLOW)) as (up, client):
            for begin in range(0, count, 5_000):
                calls = [
                    ContractCall(f"Qm{n % lanes:02}", "", str(n))
                    for n in range(begin, begin + 5_000)
                ]
                await up.laneway.submit_many(calls)
            seen: list[int] = []
            cursor = ""
            while True:
                page = (await client.get(f"/v1/transactions?limit=500{cursor}")).body
                assert len(page["items"]) <= 500
                seen += [int(tx["payload"]["data"]) for tx in page["items"]]
                if page["next_cursor"] is None:
                    break
                cursor = f"&cursor={page['next_cursor']}"
            assert len(seen) == count
            assert sorted(seen) == list(range(count))
            first = (await client.get("/v1/transactions?limit=3&status=queued")).body
            assert len(first["items"]) == 3

    asyncio.run(main())


# The door.


def test_connections_are_counted() -> None:
    """lightwalletd: a gauge of connections."""

    async def main() -> None:
        async with serving() as client, Client(client.url) as other:
            await other.get("/livez")
            numbers = (await client.get("/metrics")).body
            assert "laneway_http_connections 2.0" in numbers.splitlines()

    asyncio.run(main())


TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_a_trace_is_kept_with_its_transaction_and_changes_nothing_else(tmp_path: Path) -> None:
    """W3C Trace Context: accepted, checked, stored, and told to the node."""
    told: list[Any] = []

    async def main() -> None:
        async with running(**on_file(tmp_path)) as (up, client):
            execute = up.laneway.host.execute

            async def heard(call: ContractCall, parent: int) -> Execution:
                told.append(getattr(call, "trace", None))
                return await execute(call, parent)

            up.laneway.host.execute = heard  # type: ignore[method-assign]
            sent = await client.post("/v1/transactions", CALL, traceparent=TRACE, **KEY)
            assert sent.body["traceparent"] == TRACE
            other = await client.post(
                "/v1/transactions", CALL, traceparent=TRACE.replace("01", "00"), **KEY
            )
            assert other.status == 202
            assert other.body["id"] == sent.body["id"]
            bare = await client.post("/v1/transactions", CALL, **KEY)
            assert bare.body["id"] == sent.body["id"]
            assert (await client.finish(sent.body["id"]))["traceparent"] == TRACE
            wrong = await client.post("/v1/transactions", CALL, traceparent="00-zz")
            assert (wrong.status, wrong.body["traceparent"]) == (202, None)
            await client.finish(wrong.body["id"])
        async with serving(**on_file(tmp_path)) as client:
            shown = (await client.get(f"/v1/transactions/{sent.body['id']}")).body
            assert shown["traceparent"] == TRACE

    asyncio.run(main())
    assert told == [TRACE, None]


def test_a_quota_is_the_only_429_and_only_where_a_key_has_one(tmp_path: Path) -> None:
    """429 with Retry-After for a key's own quota; never for the depth of a contract's queue."""
    small, first = new_key("small", requests_per_minute=3)
    free, second = new_key("free")
    (tmp_path / "keys.toml").write_text(as_toml(first) + as_toml(second))

    async def main() -> None:
        async with serving(server__keys_file=str(tmp_path / "keys.toml"), **SLOW) as client:
            one, two = ({"Authorization": f"Bearer {token}"} for token in (small, free))
            heard = [await client.post("/v1/transactions", CALL, **one) for _ in range(4)]
            assert [answer.status for answer in heard] == [202, 202, 202, 429]
            assert (heard[3].code, heard[3].body["retryable"]) == ("quota_exceeded", True)
            assert 1 <= int(heard[3].headers["Retry-After"]) <= 20
            many = (client.post("/v1/transactions", CALL, **two) for _ in range(200))
            assert {answer.status for answer in await asyncio.gather(*many)} == {202}
            assert (await client.get("/livez")).status == 200

    asyncio.run(main())


def test_a_quota_fills_evenly() -> None:
    from laneway.server.access import Quota

    quota = Quota(60)
    assert [quota.wait_s(100.0) for _ in range(61)] == [0] * 60 + [1]
    assert quota.wait_s(101.0) == 0
    assert quota.wait_s(101.5) == 1
    assert [quota.wait_s(9_999.0) for _ in range(61)] == [0] * 60 + [1]
    assert Quota(1).wait_s(0.0) == 0
    slow = Quota(1)
    slow.wait_s(0.0)
    assert slow.wait_s(15.0) == 45


def test_the_api_can_be_read_by_people_without_a_network() -> None:
    """`/docs` needs nothing but itself; `/healthz` is `/livez`; `/readyz?verbose` says it all."""
    from laneway.kinds.site import ROUTES

    async def main() -> None:
        async with serving() as client:
            page = await client.get("/docs")
            assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
            assert "default-src 'none'" in page.headers["Content-Security-Policy"]
            for route in ROUTES:
                assert f"<code>{route.path}</code>" in page.body
            for word in ("<script", "src=", "http://", "https://", "@import", "url("):
                assert word not in page.body
            assert (await client.get("/healthz")).body == (await client.get("/livez")).body
            checks = (await client.get("/readyz?verbose")).body["checks"]
            assert {check["name"] for check in checks} == {"store", "durability", "chain"}

    asyncio.run(main())


def test_a_file_keeps_each_lanes_order_and_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of many lanes: at the same time, each in its own order, and safe to run again."""
    lines = [{"lane": f"contract:Q{n % 7}", "data": str(n)} for n in range(140)]
    file = tmp_path / "txs.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines))
    part = tmp_path / "part.jsonl"
    part.write_text("\n".join(json.dumps(line) for line in lines[:60]))
    with beside(**SLOW) as url:
        terminal = Terminal(url, capsys)
        begun = terminal.json("send", "--file", str(part), "--key", "batch-1")
        sent = terminal.json("send", "--file", str(file), "--key", "batch-1")
        assert [tx["id"] for tx in sent[:60]] == [tx["id"] for tx in begun]
        assert [tx["payload"]["data"] for tx in sent] == [line["data"] for line in lines]
        for lane in range(7):
            listed = terminal.json("tx", "list", "--lane", f"contract:Q{lane}", "--limit", "0")
            said = [int(tx["payload"]["data"]) for tx in listed]
            assert said == list(range(lane, 140, 7))


def test_a_line_that_is_refused_ends_the_file_and_keeps_what_was_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{"lane": f"contract:Q{n % 3}", "data": str(n)} for n in range(30)]
    lines[15]["lane"] = "nonsense"
    file = tmp_path / "txs.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    with beside(**SLOW) as url:
        terminal = Terminal(url, capsys)
        code, out, err = terminal.type("send", "--file", str(file), "--key", "k", "--json")
        assert code == 2
        assert "lane" in err
        told = [msgspec.json.decode(line)["payload"]["data"] for line in out.splitlines()]
        assert told == [str(n) for n in range(len(told))]
        lines[15]["lane"] = "contract:Q0"
        file.write_text("\n".join(map(json.dumps, lines)))
        assert len(terminal.json("send", "--file", str(file), "--key", "k")) == 30
        lanes = terminal.json("lanes")
        assert sum(lane["queue"]["enqueued"] for lane in lanes) == 30
