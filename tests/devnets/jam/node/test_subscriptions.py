"""Subscriptions are opened, told, left and counted, on the best chain and on the final one."""

import asyncio
from typing import Any

import pytest
from aiohttp import ClientSession
from tests.devnets.jam.wire_stage import (
    UNKNOWN,
    Builder,
    Client,
    client,
    kinds,
    submit,
    tell,
    text,
)

from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.devnets.jam.node import subscriptions
from laneway.devnets.jam.node.subscriptions import SUBSCRIPTIONS
from laneway.jam import state_keys
from laneway.wire import jip2


def test_every_subscription_of_jip_2_can_be_opened_and_left() -> None:
    assert sorted(SUBSCRIPTIONS) == sorted(jip2.SUBSCRIPTIONS)

    async def story(_net: JamDevnet, say: Client) -> None:
        anchor = (await say.say("bestBlock"))["header_hash"]
        given: dict[jip2.Writer, object] = {
            jip2.HASH: anchor,
            jip2.blob: text(b"key"),
            int: 1,
            bool: True,
            jip2.STATE_KEY: text(state_keys.STATISTICS),
        }
        for opened, (method, kinds_) in enumerate(jip2.SUBSCRIPTIONS.items(), 1):
            params = [given[kind] for kind in kinds_]
            assert await say.say(method, *params) == opened
            name, told = await say.next()
            assert (name, told["subscription"]) == (method, opened)
            assert set(told) == {"subscription", "result"}
            assert (await say.refusal(method, *params, 1)).code == -32602
            assert (await say.say("dev_subscriptions"))["open"] == 1
            assert await say.say(jip2.leaving(method), opened) is True
            assert await say.say(jip2.leaving(method), opened) is False
        counted = {"connections": 1, "open": 0, "opened": len(jip2.SUBSCRIPTIONS)}
        assert await say.say("dev_subscriptions") == counted

    tell(story)


def test_they_tell_what_changes_on_either_chain() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        anchor = (await say.say("dev_produce"))["header_hash"]
        sent = await submit(say, Builder(net.model.genesis).build()[1])
        heads = await say.say("subscribeBestBlock")
        final = await say.say("subscribeFinalizedBlock")
        at_best = await say.say("subscribeWorkPackageStatus", sent.hash, anchor, False)
        at_final = await say.say("subscribeWorkPackageStatus", sent.hash, anchor, True)
        account = await say.say("subscribeServiceData", ROLLUP_SERVICE_DEV, False)
        nothing = await say.say("subscribeServiceValue", 7, text(b"key"), False)
        activity = await say.say("subscribeStatistics", False)
        made = [await say.say("dev_produce") for _ in range(5)]
        assert [one["slot"] for one in say.updates(heads)] == [1, 2, 3, 4, 5, 6]
        assert [one["slot"] for one in say.updates(final)] == [0, 1, 2, 3, 4]
        assert kinds(say.updates(at_best)) == ["Reportable", "Reported", "Ready"]
        assert kinds(say.updates(at_final)) == ["Failed", "Reportable", "Reported", "Ready"]
        assert [one["slot"] for one in say.updates(account)] == [1, 3]
        assert [one["value"] for one in say.updates(nothing)] == [None]
        assert len(say.updates(activity)) == 6
        assert say.updates(at_best)[1]["header_hash"] == made[0]["header_hash"]
        assert await say.say("dev_subscriptions") == {"connections": 1, "open": 7, "opened": 7}
        assert await say.say("unsubscribeBestBlock", final) is False
        assert await say.say("unsubscribeBestBlock", heads) is True
        say.told.clear()
        await say.say("dev_produce")
        assert say.updates(heads) == []
        assert (await say.say("dev_subscriptions"))["open"] == 6

    tell(story)


def test_a_reorg_turns_reported_into_reportable() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        anchor = (await say.say("dev_produce"))["header_hash"]
        sent = await submit(say, Builder(net.model.genesis).build()[1])
        best = await say.say("subscribeWorkPackageStatus", sent.hash, anchor, False)
        final = await say.say("subscribeWorkPackageStatus", sent.hash, anchor, True)
        await say.say("dev_finality", "freeze")
        await say.say("dev_produce")
        other = await say.say("dev_produce", {"parent": anchor, "noGuarantee": True})
        assert kinds(say.updates(best)) == ["Reportable", "Reported", "Reportable"]
        assert (await say.say("bestBlock"))["header_hash"] == other["header_hash"]
        assert "Reported" not in kinds(say.updates(final))

    tell(story)


def test_subscriptions_of_one_connection_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "SUBSCRIPTIONS_COUNT_MAX", 2)

    async def story(net: JamDevnet, say: Client) -> None:
        first = await say.say("subscribeBestBlock")
        await say.say("subscribeFinalizedBlock")
        no = await say.refusal("subscribeBestBlock")
        assert (no.code, no.message) == (-32006, "Too many subscriptions on the connection")
        # What cannot be followed at all is told so only where there is room for it.
        assert (
            await say.refusal("subscribeWorkPackageStatus", UNKNOWN, UNKNOWN, False)
        ).code == no.code
        await say.say("unsubscribeBestBlock", first)
        assert await say.say("subscribeBestBlock") == 3
        async with ClientSession() as session, client(session, net.url) as other:
            assert await other.say("subscribeBestBlock") == 4

    tell(story)


def test_what_cannot_be_followed_is_refused() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        no = await say.refusal("subscribeWorkPackageStatus", UNKNOWN, UNKNOWN, False)
        assert (no.code, no.about) == (1, UNKNOWN)
        long = 2**32 - 1
        assert (await say.refusal("subscribeServiceRequest", 1, UNKNOWN, long, True)).code == 0
        for name in ("subscribeNothing", "unsubscribeNothing", "un", "unbestBlock"):
            assert (await say.refusal(name)).code == -32601
        assert (await say.refusal("unsubscribeBestBlock", "1")).code == -32602
        assert (await say.say("dev_subscriptions"))["opened"] == 0

    tell(story)


def test_a_client_that_goes_away_leaves_nothing() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        async with ClientSession() as session:
            async with client(session, net.url) as other:
                for _ in range(10):
                    await other.say("subscribeBestBlock")
                counted = {"connections": 2, "open": 10, "opened": 10}
                assert await say.say("dev_subscriptions") == counted
            async with client(session, net.url) as rude:
                await rude.say("subscribeBestBlock")
                transport = rude.socket._response.connection
                assert transport is not None
                assert transport.transport is not None
                transport.transport.abort()
                await until_alone(say)
        await say.say("dev_produce")
        assert net.subscriptions() == {"connections": 1, "open": 0, "opened": 11}

    tell(story)


async def until_alone(say: Client) -> None:
    while (await say.say("dev_subscriptions"))["connections"] > 1:
        await asyncio.sleep(0.005)


def test_each_connection_has_its_own() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        async with ClientSession() as session, client(session, net.url) as other:
            mine = await say.say("subscribeBestBlock")
            theirs = await other.say("subscribeBestBlock")
            assert await other.say("unsubscribeBestBlock", mine) is False
            await say.say("dev_produce")
            told = [(await other.next())[1] for _ in range(2)]
            assert {one["subscription"] for one in told} == {theirs}
            assert [one["slot"] for one in say.updates(mine)] == [0, 1]

    tell(story)


def test_a_call_without_a_number_opens_one_all_the_same() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        quiet = '{"jsonrpc":"2.0","method":"subscribeBestBlock"}'
        await say.socket.send_str(quiet)
        assert (await say.next())[1]["subscription"] == 1
        assert (await say.say("dev_subscriptions"))["open"] == 1

    tell(story)


def test_what_is_not_there_any_more_is_told_once() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        anchor = (await say.say("dev_produce"))["header_hash"]
        followed = await say.say("subscribeWorkPackageStatus", UNKNOWN, anchor, False)
        net.step(100)
        assert (await say.refusal("parent", anchor)).code == 1
        told: list[Any] = [one for _, one in say.told if one["subscription"] == followed]
        assert [set(one) for one in told[-2:]] == [
            {"subscription", "result"},
            {"subscription", "error"},
        ]

    tell(story)
