"""Laws of Cosmos accounts over HTTP: every verb, on the embedded chain."""

import asyncio
import logging
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from tests.cosmos_stage import LANE, NAMESPACE, OWN, TO, WHOLE, WHY, post_large, staged
from tests.feeds.receiver import SECRET, receiving, verified

from laneway.cosmos.messages import Coin, MsgSend
from laneway.cosmos.protobuf import encode

pytestmark = pytest.mark.slow

LANES = ("cosmos:dev", "cosmos:dev:main", f"cosmos:dev:{OWN}", "cosmos:laneway-dev:main", LANE)
PAST = "2001-01-01T00:00:00Z"


def text(raw: bytes) -> str:
    return b64encode(raw).decode()


def test_a_transaction_is_shown_in_all_its_states_and_found_by_every_name(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            client = stage.client
            headers = {"Idempotency-Key": "order-7"}
            tx = await stage.send("cosmos:dev", to=TO, amount="5utia", memo="hi", headers=headers)
            assert (tx["lane"], tx["status"], tx["payload"]) == (LANE, "queued", None)
            said = tx["cosmos"]["payload"]
            assert (said["to"], said["amount"], said["denom"]) == (TO, "5", "utia")
            out = await stage.until(tx["id"], "submitted")
            assert out["cosmos"]["wait_reason"] == out["reason"] == "not_committed_yet"
            (attempt,) = out["cosmos"]["attempts"]
            assert (attempt["live"], attempt["hash"]) == (True, out["hash"])
            assert out["cosmos"]["timeout_height"] == attempt["timeout_height"] > 0
            assert out["hash"] == out["hash"].upper()
            bound = await client.get("/v1/transactions/cosmos:dev%230")
            assert bound.body["id"] == tx["id"]
            done = await stage.finish(tx["id"])
            seen = done["cosmos"]
            assert (done["status"], done["hash"], seen["sequence"]) == ("confirmed", out["hash"], 0)
            assert (done["block"], seen["code"], seen["signers"]) == (seen["height"], 0, [OWN])
            assert 0 < seen["gas_used"] <= seen["gas_wanted"]
            assert seen["raw"] is None
            mined = stage.chain.chain.committed(bytes.fromhex(done["hash"]))
            assert mined is not None
            assert mined.tx.body.memo == "hi"
            for name in (done["hash"], done["hash"].lower(), f"0x{done['hash']}"):
                assert (await client.get(f"/v1/transactions/{name}")).body == done
                listed = await client.get(f"/v1/transactions?hash={name}")
                assert listed.body["items"] == [done]
            for lane in LANES:
                assert (await client.get(f"/v1/transactions/{lane}%230")).body == done
            for query in ("key=order-7", "lane=cosmos:dev&status=confirmed", "lane=cosmos:dev", ""):
                listed = await client.get(f"/v1/transactions?{query}".rstrip("?"))
                assert listed.body["items"] == [done], query
            nobody = ("0x" + "00" * 32, "AB" * 32, f"{LANE}%239", f"{LANE}%23x", "cosmos:a:b%231")
            for name in nobody:
                assert (await client.get(f"/v1/transactions/{name}")).status == 404, name

    asyncio.run(main())


def test_a_key_makes_one_transaction_whatever_the_account_is_called(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            key = {"Idempotency-Key": "again"}
            forms: list[dict[str, Any]] = [
                {"to": TO, "amount": "5utia"},
                {"to": TO, "amount": 5},
                {"to": TO, "amount": "005", "denom": "utia"},
                {"messages": [{"type_url": MsgSend.url, "value": text(payment(5))}]},
            ]
            made = {
                (await stage.send(lane, headers=key, **form))["id"]
                for lane, form in zip(LANES, forms, strict=False)
            }
            assert len(made) == 1
            body = {"lane": LANE, "payload": {"to": TO, "amount": "6"}}
            heard = await stage.client.post("/v1/transactions", body, **key)
            assert (heard.status, heard.code) == (422, "idempotency_conflict")
            assert (await stage.finish(made.pop()))["status"] == "confirmed"

    asyncio.run(main())


def payment(amount: int) -> bytes:
    return encode(MsgSend(OWN, TO, (Coin("utia", str(amount)),)))


def test_blobs_and_messages_land_together_and_are_shown_by_their_sizes(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            whole = text(bytes.fromhex(WHOLE))
            blobs = [
                {"namespace": name, "data": text(b"x" * size), "share_version": version}
                for name, size, version in ((NAMESPACE, 9, 0), (WHOLE, 600, 1), (whole, 5, 0))
            ]
            tx = await stage.send("cosmos:dev", blobs=blobs, fee=9_000, gas=1_000_000)
            done = await stage.finish(tx["id"])
            assert done["status"] == "confirmed", done
            said = done["cosmos"]["payload"]
            assert said["blobs"] == [
                {"namespace": WHOLE, "size": size, "share_version": version}
                for size, version in ((9, 0), (600, 1), (5, 0))
            ]
            assert (said["fee"], said["gas"], said["to"]) == (9_000, 1_000_000, None)
            assert done["cosmos"]["attempts"][0]["fee"] == 9_000
            messages = [{"type_url": MsgSend.url, "value": text(payment(n))} for n in (1, 2)]
            both = await stage.finish(
                (await stage.send(messages=messages, gas_price="0.005"))["id"]
            )
            assert both["status"] == "confirmed"
            said = both["cosmos"]["payload"]
            assert (said["amount"], said["gas_price"]) == ("1", "0.005000")
            assert said["messages"] == [messages[1] | {"size": len(payment(2))}]

    asyncio.run(main())


def test_a_body_may_be_as_large_as_the_largest_transaction_for_these_lanes_alone(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            client = stage.client
            await client.post("/v1/lanes/cosmos:dev/pause", WHY)
            large = {"namespace": NAMESPACE, "data": text(bytes((8 << 20) - 4_096))}
            tx = await stage.send("cosmos:dev", blobs=[large])
            assert tx["cosmos"]["payload"]["blobs"][0]["size"] == (8 << 20) - 4_096
            lane = await stage.lane()
            assert lane["held_bytes"] > 2 * ((8 << 20) - 4_096)
            above = {"namespace": NAMESPACE, "data": text(bytes(8 << 20))}
            body = {"lane": "cosmos:dev", "payload": {"blobs": [above]}}
            heard = await stage.post(body)
            assert (heard.status, heard.body["field"]) == (422, "payload")
            other = {"lane": "contract:Q", "payload": {"data": "x" * (3 << 20)}}
            assert (await stage.post(other)).code == "body_too_large"
            huge = {"lane": "cosmos:dev", "payload": {"memo": "x" * (13 << 20)}}
            assert (await stage.post(huge)).code == "body_too_large"
            order = {"reason": "x" * (3 << 20)}
            heard = await post_large(client, "/v1/lanes/cosmos:dev/pause", order)
            assert (heard.status, heard.code) == (413, "body_too_large")
            assert (await stage.act(tx["id"], "cancel")).body["tx"]["status"] == "cancelled"

    asyncio.run(main())


def test_what_no_node_can_have_is_taken_back_and_all_else_is_not(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            client = stage.client
            out = await stage.send()
            await stage.until(out["id"], "submitted")
            dry = await stage.act(out["id"], "cancel", dry_run=True)
            assert (dry.status, dry.body["outcome"]) == (200, "would")
            assert dry.body["effect"].startswith("refused: a node may have it: it is final in")
            refused = await stage.act(f"{LANE}#0", "cancel")
            assert (refused.status, refused.code) == (409, "command_refused")
            for verb, more in (("bump", {}), ("replace", {"payload": {"to": "0x" + "11" * 20}})):
                heard = await stage.act(out["id"], verb, **more)
                assert (heard.status, heard.code) == (409, "command_refused"), verb
            await client.post("/v1/lanes/cosmos:dev/pause", WHY)
            waits = await stage.send()
            shown = (await client.get(f"/v1/transactions/{waits['id']}")).body
            assert (shown["status"], shown["reason"]) == ("queued", "paused")
            dry = await stage.act(waits["id"], "cancel", dry_run=True)
            assert dry.body["effect"] == "it would never be given a sequence"
            heard = await stage.act(waits["id"], "cancel")
            assert (heard.body["outcome"], heard.body["tx"]["status"]) == ("done", "cancelled")
            assert heard.body["effect"] == "it will never be sent"
            await client.post("/v1/lanes/cosmos:dev/resume", WHY)
            assert (await stage.finish(out["id"]))["status"] == "confirmed"
            # It is proven dead, so its body may be queued again, once.
            new = [(await stage.act(waits["id"], "retry")).body["tx"] for _ in range(2)]
            assert new[0]["id"] == new[1]["id"]
            landed = await stage.finish(new[0]["id"])
            assert (landed["status"], landed["retry_of"]) == ("confirmed", waits["id"])
            assert landed["cosmos"]["payload"] == shown["cosmos"]["payload"]
            assert landed["cosmos"]["sequence"] == 1
            assert (await stage.act(landed["id"], "retry")).status == 409
            late = await stage.send(to=TO, amount="1", valid_until=PAST)
            assert (await stage.until(late["id"], "expired"))["cosmos"]["sequence"] is None

    asyncio.run(main())


def test_a_failed_execution_and_a_refusal_say_code_and_words(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            poor = await stage.send(to=TO, amount=f"{10**15}utia", gas=100_000)
            done = await stage.finish(poor["id"])
            seen = done["cosmos"]
            assert (done["status"], seen["code"], seen["codespace"]) == ("reverted", 5, "sdk")
            assert "insufficient funds" in seen["log"]
            assert "insufficient funds" in done["reason"]
            cheap = await stage.send(to=TO, amount="1", gas=100_000, fee=1)
            low = await stage.finish(cheap["id"])
            assert (low["status"], low["cosmos"]["height"]) == ("refused", None)
            assert "fee" in low["reason"]
            after = await stage.finish((await stage.send())["id"])
            assert (after["status"], after["cosmos"]["sequence"]) == ("confirmed", 1)

    asyncio.run(main())


def test_a_lane_is_paused_drained_resumed_and_shows_its_health(tmp_path: Path) -> None:
    async def main() -> None:
        lane = "/v1/lanes/cosmos:dev"
        async with staged(tmp_path) as stage:
            client = stage.client
            idle = (await client.get(lane)).body
            assert (idle["id"], idle["state"]) == (LANE, "idle")
            assert (idle["cosmos"]["sequence_next"], idle["cosmos"]["address"]) == (None, OWN)
            assert (await client.get("/v1/lanes")).body["items"] == []
            assert (await client.post(f"{lane}/pause", WHY)).body["lane"]["state"] == "paused"
            sick = (await client.get(f"{lane}/health")).body
            assert (sick["healthy"], sick["problems"]) == (False, ["paused by loopback: a test"])
            txs = [(await stage.send())["id"] for _ in range(6)]
            assert (await client.post(f"{lane}/resume", WHY)).status == 200
            await stage.until(txs[3], "submitted")
            shown = (await client.get(f"/v1/transactions/{txs[5]}")).body
            assert shown["reason"] == "window_closed"
            numbers = await stage.lane(sequence_next=4)
            assert (numbers["committed"], numbers["bound"], numbers["pending"]) == (0, 4, 2)
            assert [node["next"] for node in numbers["nodes"]] == [4]
            assert numbers["held_bytes"] > numbers["signed_bytes"] > 0
            drained = await client.post(f"{lane}/drain", WHY | {"mode": "running"})
            assert drained.body["lane"]["state"] == "draining"
            await stage.finish(txs[3])
            for _ in range(3_000):
                shown = (await client.get(lane)).body
                if shown["state"] == "paused":
                    break
                await asyncio.sleep(0.02)
            assert (shown["state"], shown["by"], shown["waiting"]) == ("paused", "loopback", 2)
            await client.post(f"{lane}/resume", WHY)
            await stage.finish(txs[5])
            well = (await client.get(f"{lane}/health")).body
            assert (well["healthy"], well["problems"]) == (True, [])
            assert (well["cosmos"]["committed"], well["cosmos"]["held_bytes"]) == (6, 0)
            assert well["cosmos"]["last_confirmation_at"] is not None
            listed = (await client.get("/v1/lanes")).body["items"]
            assert [one["id"] for one in listed] == [LANE]
            metrics = (await client.get("/metrics")).body
            assert 'laneway_cosmos_transactions_total{result="confirmed"} 6.0' in metrics
            assert "laneway_cosmos_attempts_total 6.0" in metrics
            assert "laneway_cosmos_held_bytes 0.0" in metrics

    asyncio.run(main())


def test_setting_a_sequence_shows_its_numbers_first_and_gives_out_nothing_twice(
    tmp_path: Path,
) -> None:
    async def main() -> None:
        lane = "/v1/lanes/cosmos:dev/set-sequence"
        async with staged(tmp_path) as stage:
            client = stage.client
            unread = await client.post(lane, WHY | {"dry_run": True})
            assert unread.body["sequence"] is None
            assert (await client.post(lane, WHY)).status == 409
            out = await stage.send()
            await stage.until(out["id"], "submitted")
            dry = (await client.post(f"{lane}?dry_run=true", WHY | {"sequence": 0})).body
            plan = dry["sequence"]
            assert (dry["outcome"], plan["wanted"], plan["committed"]) == ("would", 0, 0)
            assert plan["sequence_next"] == plan["becomes"] == 1
            assert (plan["bound"], plan["bound_highest"]) == (1, 0)
            assert "is bound until" in plan["why"]
            assert "stays 1" in dry["effect"]
            await stage.finish(out["id"])
            done = await client.post(lane, WHY | {"sequence": 7})
            assert (done.status, done.body["outcome"]) == (200, "done")
            assert "becomes 7, from 1" in done.body["effect"]
            assert done.body["lane"]["cosmos"]["sequence_next"] == 7
            back = await client.post(lane, WHY)
            assert "becomes 1, from 7" in back.body["effect"]
            landed = await stage.finish((await stage.send())["id"])
            assert (landed["status"], landed["cosmos"]["sequence"]) == ("confirmed", 1)
            for bad in ({"sequence": -1}, {"sequence": "7"}, {"mode": "x"}):
                assert (await client.post(lane, WHY | bad)).status == 422
            trail = (await client.get("/v1/audit?lane=cosmos:dev")).body["items"]
            acts = [(one["action"], one["outcome"]) for one in trail]
            assert acts[:2] == [("set-sequence", "asked"), ("set-sequence", "refused")]
            assert acts[-1] == ("set-sequence", "done")
            await client.send()
            other = await client.post("/v1/lanes/contract:Qm1/set-sequence", WHY)
            assert (other.status, other.code) == (409, "command_refused")
            nonce = await client.post("/v1/lanes/cosmos:dev/reset-nonce", WHY)
            assert (nonce.status, nonce.code) == (409, "command_refused")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ({}, "payload"),
        ({"to": TO}, "payload.amount"),
        ({"amount": "5"}, "payload.to"),
        ({"to": TO, "amount": "0"}, "payload.amount"),
        ({"to": TO, "amount": "-5"}, "payload.amount"),
        ({"to": TO, "amount": "5 utia"}, "payload.amount"),
        ({"to": TO, "amount": "5utia", "denom": "uatom"}, "payload.denom"),
        ({"to": TO[:-1] + "q", "amount": "5"}, "payload.to"),
        ({"to": "cosmos1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xu", "amount": "5"}, "payload.to"),
        ({"to": TO, "amount": "5", "fee": 1, "gas_price": "0.1"}, "payload.gas_price"),
        ({"to": TO, "amount": "5", "gas_price": "0.0000001"}, "payload.gas_price"),
        ({"to": TO, "amount": "5", "fee_granter": "me"}, "payload.fee_granter"),
        ({"to": TO, "amount": "5", "gas": -1}, "payload.gas"),
        ({"to": TO, "amount": "5", "blobs": [{"namespace": NAMESPACE, "data": "eA=="}]},
         "payload.blobs"),
        ({"to": TO, "amount": "5", "nonce": 7}, "payload"),
        ({"messages": [{"type_url": "MsgSend", "value": ""}]}, "payload.messages[0].type_url"),
        ({"messages": [{"type_url": "/a.B", "value": "!"}]}, "payload.messages[0].value"),
        ({"blobs": [{"namespace": NAMESPACE, "data": ""}]}, "payload.blobs[0]"),
        ({"blobs": [{"namespace": "00", "data": "eA=="}]}, "payload.blobs[0].namespace"),
        ({"blobs": [{"namespace": "ab" * 11, "data": "eA=="}]}, "payload.blobs[0].namespace"),
        ({"blobs": [{"namespace": "abcde", "data": "eA=="}]}, "payload.blobs[0].namespace"),
        ({"blobs": [{"namespace": NAMESPACE, "data": "eA==", "share_version": 2}]},
         "payload.blobs[0].share_version"),
    ],
)  # fmt: skip
def test_what_no_node_would_take_is_refused_by_name(
    tmp_path: Path, payload: dict[str, Any], field: str
) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            body = {"lane": "cosmos:dev", "payload": payload}
            heard = await stage.client.post("/v1/transactions", body)
            assert (heard.status, heard.body["field"]) == (422, field), heard
            assert (await stage.client.get("/v1/transactions")).body["items"] == []

    asyncio.run(main())


def test_an_account_that_is_not_configured_is_named(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            for lane in ("cosmos:dev:cold", "cosmos:other", f"cosmos:laneway-dev:{TO}"):
                body = {"lane": lane, "payload": {"to": TO, "amount": "1"}}
                heard = await stage.client.post("/v1/transactions", body)
                assert (heard.status, heard.code, heard.body["lane"]) == (
                    404, "lane_not_found", lane,
                )  # fmt: skip
                assert "say cosmos:CHAIN:ACCOUNT" in heard.body["detail"]
                assert (await stage.client.get(f"/v1/lanes/{lane}/health")).status == 404

    asyncio.run(main())


def test_a_server_without_cosmos_accounts_says_so_and_takes_no_large_body() -> None:
    from tests.server.stage import serving

    async def main() -> None:
        async with serving() as client:
            body = {"lane": "cosmos:dev", "payload": {"to": TO, "amount": "1"}}
            assert (await client.post("/v1/transactions", body)).code == "lane_not_found"
            blob = {"namespace": NAMESPACE, "data": text(bytes(2 << 20))}
            large = {"lane": "cosmos:dev", "payload": {"blobs": [blob]}}
            heard = await post_large(client, "/v1/transactions", large)
            assert heard.code == "body_too_large"

    asyncio.run(main())


def test_where_there_is_no_room_a_request_is_told_to_come_again(tmp_path: Path) -> None:
    async def main() -> None:
        bounds = "process_bytes_max = 50000\naccount_bytes_max = 40000\nsubmit_wait_ms = 100"
        async with staged(tmp_path, sequence=bounds) as stage:
            blob = {"namespace": NAMESPACE, "data": text(bytes(10_000))}
            first = await stage.send(blobs=[blob])
            body = {"lane": "cosmos:dev", "payload": {"blobs": [blob]}}
            heard = await stage.client.post("/v1/transactions", body)
            assert (heard.status, heard.code) == (503, "no_room")
            assert heard.body["retryable"]
            assert int(heard.headers["Retry-After"]) > 0
            assert len((await stage.client.get("/v1/transactions")).body["items"]) == 1
            never = {"namespace": NAMESPACE, "data": text(bytes(30_000))}
            huge = {"lane": "cosmos:dev", "payload": {"blobs": [never]}}
            heard = await stage.client.post("/v1/transactions", huge)
            assert (heard.status, heard.body["field"]) == (422, "payload")
            waiting = asyncio.create_task(stage.client.post("/v1/transactions", body))
            await stage.finish(first["id"])
            answer = await waiting
            if answer.status == 503:  # A block may be slower than the wait.
                answer = await stage.client.post("/v1/transactions", body)
            assert answer.status == 202
            assert (await stage.finish(answer.body["id"]))["status"] == "confirmed"

    asyncio.run(main())


def test_a_recovery_says_why_what_is_expected_and_what_happens_next(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with staged(tmp_path, own='gas_price = "0.004"') as stage:
            first = await stage.finish((await stage.send())["id"])
            assert first["status"] == "confirmed"
            out = [(await stage.send())["id"] for _ in range(2)]
            await stage.until(out[1], "submitted")
            await stage.chain.stop_node(0)
            new = await stage.send(to=TO, amount="1", gas=100_000)
            down = await stage.lane(recovering=True)
            (node,) = down["nodes"]
            assert (node["recovering"], node["next"] <= 3) == (True, True)
            assert "again" in node["then"]
            assert node["reason"] in down["reason"]
            lane = (await stage.client.get("/v1/lanes/cosmos:dev")).body
            assert lane["state"] == "recovering"
            said = f"node {stage.chain.url} cannot be reached: connection refused"
            assert lane["reason"].endswith(f"without an answer; {said}")
            sick = (await stage.client.get("/v1/lanes/cosmos:dev/health")).body
            assert (sick["healthy"], sick["problems"][1:]) == (False, [said])
            # Its mempool is empty when it is back: everything is given again, the lowest first.
            await stage.chain.start_node(0)
            for intent in (*out, new["id"]):
                assert (await stage.finish(intent))["status"] == "confirmed"
            well = await stage.lane(recovering=False)
            assert (well["committed"], well["nodes"][0]["reason"]) == (4, "")
            metrics = (await stage.client.get("/metrics")).body
            assert "laneway_cosmos_recoveries_total" in metrics

    with caplog.at_level(logging.WARNING, "laneway.sequence"):
        asyncio.run(main())
    lines = [one.getMessage() for one in caplog.records if one.name == "laneway.sequence"]
    entered = [line for line in lines if line.startswith("Recovery entered")]
    assert entered, lines
    assert all(f"lane={LANE}" in line and " then=" in line for line in entered)
    assert any(line.startswith("Recovery left") for line in lines)


def test_a_key_for_one_account_does_not_reach_another_by_its_name(tmp_path: Path) -> None:
    from laneway.wiring.keys import as_toml, new_key

    async def main() -> None:
        keys = tmp_path / "keys.toml"
        own, mine = new_key("own", scopes=("tx:read", "tx:write"), lanes=(LANE,))
        other, theirs = new_key("other", scopes=("tx:read", "tx:write"), lanes=("cosmos:dev:*",))
        keys.write_text(as_toml(mine) + as_toml(theirs))
        keys.chmod(0o600)
        async with staged(tmp_path, server__keys_file=str(keys)) as stage:
            body = {"lane": "cosmos:dev", "payload": {"to": TO, "amount": "1"}}
            for token, status in ((own, 202), (other, 403)):
                bearer = {"Authorization": f"Bearer {token}"}
                heard = await stage.client.post("/v1/transactions", body, **bearer)
                assert heard.status == status, heard
                heard = await stage.client.get("/v1/lanes/cosmos:dev/health", **bearer)
                assert heard.status == (200 if status == 202 else 403)

    asyncio.run(main())


def test_webhooks_carry_what_an_account_does(tmp_path: Path) -> None:
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
            async with staged(tmp_path, more=hook) as stage:
                tx = await stage.send()
                await stage.until(tx["id"], "submitted")
                done = await stage.finish(tx["id"])
                await receiver.until(3, distinct=True)
            told = {body["type"]: body["data"] for body in receiver.bodies()}
            words = ("signed", "submitted", "confirmed")
            assert sorted(told) == sorted(f"transaction.{word}" for word in words)
            last = told["transaction.confirmed"]
            assert (last["tx"], last["hash"], last["sequence"], last["block"]) == (
                tx["id"], done["hash"], 0, done["block"],
            )  # fmt: skip
            assert all(verified(headers, body) for headers, body in receiver.heard)

    asyncio.run(main())


def test_a_long_list_is_paged_without_gap_or_repeat(tmp_path: Path) -> None:
    async def main() -> None:
        async with staged(tmp_path) as stage:
            await stage.client.post("/v1/lanes/cosmos:dev/pause", WHY)
            sent = [(await stage.send())["id"] for _ in range(40)]
            for query in ("lane=cosmos:dev", "status=queued", ""):
                found: list[str] = []
                cursor = ""
                while True:
                    path = f"/v1/transactions?{query}&limit=25{cursor}".replace("?&", "?")
                    page = (await stage.client.get(path)).body
                    found += [tx["id"] for tx in page["items"]]
                    if page["next_cursor"] is None:
                        break
                    cursor = f"&cursor={page['next_cursor']}"
                assert found == sent, query

    asyncio.run(main())
