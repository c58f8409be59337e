"""The hands that move a devnet: blocks where they are wanted, finality, and faults."""

import pytest
from tests.devnets.jam.wire_stage import UNKNOWN, Builder, Client, data, submit, tell, text

from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.model.faults import Faults
from laneway.devnets.jam.node.switches import SWITCHES
from laneway.jam.extrinsic import extrinsic_codec, extrinsic_hash
from laneway.jam.hashing import blake2b
from laneway.jam.header import block_codec, header_codec
from laneway.jam.spec import TINY
from laneway.wire.rpc_server.methods import RpcRefused


def test_a_block_tells_what_it_did() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        made = await say.say("dev_produce", {})
        block = await say.say("dev_block", made["header_hash"])
        assert {**made, "finalised": []} == {
            name: told for name, told in block.items() if name not in ("header", "extrinsic")
        }
        assert (made["number"], made["parent"]) == (1, text(net.model.genesis))
        assert (made["pending"], made["reported"], made["queued"]) == ([None, None], [], [])
        header, extrinsic = data(block["header"]), data(block["extrinsic"])
        assert text(blake2b(header)) == made["header_hash"]
        read = header_codec(TINY).decode(header)
        assert read.author_index == made["author"]
        body = extrinsic_codec(TINY).decode(extrinsic)
        assert read.extrinsic_hash == extrinsic_hash(body, TINY)
        assert block_codec(TINY).decode(header + extrinsic).header == read
        first = await say.say("dev_block", text(net.model.genesis))
        assert (first["parent"], first["number"], first["slot"]) == (None, 0, 0)

    tell(story)


def test_slots_are_skipped_and_never_repeated() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        slots = [(await say.say("dev_produce", wish))["slot"] for wish in ({}, {"slot": 20}, {})]
        assert slots == [1, 20, 21]
        no = await say.refusal("dev_produce", {"slot": 21})
        assert (no.code, no.message) == (0, "slot 21 is not after 21")

    tell(story)


def test_a_fork_is_the_best_chain_from_its_first_block_on() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        await say.say("dev_finality", "freeze")
        common = (await say.say("dev_produce"))["header_hash"]
        left = [await say.say("dev_produce") for _ in range(3)]
        right = await say.say("dev_produce", {"parent": common, "variant": 1})
        assert (right["parent"], right["slot"], right["number"]) == (common, 2, 2)
        assert right["header_hash"] != left[0]["header_hash"]
        assert (await say.say("bestBlock"))["header_hash"] == right["header_hash"]
        upon = await say.say("dev_produce")
        assert (upon["parent"], upon["slot"]) == (right["header_hash"], 3)
        far = await say.say("dev_produce", {"slot": 9})
        assert far["parent"] == upon["header_hash"]
        back = await say.say("dev_produce", {"parent": left[2]["header_hash"]})
        assert (await say.say("bestBlock"))["header_hash"] == back["header_hash"]
        same = await say.say("dev_produce", {"parent": common})
        assert same["header_hash"] == left[0]["header_hash"]

    tell(story)


def test_nothing_is_built_below_the_final_block() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        for _ in range(5):
            await say.say("dev_produce")
        no = await say.refusal("dev_produce", {"parent": text(net.model.genesis), "slot": 9})
        assert (no.code, no.message) == (0, "the parent is not upon the final block")

    tell(story)


def test_finality_follows_at_its_depth_and_never_turns_back() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        for _ in range(5):
            await say.say("dev_produce")
        assert (await say.say("finalizedBlock"))["slot"] == 3
        assert (await say.say("dev_finality", "freeze"))["slot"] == 3
        for _ in range(3):
            await say.say("dev_produce")
        assert (await say.say("finalizedBlock"))["slot"] == 3
        assert (await say.say("dev_finality", 0))["slot"] == 3
        assert (await say.say("dev_finality", "thaw"))["slot"] == 8
        assert (await say.say("dev_finality", 4))["slot"] == 8
        await say.say("dev_produce")
        assert (await say.say("finalizedBlock"))["slot"] == 8
        wrong: tuple[object, ...] = ("maybe", -1, None, 2**16, True, [])
        for wish in wrong:
            assert (await say.refusal("dev_finality", wish)).code == -32602

    tell(story)


def test_guarantees_are_withheld_for_one_block() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("dev_produce")
        builder = Builder(net.model.genesis)
        sent = [await submit(say, builder.build()[1], core) for core in (0, 1)]
        none = await say.say("dev_produce", {"noGuarantee": True})
        one = await say.say("dev_produce", {"noGuarantee": [0]})
        rest = await say.say("dev_produce", {"noGuarantee": False})
        told = [[each["package"] for each in made["reported"]] for made in (none, one, rest)]
        assert told == [[], [sent[1].hash], [sent[0].hash]]
        assert net.model.faults.withheld_cores == set()

    tell(story)


def test_assurances_are_withheld_for_one_block() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("dev_produce")
        sent = await submit(say, Builder(net.model.genesis).build()[1])
        assert (await say.say("dev_produce"))["pending"] == [sent.hash, None]
        held = await say.say("dev_produce", {"noAssure": [0]})
        assert (held["available"], held["pending"]) == ([], [sent.hash, None])
        assert (await say.say("dev_produce"))["available"] == [sent.hash]
        assert net.model.faults.unavailable_cores == set()

    tell(story)


def test_a_wish_that_nobody_knows_is_refused() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        fields = ({"wish": 1}, {"slot": "1"}, {"noAssure": True}, {"noGuarantee": 1})
        wrong: tuple[object, ...] = (*fields, [], 5)
        for wish in wrong:
            assert (await say.refusal("dev_produce", wish)).code == -32602
        assert (await say.say("bestBlock"))["slot"] == 0

    tell(story)


def test_every_switch_of_the_model_can_be_set() -> None:
    assert set(SWITCHES) == set(vars(Faults())) - {"bites"}
    values: dict[str, object] = {
        "late_slots": 2,
        "reorg_depth": 1,
        "lag_slots": [[0, 2]],
        "skew_slots": [[0, -2]],
        "censored": [UNKNOWN],
        "hidden_blocks": [[0, [UNKNOWN]]],
        "hidden_reports": [[0, [UNKNOWN]]],
    }
    flags = {name for name, value in vars(Faults()).items() if isinstance(value, bool)}

    async def story(net: JamDevnet, say: Client) -> None:
        for name in SWITCHES:
            value = values.get(name, True if name in flags else [1, 3])
            assert await say.say("dev_fault", name, value) is None
        faults = net.model.faults
        assert (faults.late_slots, faults.lag_slots, faults.skew_slots) == (2, {0: 2}, {0: -2})
        assert faults.hidden_blocks == faults.hidden_reports == {0: {data(UNKNOWN)}}
        assert faults.censored == {data(UNKNOWN)}
        assert faults.withheld_cores == faults.silent_voters == faults.skipped_slots == {1, 3}
        assert faults.pairs_versions
        assert faults.is_finality_stalled

    tell(story)


def test_a_switch_takes_nothing_that_it_does_not_know() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        wrong: list[list[object]] = [
            ["bites", {}],
            ["nothing", 1],
            [5, 1],
            ["late_slots"],
            ["late_slots", -1],
            ["late_slots", "2"],
            ["withheld_cores", 1],
            ["withheld_cores", [70_000]],
            ["withheld_cores", [0] * 5_000],
            ["pairs_versions", 1],
            ["censored", ["AA=="]],
            ["lag_slots", {"0": 1}],
            ["lag_slots", [[0]]],
            ["lag_slots", [5]],
            ["lag_slots", [[0, 1]] * 17],
            ["skew_slots", [[0, 2**16]]],
            ["skew_slots", [[0, True]]],
            ["hidden_blocks", [[0, UNKNOWN]]],
        ]
        before = repr(vars(net.model.faults))
        for params in wrong:
            assert (await say.refusal("dev_fault", *params)).code == -32602, params
        assert repr(vars(net.model.faults)) == before

    tell(story)


def test_faults_are_counted_when_they_bite() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        assert set((await say.say("dev_faults")).values()) == {0}
        await say.say("dev_fault", "skipped_slots", [2])
        made = [await say.say("dev_produce") for _ in range(3)]
        assert [one["header_hash"] is None for one in made] == [False, True, False]
        assert (made[1]["slot"], made[1]["parent"], made[1]["number"]) == (2, None, 0)
        assert (await say.say("dev_faults"))["skipped_slots"] == 1

    tell(story)


def test_a_reorg_is_told_to_whoever_follows() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        await say.say("dev_finality", 8)
        made = [await say.say("dev_produce") for _ in range(3)]
        await say.say("dev_fault", "reorg_depth", 2)
        newest = await say.say("dev_produce")
        assert newest["number"] == 4
        below = await say.say("parent", newest["header_hash"])
        assert below["slot"] == made[2]["slot"]
        assert below["header_hash"] != made[2]["header_hash"]

    tell(story)


def test_a_network_is_cut_and_joined() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("dev_partition", [[0, 1, 2, 3], [4, 5]], [[0, 1]])
        for _ in range(12):
            await say.say("dev_produce")
        mine = await say.say("bestBlock")
        other = net.model.best(1)
        assert other.header_hash != data(mine["header_hash"])
        assert await say.say("dev_heal") is None
        assert net.model.best(0) == net.model.best(1)
        wrong: list[list[object]] = [
            [[[6]]],
            [[[0], [1]], [[0, 2]]],
            [[0]],
            [[[0]], {"0": 0}],
            [],
        ]
        for params in wrong:
            assert (await say.refusal("dev_partition", *params)).code == -32602, params

    tell(story, nodes=2)


def test_a_block_can_be_hidden_from_one_node() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("dev_produce")
        sent = await submit(say, Builder(net.model.genesis).build()[1])
        await say.say("dev_fault", "hidden_reports", [[0, [sent.hash]]])
        made = await say.say("dev_produce")
        assert (made["reported"][0]["package"], made["parent"]) == (sent.hash, None)
        assert (await say.refusal("stateRoot", made["header_hash"])).code == 1
        assert (await say.refusal("workReport", made["reported"][0]["report_hash"])).code == 2
        assert net.say("stateRoot", made["header_hash"], node=1)
        with pytest.raises(RpcRefused, match="Block unavailable"):
            net.say("stateRoot", made["header_hash"], node=0)
        await say.say("dev_fault", "hidden_reports", [])
        assert (await say.say("bestBlock"))["header_hash"] == made["header_hash"]

    tell(story, nodes=2)


def test_a_node_that_lags_is_catching_up() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        followed = await say.say("subscribeSyncStatus")
        await say.say("dev_fault", "lag_slots", [[0, 2]])
        for _ in range(4):
            await say.say("dev_produce")
        assert (await say.say("bestBlock"))["slot"] == 2
        assert (await say.say("syncState"))["status"] == "InProgress"
        await say.say("dev_fault", "lag_slots", [])
        assert (await say.say("bestBlock"))["slot"] == 4
        assert say.updates(followed) == ["Completed", "InProgress", "Completed"]

    tell(story)


def test_the_same_calls_give_the_same_bytes() -> None:
    told = []

    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("dev_produce")
        await submit(say, Builder(net.model.genesis).build()[1])
        made = [await say.say("dev_produce", wish) for wish in ({}, {"slot": 30}, {})]
        told.append([made, await say.say("dev_state", made[-1]["header_hash"])])

    for _ in range(2):
        tell(story)
    assert told[0] == told[1]
