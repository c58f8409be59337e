"""The devnet as a whole: its clock, its nodes, its accounts, and its ends."""

import asyncio
import tomllib
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientConnectionError, ClientSession
from msgspec import json
from tests.devnets.jam.wire_stage import Builder, Client, client, packed, tell, text

from laneway.devnets.jam.devnet import JamDevnet, greeting, table_of
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.jam.ed25519 import HeldEd25519Key
from laneway.jam.spec import TINY
from laneway.jam.state import SERVICE_ACCOUNT
from laneway.rollups.ledger.account import DEV_ACCOUNTS
from laneway.rollups.ledger.kind import GENESIS_KEY
from laneway.rollups.ledger.limits import BALANCE_DEV
from laneway.rollups.ledger.state import GENESIS
from laneway.rollups.ledger.transfer import account_id
from laneway.rollups.ledger.witness import code_hash
from laneway.wire.rpc_server.methods import RpcRefused


def test_slots_pass_by_the_clock() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("subscribeBestBlock")
        slots = [(await say.next())[1]["result"]["slot"] for _ in range(5)]
        assert slots == list(range(slots[0], slots[0] + 5))
        assert net.model.slot >= slots[-1]

    tell(story, slot_ms=5)


def test_a_slot_may_be_hurried_while_the_clock_goes() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        before = (await say.say("bestBlock"))["slot"]
        made = [(await say.say("dev_produce"))["slot"] for _ in range(5)]
        assert made == list(range(before + 1, before + 6))

    tell(story, slot_ms=3_600_000)


def test_a_devnet_that_is_closed_makes_no_block() -> None:
    async def story() -> None:
        async with JamDevnet(slot_ms=1) as net:
            while net.model.slot < 2:
                await asyncio.sleep(0.001)
        at = net.model.slot
        await asyncio.sleep(0.01)
        assert net.model.slot == at

    asyncio.run(story())


def test_without_a_clock_nothing_happens_until_it_is_told_to() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await asyncio.sleep(0.02)
        assert (await say.say("bestBlock"))["slot"] == 0
        followed = await say.say("subscribeBestBlock")
        done = net.step(3)
        assert (done.slot, done.number) == (3, 3)
        net.model.step(4)
        net.settle()
        assert (await say.say("bestBlock"))["slot"] == 4
        assert [one["slot"] for one in say.updates(followed)] == [0, 1, 2, 3, 4]

    tell(story)


def test_a_call_needs_no_socket() -> None:
    net = JamDevnet(slot_ms=0)
    made: Any = net.say("dev_produce")
    assert net.say("parent", made["header_hash"]) == {
        "header_hash": text(net.model.genesis),
        "slot": 0,
    }
    with pytest.raises(RpcRefused, match="Method not found"):
        net.say("nope")


def test_each_node_has_a_view_of_its_own() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        assert len(set(net.urls)) == 3
        async with ClientSession() as session, client(session, net.urls[2]) as late:
            await say.say("dev_fault", "lag_slots", [[2, 3]])
            followed = await late.say("subscribeBestBlock")
            for _ in range(5):
                await say.say("dev_produce")
            assert (await say.say("bestBlock"))["slot"] == 5
            assert (await late.say("bestBlock"))["slot"] == 2
            assert [one["slot"] for one in late.updates(followed)] == [0, 1, 2]
            assert (await late.say("syncState")) == {"num_peers": 8, "status": "InProgress"}
            assert (await late.say("dev_subscriptions"))["connections"] == 2

    tell(story, nodes=3)


def test_a_package_is_reported_whichever_node_it_was_handed_to() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("dev_produce")
        async with ClientSession() as session, client(session, net.urls[1]) as other:
            sent = await packed(other, Builder(net.model.genesis).build()[1])
            await other.say("submitWorkPackage", 1, text(sent.bytes), sent.extrinsics)
        made = await say.say("dev_produce")
        assert [one["package"] for one in made["reported"]] == [sent.hash]

    tell(story, nodes=2)


@pytest.mark.slow
def test_a_node_that_is_down_is_at_its_place_again() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        first, second = net.urls
        async with ClientSession() as session:
            async with client(session, second) as other:
                await other.say("subscribeBestBlock")
                await net.stop_node(1)
                assert net.subscriptions() == {"connections": 1, "open": 0, "opened": 1}
            with pytest.raises(ClientConnectionError):
                await session.ws_connect(second)
            await say.say("dev_produce")
            await net.start_node(1)
            assert net.urls == (first, second)
            async with client(session, second) as other:
                assert await other.say("bestBlock") == await say.say("bestBlock")

    tell(story, nodes=2)


def test_a_place_that_is_taken_is_said_so() -> None:
    async def story(net: JamDevnet, _say: Client) -> None:
        port = int(net.url.rpartition(":")[2])
        with pytest.raises(OSError, match="in use"):
            await JamDevnet(port=port, nodes=2).start()

    tell(story)


def test_it_listens_on_loopback_alone() -> None:
    async def story(net: JamDevnet, _say: Client) -> None:
        wanted = f":{int(net.url.rpartition(':')[2]):04X}"
        lines = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        listening = [line.split() for line in lines.splitlines() if " 0A " in line]
        assert [one[1] for one in listening if one[1].endswith(wanted)] == [f"0100007F{wanted}"]

    tell(story)


def test_the_known_accounts_have_what_they_need() -> None:
    net = JamDevnet(slot_ms=0)
    model = net.model
    stored = model.service_value(0, model.genesis, ROLLUP_SERVICE_DEV, GENESIS_KEY)
    assert stored is not None
    balances = {one.id: one.balance for one in GENESIS.decode(stored)}
    assert balances == {account.id: BALANCE_DEV for account in DEV_ACCOUNTS}
    raw = model.service_data(0, model.genesis, ROLLUP_SERVICE_DEV)
    assert raw is not None
    assert SERVICE_ACCOUNT.decode(raw).code_hash == code_hash(model.genesis)
    assert all(
        account_id(HeldEd25519Key(account.secret).public_key) == account.id
        for account in net.accounts
    )


def test_a_chain_may_be_without_services() -> None:
    net = JamDevnet(slot_ms=0, services={}, spec=TINY)
    assert net.say("listServices", text(net.model.genesis)) == []


def test_it_says_where_it_is_and_who_has_money() -> None:
    async def story(net: JamDevnet, _say: Client) -> None:
        raw, printed = greeting(net)
        place, lines = json.decode(json.encode(raw)), "\n".join(printed)
        assert (place["url"], place["urls"]) == (net.url, list(net.urls))
        assert (place["genesis"], place["spec"]) == (net.model.genesis.hex(), "tiny")
        assert (place["service"], len(place["accounts"])) == (ROLLUP_SERVICE_DEV, 10)
        for account, told in zip(DEV_ACCOUNTS, place["accounts"], strict=True):
            assert told == {"id": account.id.hex(), "key": account.secret.hex()}
            assert f"{told['id']}  {told['key']}" in lines
        assert lines.splitlines()[0] == f"listening on {' '.join(net.urls)}"
        for said in (place["toml"], lines.partition("in a laneway.toml:")[2]):
            (table,) = tomllib.loads(said)["rollup"]
            assert table == {
                "name": "pay",
                "service": ROLLUP_SERVICE_DEV,
                "nodes": list(net.urls),
                "genesis": net.model.genesis.hex(),
            }

    tell(story, nodes=2)


@pytest.mark.parametrize(("slot_ms", "said"), [(0, None), (6_000, None), (500, 500)])
def test_the_table_of_a_rollup_on_it_has_its_pace(slot_ms: int, said: int | None) -> None:
    net = JamDevnet(slot_ms=slot_ms)
    (table,) = tomllib.loads(table_of(net))["rollup"]
    assert table.get("slot_ms") == said
