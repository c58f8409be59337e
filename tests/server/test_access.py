"""Laws of access: without keys this machine alone, with keys what each key allows."""

import asyncio
from base64 import urlsafe_b64decode
from pathlib import Path

import pytest
from tests.server.stage import CALL, serving

from laneway.kinds.config import ConfigError
from laneway.server.access import Key
from laneway.wiring.config import load
from laneway.wiring.keys import as_toml, new_key, read_keys

REASON = {"reason": "r"}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:8547"},
        {"Host": "localhost.evil.example"},
        {"Host": "[::1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example:8547"},
    ],
    ids=str,
)
def test_without_keys_a_foreign_host_or_origin_is_refused(headers: dict[str, str]) -> None:
    async def main() -> None:
        async with serving() as client:
            heard = await client.ask("POST", "/v1/transactions", json=CALL, headers=headers)
            assert heard.status in (400, 403), heard
            assert (await client.get("/v1/lanes")).body["items"] == []
            assert (await client.ask("GET", "/v1/lanes", headers=headers)).status in (400, 403)

    asyncio.run(main())


@pytest.mark.parametrize("host", ["localhost", "localhost:8547", "127.0.0.1", "[::1]:8547"])
def test_without_keys_this_machine_is_served(host: str) -> None:
    async def main() -> None:
        async with serving() as client:
            headers = {"Host": host, "Origin": f"http://{host}"}
            heard = await client.ask("POST", "/v1/transactions", json=CALL, headers=headers)
            assert heard.status == 202

    asyncio.run(main())


def keys_file(folder: Path, *keys: Key) -> str:
    path = folder / "keys.toml"
    path.write_text("\n".join(as_toml(key) for key in keys))
    return str(path)


def limited(name: str, **fields: object) -> tuple[str, Key]:
    import msgspec

    token, key = new_key(name)
    return f"Bearer {token}", msgspec.structs.replace(key, **fields)


def test_a_key_opens_what_its_scopes_and_lanes_allow(tmp_path: Path) -> None:
    full, full_key = limited("full")
    reader, reader_key = limited("reader", scopes=("tx:read",))
    narrow, narrow_key = limited("narrow", lanes=("contract:Qm1*",))
    path = keys_file(tmp_path, full_key, reader_key, narrow_key)

    async def main() -> None:
        async with serving(server__keys_file=path, host__round_ms="60000") as client:
            for wrong in ("", "Bearer", "Basic abc", "Bearer lw_full_0", full[:-1], full + "0"):
                heard = await client.get("/v1/lanes", Authorization=wrong)
                assert (heard.status, heard.code) == (401, "key_missing"), wrong
                assert heard.headers["WWW-Authenticate"].startswith("Bearer")
            long = "Bearer lw_a_" + "b" * 999
            assert (await client.get("/v1/lanes", Authorization=long)).status == 401
            # A foreign Host is no danger any more: no page has the secret.
            assert (await client.get("/livez", Host="queue.example")).status == 200
            sent = await client.post("/v1/transactions", CALL, Authorization=full)
            assert sent.status == 202
            two = await client.post(
                "/v1/transactions", CALL | {"lane": "contract:Qm2"}, Authorization=full
            )
            refused = await client.post("/v1/transactions", CALL, Authorization=reader)
            assert (refused.status, refused.code) == (403, "scope_missing")
            assert (await client.get("/metrics", Authorization=reader)).status == 403
            assert (await client.get("/metrics", Authorization=full)).status == 200
            pause = "/v1/lanes/contract:Qm2/pause"
            assert (await client.post(pause, REASON, Authorization=reader)).code == "scope_missing"
            refused = await client.post(pause, REASON, Authorization=narrow)
            assert refused.code == "lane_not_allowed"
            away = CALL | {"lane": "contract:Qm2"}
            refused = await client.post("/v1/transactions", away, Authorization=narrow)
            assert (refused.status, refused.code) == (403, "lane_not_allowed")
            hidden = f"/v1/transactions/{two.body['id']}"
            refused = await client.get(hidden, Authorization=narrow)
            assert refused.status == 403
            assert "Qm2" not in str(refused.body)
            assert (await client.get(hidden, Authorization=reader)).status == 200
            for query in ("", "?status=submitted"):
                seen = await client.get(f"/v1/transactions{query}", Authorization=narrow)
                assert [tx["lane"] for tx in seen.body["items"]] == ["contract:Qm1"]
            lanes = await client.get("/v1/lanes", Authorization=narrow)
            assert [lane["id"] for lane in lanes.body["items"]] == ["contract:Qm1"]
            assert (
                await client.get("/v1/events?lane=contract:Qm2", Authorization=narrow)
            ).status == 403
            rows = await client.get("/api/smart-contract-queue-metrics", Authorization=narrow)
            assert [row["contract"] for row in rows.body] == ["Qm1"]

    asyncio.run(main())


def test_a_cursor_names_no_lane_of_others(tmp_path: Path) -> None:
    full, full_key = limited("full")
    narrow, narrow_key = limited("narrow", lanes=("contract:Own*",))
    path = keys_file(tmp_path, full_key, narrow_key)
    own = ["contract:OwnA", "contract:OwnB", "contract:OwnC"]
    others = [f"contract:{name}{n}" for name in ("Aaa", "OwN", "Zzz") for n in range(4)]

    async def main() -> None:
        async with serving(server__keys_file=path, host__round_ms="60000") as client:
            for lane in (*own, *others):
                await client.post("/v1/transactions", CALL | {"lane": lane}, Authorization=full)
            for place, one in (("lanes", "id"), ("transactions", "lane")):
                for limit in (1, 2, 5):
                    found: list[str] = []
                    cursor = ""
                    while True:
                        asked = f"/v1/{place}?limit={limit}{cursor}"
                        page = (await client.get(asked, Authorization=narrow)).body
                        found += [item[one] for item in page["items"]]
                        told = page["next_cursor"]
                        if told is None:
                            break
                        named = urlsafe_b64decode(told + "==")
                        assert not any(lane.encode() in named for lane in others), named
                        cursor = f"&cursor={told}"
                    assert found == own

    asyncio.run(main())


def test_each_key_has_its_own_idempotency_keys(tmp_path: Path) -> None:
    ann, ann_key = limited("ann")
    bob, bob_key = limited("bob")
    path = keys_file(tmp_path, ann_key, bob_key)

    async def main() -> None:
        async with serving(server__keys_file=path) as client:
            name = {"Idempotency-Key": "order-1"}
            first = await client.post("/v1/transactions", CALL, Authorization=ann, **name)
            second = await client.post("/v1/transactions", CALL, Authorization=bob, **name)
            assert first.body["id"] != second.body["id"]
            found = await client.get("/v1/transactions?key=order-1", Authorization=bob)
            assert [tx["id"] for tx in found.body["items"]] == [second.body["id"]]

    asyncio.run(main())


def test_an_expired_key_is_refused(tmp_path: Path) -> None:
    token, key = limited("old")
    path = tmp_path / "keys.toml"
    path.write_text(as_toml(key) + "expires = 2001-01-01T00:00:00Z\n")

    async def main() -> None:
        async with serving(server__keys_file=str(path)) as client:
            assert (await client.get("/v1/lanes", Authorization=token)).code == "key_expired"

    asyncio.run(main())


def test_a_server_that_others_can_reach_needs_keys() -> None:
    for listen in ("0.0.0.0", "192.168.1.7", "queue.example", "::"):
        with pytest.raises(ConfigError, match="needs API keys"):
            load(None, {}, {"server.listen": listen})
    for listen in ("127.0.0.1", "localhost", "::1", "127.0.0.2"):
        load(None, {}, {"server.listen": listen})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "keys = []",
        "keys = 5",
        "[[keys]]\nid = 'UPPER'\nsha256 = '0'",
        f"[[keys]]\nid = 'a'\nsha256 = '{'0' * 63}'",
        f"[[keys]]\nid = 'a'\nsha256 = '{'0' * 64}'\nscopes = ['all']",
        f"[[keys]]\nid = 'a'\nsha256 = '{'0' * 64}'\n" * 2,
        "\x00",
    ],
    ids=lambda text: text[:30],
)
def test_a_keys_file_with_a_mistake_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "keys.toml"
    path.write_text(text)
    with pytest.raises(ConfigError):
        read_keys(str(path))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_keys(str(tmp_path / "none.toml"))


def test_a_new_key_stores_no_secret() -> None:
    token, key = new_key("ann")
    assert token.startswith("lw_ann_")
    assert token.removeprefix("lw_ann_") not in as_toml(key)
