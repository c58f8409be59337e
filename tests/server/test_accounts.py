"""Laws of EVM accounts over HTTP: every verb, on a real node."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.anvil import CHAIN_ID, GWEI, KEYS, Anvil, address, anvil, signed
from tests.feeds.receiver import SECRET, receiving, verified
from tests.server.stage import QUICK, Client, Heard

from laneway.wiring.config import load
from laneway.wiring.server import Up

pytestmark = pytest.mark.slow

TO = "0x" + "11" * 20
LANE = f"evm:{CHAIN_ID}:0x{address().hex()}"
WHY = {"reason": "a test"}
PAST = "2001-01-01T00:00:00Z"

TOML = """
[eoa]
finality_depth_blocks = 2
poll_ms = 50
look_ms_min = 10
make_retry_ms = 50
resend_ms = 200
block_ms = 1000
inflight = 4
[[evm]]
name = "dev"
chain_id = 31337
nodes = ["{url}"]
{chain}
[[evm.accounts]]
name = "hot"
signer = "file:{key}"
"""


@pytest.fixture(scope="module")
def node() -> Iterator[Anvil]:
    with anvil() as made:
        yield made


@asynccontextmanager
async def running(
    node: Anvil, folder: Path, chain: str = "", more: str = "", **flags: str
) -> AsyncIterator[tuple[Up, Client]]:
    """A server for the node's first account, which nobody else uses meanwhile."""
    node.say("anvil_dropAllTransactions")
    key = folder / "hot.key"
    key.write_text(KEYS[0])
    key.chmod(0o600)
    file = folder / "laneway.toml"
    file.write_text(TOML.format(url=node.url, key=key, chain=chain) + more)
    given = {name.replace("__", "."): value for name, value in flags.items()}
    configuration = load(str(file), {}, QUICK | {"server.port": "0"} | given)
    async with Up(configuration) as up, Client(up.server.urls[0]) as client:
        yield up, client


async def send(client: Client, lane: str = LANE, to: str = TO, **more: Any) -> Any:
    headers = more.pop("headers", {})
    outer = {name: more.pop(name) for name in ("valid_until",) if name in more}
    body = {"lane": lane, "payload": {"to": to, "value": "1", "gas": 21_000, **more}, **outer}
    heard = await client.post("/v1/transactions", body, **headers)
    assert heard.status == 202, heard
    return heard.body


async def until(client: Client, intent: str, *words: str) -> Any:
    """The transaction, once its status is one of these."""
    for _ in range(3_000):
        tx = (await client.get(f"/v1/transactions/{intent}")).body
        if tx["status"] in words:
            return tx
        await asyncio.sleep(0.02)
    raise AssertionError(tx)


async def finish(client: Client, node: Anvil, intent: str) -> Any:
    for _ in range(60):
        node.mine()
        tx = (await client.get(f"/v1/transactions/{intent}?wait=confirmed&timeout=1")).body
        if tx["final"]:
            return tx
    raise AssertionError(tx)


async def act(client: Client, intent: str, verb: str, **more: Any) -> Heard:
    path = f"/v1/transactions/{intent.replace('#', '%23')}/{verb}"
    return await client.post(path, WHY | more)


def test_a_transaction_is_sent_shown_in_all_its_states_and_found_by_every_name(
    node: Anvil, tmp_path: Path
) -> None:
    async def main() -> None:
        async with running(node, tmp_path) as (_, client):
            tx = await send(client, "evm:dev:hot", headers={"Idempotency-Key": "order-7"})
            assert (tx["lane"], tx["status"], tx["payload"]) == (LANE, "queued", None)
            assert tx["evm"]["payload"]["value"] == "1"
            out = await until(client, tx["id"], "submitted")
            assert out["evm"]["wait_reason"] == out["reason"] == "not_mined_yet"
            (attempt,) = out["evm"]["attempts"]
            assert list(attempt["nodes"].values()) == ["taken"]
            assert out["hash"] == attempt["hash"]
            node.mine()
            seen = await until(client, tx["id"], "included")
            assert (seen["final"], seen["evm"]["confirmations"]) == (False, 1)
            done = await finish(client, node, tx["id"])
            assert (done["status"], done["hash"], done["nonce"]) == (
                "confirmed", out["hash"], out["nonce"],
            )  # fmt: skip
            assert done["block"] == seen["block"]
            assert done["evm"]["gas_used"] == 21_000
            assert int(done["evm"]["gas_price"]) > 0
            assert [one["mined"] for one in done["evm"]["attempts"]] == [True]
            mined = node.say("eth_getTransactionByHash", done["hash"])
            assert int(mined["nonce"], 16) == done["nonce"]
            for name in (done["hash"], done["hash"].upper().replace("0X", "0x")):
                assert (await client.get(f"/v1/transactions/{name}")).body == done
                listed = await client.get(f"/v1/transactions?hash={name}")
                assert [one["id"] for one in listed.body["items"]] == [tx["id"]]
            for lane in ("evm:dev:hot", LANE):
                heard = await client.get(f"/v1/transactions/{lane}%23{done['nonce']}")
                assert heard.body == done
            by_key = await client.get("/v1/transactions?key=order-7")
            assert by_key.body["items"] == [done]
            listed = await client.get("/v1/transactions?lane=evm:dev:hot&status=confirmed")
            assert listed.body["items"] == [done]
            assert (await client.get("/v1/transactions")).body["items"] == [done]
            for nobody in ("0x" + "00" * 32, "0x00", f"{LANE}%23999", f"{LANE}%23x", "evm:a:b%231"):
                assert (await client.get(f"/v1/transactions/{nobody}")).status == 404, nobody
            assert (await client.get(f"/v1/transactions?hash=0x{'00' * 32}")).body["items"] == []

    asyncio.run(main())


def test_a_key_makes_one_transaction_whatever_the_account_is_called(
    node: Anvil, tmp_path: Path
) -> None:
    async def main() -> None:
        async with running(node, tmp_path) as (_, client):
            key = {"Idempotency-Key": "again"}
            first = await send(client, headers=key)
            again = await send(client, "evm:dev:hot", headers=key, value="0x1")
            assert first["id"] == again["id"]
            body = {"lane": LANE, "payload": {"to": TO, "value": "2", "gas": 21_000}}
            heard = await client.post("/v1/transactions", body, **key)
            assert (heard.status, heard.code) == (422, "idempotency_conflict")
            await finish(client, node, first["id"])

    asyncio.run(main())


def test_what_is_out_is_taken_back_by_a_no_op_at_its_nonce_and_never_by_a_hole(
    node: Anvil, tmp_path: Path
) -> None:
    """rrelayer: cancelling one left all later ones stuck."""

    async def main() -> None:
        async with running(node, tmp_path) as (_, client):
            first, second = [(await send(client))["id"] for _ in range(2)]
            out = await until(client, first, "submitted")
            await until(client, second, "submitted")
            dry = await act(client, first, "cancel", dry_run=True)
            assert (dry.status, dry.body["outcome"]) == (200, "would")
            assert f"nonce {out['nonce']}" in dry.body["effect"]
            heard = await act(client, f"evm:dev:hot#{out['nonce']}", "cancel")
            assert (heard.status, heard.body["outcome"]) == (200, "done"), heard
            assert f"no-op takes its place at nonce {out['nonce']}" in heard.body["effect"]
            again = await act(client, first, "cancel")
            assert (again.status, again.code) == (409, "command_refused")
            for _ in range(3_000):
                shown = (await client.get(f"/v1/transactions/{first}")).body
                if len(shown["evm"]["attempts"]) == 2 and all(
                    "taken" in one["nodes"].values() for one in shown["evm"]["attempts"]
                ):
                    break
                await asyncio.sleep(0.02)
            assert (await finish(client, node, second))["status"] == "confirmed"
            done = await finish(client, node, first)
            assert (done["status"], done["nonce"]) == ("cancelled", out["nonce"])
            assert [one["purpose"] for one in done["evm"]["attempts"]] == ["intent", "cancel"]
            mined = node.say("eth_getTransactionByHash", done["hash"])
            assert (mined["to"], int(mined["value"], 16)) == (f"0x{address().hex()}", 0)
            # It is proven dead, so its body may be queued again, once.
            new = [(await act(client, first, "retry")).body["tx"] for _ in range(2)]
            assert new[0]["id"] == new[1]["id"]
            landed = await finish(client, node, new[0]["id"])
            assert (landed["status"], landed["retry_of"]) == ("confirmed", first)
            assert landed["evm"]["payload"] == done["evm"]["payload"]
            assert (await act(client, landed["id"], "retry")).status == 409
            assert (await act(client, landed["id"], "bump")).code == "intent_final"

    asyncio.run(main())


def test_what_waits_is_taken_back_without_a_nonce(node: Anvil, tmp_path: Path) -> None:
    async def main() -> None:
        async with running(node, tmp_path) as (_, client):
            txs = [(await send(client))["id"] for _ in range(6)]
            await until(client, txs[3], "submitted")
            shown = (await client.get(f"/v1/transactions/{txs[5]}")).body
            assert (shown["status"], shown["reason"]) == ("queued", "window_closed")
            assert (await act(client, txs[5], "bump")).code == "command_refused"
            heard = await act(client, txs[5], "cancel")
            assert (heard.body["outcome"], heard.body["tx"]["status"]) == ("done", "cancelled")
            heard = await act(client, txs[4], "replace", payload={"to": TO, "value": "7"})
            assert heard.body["effect"] == "it will be sent with the new content alone"
            done = await finish(client, node, txs[4])
            assert (done["status"], done["reason"]) == (
                "confirmed",
                "its replacement 1 of 1 landed",
            )
            assert done["evm"]["replacement"]["value"] == "7"
            assert len(done["evm"]["attempts"]) == 1
            mined = node.say("eth_getTransactionByHash", done["hash"])
            assert int(mined["value"], 16) == 7
            assert (await client.get(f"/v1/lanes/{LANE}")).body["waiting"] == 0

    asyncio.run(main())


def test_a_bump_and_a_replacement_are_dearer_attempts_at_the_same_nonce(
    node: Anvil, tmp_path: Path
) -> None:
    async def main() -> None:
        async with running(node, tmp_path) as (_, client):
            intent = (await send(client))["id"]
            out = await until(client, intent, "submitted")
            assert (await act(client, intent, "bump", dry_run=True)).body["outcome"] == "would"
            assert (await act(client, intent, "bump")).status == 200
            await attempts(client, intent, 2)
            bad = await act(client, intent, "replace", payload={"to": "0x12"})
            assert (bad.status, bad.body["field"]) == (422, "payload.to")
            content = {"to": TO, "value": "9", "gas": "0x5208"}
            heard = await act(client, intent, "replace", payload=content)
            assert (heard.status, heard.body["action"]) == (200, "replace"), heard
            assert (await act(client, intent, "replace", payload=content)).status == 409
            await attempts(client, intent, 3)
            done = await finish(client, node, intent)
            assert done["reason"] == "its replacement 1 of 1 landed"
            tries = done["evm"]["attempts"]
            assert [one["content"] for one in tries] == [0, 0, 1]
            fees = [int(one["max_fee_per_gas"]) for one in tries]
            assert all(8 * more >= 9 * less for less, more in pairwise(fees))
            assert done["nonce"] == out["nonce"]
            mined = node.say("eth_getTransactionByHash", done["hash"])
            assert int(mined["value"], 16) == 9
            trail = (await client.get(f"/v1/audit?lane={LANE}")).body["items"]
            assert [(one["action"], one["outcome"]) for one in trail] == [
                ("bump", "asked"), ("bump", "done"), ("replace", "asked"), ("replace", "done"),
                ("replace", "asked"), ("replace", "refused"),
            ]  # fmt: skip
            assert {(one["tx"], one["reason"]) for one in trail} == {(intent, "a test")}
            # Every attempt's hash finds it.
            for one in tries:
                found = await client.get(f"/v1/transactions/{one['hash']}")
                assert found.body["id"] == intent

    asyncio.run(main())


async def attempts(client: Client, intent: str, count: int) -> None:
    for _ in range(3_000):
        tx = (await client.get(f"/v1/transactions/{intent}")).body
        tries = tx["evm"]["attempts"]
        if len(tries) == count and "taken" in tries[-1]["nodes"].values():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(tx)


def test_a_parked_one_says_so_and_can_still_be_taken_back(node: Anvil, tmp_path: Path) -> None:
    async def main() -> None:
        async with running(node, tmp_path) as (_, client):
            intent = (await send(client, max_fee_per_gas="1"))["id"]
            for _ in range(3_000):
                tx = (await client.get(f"/v1/transactions/{intent}")).body
                if tx["reason"].startswith("parked_by_cap"):
                    break
                await asyncio.sleep(0.02)
            assert tx["status"] == "queued"
            assert tx["evm"]["wait_reason"] == tx["reason"]
            assert tx["reason"].endswith("1 wei are allowed by its caller's max_fee_per_gas")
            heard = await act(client, intent, "cancel")
            assert heard.body["tx"]["status"] == "cancelled"
            assert heard.body["lane"]["evm"]["recycled"] == 0

    asyncio.run(main())


def test_one_that_is_no_longer_wanted_expires(node: Anvil, tmp_path: Path) -> None:
    async def main() -> None:
        async with running(node, tmp_path) as (_, client):
            intent = (await send(client, valid_until=PAST))["id"]
            assert (await until(client, intent, "expired"))["nonce"] is None

    asyncio.run(main())


def test_a_lane_is_paused_drained_resumed_and_shows_its_health(node: Anvil, tmp_path: Path) -> None:
    async def main() -> None:
        lane = "/v1/lanes/evm:dev:hot"
        async with running(node, tmp_path) as (_, client):
            idle = (await client.get(lane)).body
            assert (idle["id"], idle["state"], idle["evm"]["nonce_next"]) == (LANE, "idle", None)
            assert (await client.get("/v1/lanes")).body["items"] == []
            assert (await client.post(f"{lane}/pause", WHY)).body["lane"]["state"] == "paused"
            sick = (await client.get(f"{lane}/health")).body
            assert (sick["healthy"], sick["problems"]) == (False, ["paused by loopback: a test"])
            intent = (await send(client))["id"]
            tx = (await client.get(f"/v1/transactions/{intent}")).body
            assert (tx["status"], tx["reason"]) == ("queued", "paused")
            assert (await client.post(f"{lane}/resume", WHY)).status == 200
            await until(client, intent, "submitted")
            drained = await client.post(f"{lane}/drain", WHY | {"mode": "running"})
            assert drained.body["lane"]["state"] == "draining"
            await finish(client, node, intent)
            for _ in range(3_000):
                shown = (await client.get(lane)).body
                if shown["state"] == "paused":
                    break
                await asyncio.sleep(0.02)
            assert (shown["state"], shown["by"]) == ("paused", "loopback")
            await client.post(f"{lane}/resume", WHY)
            health = (await client.get(f"{lane}/health")).body
            evm = health["evm"]
            assert (health["healthy"], evm["window"], evm["account"]) == (True, 4, "hot")
            assert int(evm["balance"]) > 10**20
            assert evm["cleanup"]["moved_to_success"] == 1
            assert evm["last_confirmation_at"] is not None
            assert evm["submitted"] == evm["borrowed"] == evm["recycled"] == evm["pending"] == 0
            listed = (await client.get("/v1/lanes")).body["items"]
            assert [one["id"] for one in listed] == [LANE]
            metrics = (await client.get("/metrics")).body
            assert 'laneway_evm_transactions_total{result="confirmed"} 1.0' in metrics

    asyncio.run(main())


def test_a_reset_shows_its_numbers_first_and_goes_below_nothing_that_is_bound(
    node: Anvil, tmp_path: Path
) -> None:
    async def main() -> None:
        lane = "/v1/lanes/evm:dev:hot/reset-nonce"
        async with running(node, tmp_path) as (_, client):
            unread = await client.post(lane, WHY | {"dry_run": True})
            assert unread.body["reset"] is None
            assert (await client.post(lane, WHY)).status == 409
            intent = (await send(client))["id"]
            out = await until(client, intent, "submitted")
            dry = (await client.post(f"{lane}?dry_run=true", WHY)).body
            plan = dry["reset"]
            assert (dry["outcome"], plan["latest"]) == ("would", out["nonce"])
            assert plan["nonce_next"] == plan["becomes"] == out["nonce"] + 1
            assert (plan["bound"], plan["bound_highest"]) == (1, out["nonce"])
            assert "may still be mined" in plan["why_not_lower"]
            done = await client.post(lane, WHY)
            assert (done.status, done.body["outcome"]) == (200, "done")
            evm = done.body["lane"]["evm"]
            assert (len(evm["nonce_resets"]), evm["nonce_next"]) == (1, out["nonce"] + 1)
            await finish(client, node, intent)
            trail = (await client.get("/v1/audit?lane=evm:dev:hot")).body["items"]
            acts = [(one["action"], one["outcome"]) for one in trail]
            assert acts[:2] == [("reset-nonce", "asked"), ("reset-nonce", "refused")]
            assert acts[-1] == ("reset-nonce", "done")
            heard = await client.post("/v1/lanes/contract:Qm1/reset-nonce", WHY)
            assert heard.status == 404

    asyncio.run(main())


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"to": "0x" + "Aa" * 20}, "payload.to"),
        ({"to": None}, "payload.to"),
        ({"value": "-1"}, "payload.value"),
        ({"value": "1 ether"}, "payload.value"),
        ({"value": "0x" + "f" * 65}, "payload.value"),
        ({"value": str(1 << 256)}, "payload.value"),
        ({"data": "0x1"}, "payload.data"),
        ({"gas": 20_999}, "payload.gas"),
        ({"gas": "0x" + "f" * 17}, "payload.gas"),
        ({"type": 5}, "payload.type"),
        ({"max_fee_per_gas": "1", "max_priority_fee_per_gas": "2"},
         "payload.max_priority_fee_per_gas"),
        ({"type": 0, "max_priority_fee_per_gas": "2"}, "payload.max_priority_fee_per_gas"),
        ({"type": 3}, "payload.blobs"),
        ({"type": 4}, "payload.authorization_list"),
        ({"type": 0, "access_list": [{"address": TO}]}, "payload.access_list"),
        ({"access_list": [{"address": TO, "storage_keys": ["0x12"]}]},
         "payload.access_list[0].storage_keys[0]"),
        ({"gas_price": "1"}, "payload"),
        ({"nonce": 7}, "payload"),
        ({"blobs": {"blobs": ["0x00"], "commitments": ["0x00"], "proofs": ["0x00"]}},
         "payload.blobs.blobs[0]"),
    ],
)  # fmt: skip
def test_what_no_node_would_take_is_refused_by_name(
    node: Anvil, tmp_path: Path, change: dict[str, Any], field: str
) -> None:
    async def main() -> None:
        async with running(node, tmp_path) as (_, client):
            body = {"lane": "evm:dev:hot", "payload": {"to": TO, **change}}
            heard = await client.post("/v1/transactions", body)
            assert (heard.status, heard.body["field"]) == (422, field), heard
            assert (await client.get("/v1/transactions")).body["items"] == []

    asyncio.run(main())


def test_an_account_that_is_not_configured_is_named(node: Anvil, tmp_path: Path) -> None:
    async def main() -> None:
        async with running(node, tmp_path) as (_, client):
            for lane in ("evm:dev:cold", "evm:1:hot", f"evm:31337:0x{'00' * 20}"):
                body = {"lane": lane, "payload": {"to": TO}}
                heard = await client.post("/v1/transactions", body)
                assert (heard.status, heard.code, heard.body["lane"]) == (
                    404, "lane_not_found", lane,
                )  # fmt: skip
                assert (await client.get(f"/v1/lanes/{lane}/health")).status == 404
            # A checksummed address is as good as any.
            checked = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
            assert (await client.get(f"/v1/lanes/evm:31337:{checked}")).body["id"] == LANE

    asyncio.run(main())


def test_a_key_for_one_account_does_not_reach_another_by_its_name(
    node: Anvil, tmp_path: Path
) -> None:
    from laneway.wiring.keys import as_toml, new_key

    async def main() -> None:
        keys = tmp_path / "keys.toml"
        own, mine = new_key("own", scopes=("tx:read", "tx:write"), lanes=(LANE,))
        other, theirs = new_key("other", scopes=("tx:read", "tx:write"), lanes=("evm:1:*",))
        keys.write_text(as_toml(mine) + as_toml(theirs))
        keys.chmod(0o600)
        async with running(node, tmp_path, server__keys_file=str(keys)) as (_, client):
            body = {"lane": "evm:dev:hot", "payload": {"to": TO, "gas": 21_000}}
            for token, status in ((own, 202), (other, 403)):
                bearer = {"Authorization": f"Bearer {token}"}
                heard = await client.post("/v1/transactions", body, **bearer)
                assert heard.status == status, heard
                heard = await client.get("/v1/lanes/evm:dev:hot/health", **bearer)
                assert heard.status == (200 if status == 202 else 403)

    asyncio.run(main())


def test_a_nonce_that_another_used_is_told_and_the_intent_lands_at_the_next(
    node: Anvil, tmp_path: Path
) -> None:
    async def main() -> None:
        async with running(node, tmp_path) as (up, client):
            stream = await up.desk.follow(None, None, None)
            heard: list[bytes] = []

            async def listen() -> None:
                async def drained() -> None: ...

                def write(frame: bytes) -> bool:
                    heard.append(frame)
                    return True

                await stream.run(write, drained, 60)

            listening = asyncio.create_task(listen())
            intent = (await send(client))["id"]
            out = await until(client, intent, "submitted")
            node.say("anvil_dropTransaction", out["hash"])
            raw, _ = signed(out["nonce"], value=3, maxFeePerGas=900 * GWEI)
            node.say("eth_sendRawTransaction", "0x" + raw.hex())
            done = await finish(client, node, intent)
            assert (done["status"], done["nonce"]) == ("confirmed", out["nonce"] + 1)
            for _ in range(3_000):
                told = b"".join(heard).decode()
                if "transaction.confirmed" in told:
                    break
                await asyncio.sleep(0.02)
            for word in ("signed", "submitted", "replaced", "included", "confirmed"):
                assert f"transaction.{word}" in told, word
            stream.leave()
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)

    asyncio.run(main())


def test_webhooks_carry_what_an_account_does(node: Anvil, tmp_path: Path) -> None:
    secret = tmp_path / "hook.secret"
    secret.touch(mode=0o600)
    secret.write_text(SECRET + "\n")

    async def main() -> None:
        async with receiving() as receiver:
            hook = f"""
[[webhooks]]
id = "hook"
url = "{receiver.url}"
secret_file = "{secret}"
allow_private = true
"""
            async with running(node, tmp_path, more=hook) as (_, client):
                tx = await send(client)
                await until(client, tx["id"], "submitted")
                node.mine()
                await until(client, tx["id"], "included")
                done = await finish(client, node, tx["id"])
                await receiver.until(4, distinct=True)
            told = {body["type"]: body["data"] for body in receiver.bodies()}
            words = ("signed", "submitted", "included", "confirmed")
            assert sorted(told) == sorted(f"transaction.{word}" for word in words)
            last = told["transaction.confirmed"]
            assert (last["tx"], last["hash"], last["nonce"], last["block"]) == (
                tx["id"], done["hash"], done["nonce"], done["block"],
            )  # fmt: skip
            assert all(verified(headers, body) for headers, body in receiver.heard)

    asyncio.run(main())
