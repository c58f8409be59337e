"""The dev network on npm's @typeberry/lib: what a real JAM state transition does.

The facts are numbered as in the project's notes on JAM: twelve things that were found by running
this state transition, and that the queue of bundles is built on. Each is shown here again, so far
as the one service of the dev genesis can show it. The network's socket is tried at the end.
"""

import asyncio
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from msgspec import json
from tests.jam.components import component_codecs
from tests.typeberry_node import (
    BOOTSTRAP,
    BOOTSTRAP_CODE,
    GENESIS,
    Said,
    Typeberry,
    data,
    extrinsic_spec,
    text,
    typeberry,
    work_package,
)

from laneway.jam import state_keys
from laneway.jam.extrinsic import extrinsic_codec, extrinsic_hash
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.header import header_codec, header_hash
from laneway.jam.package import WORK_PACKAGE, package_hash
from laneway.jam.report import WORK_REPORT, Ok, WorkError, report_hash
from laneway.jam.spec import TINY
from laneway.jam.state import RECENT_HISTORY, SERVICE_ACCOUNT
from laneway.jam.trie import root

pytestmark = pytest.mark.slow

UNKNOWN = text(b"\x11" * 32)


@pytest.fixture(scope="module")
def shared() -> Iterator[Typeberry]:
    """A network for tests that leave it as useful as it was."""
    with typeberry() as made:
        made.produce(3)
        yield made


@pytest.fixture(scope="module")
def process() -> Iterator[Typeberry]:
    with typeberry() as made:
        yield made


@pytest.fixture
def node(process: Typeberry) -> Typeberry:
    """A network with three blocks, of which nothing becomes final."""
    process.reset(1000)
    process.produce(3)
    return process


def best(node: Typeberry) -> str:
    said: str = node.say("bestBlock")["header_hash"]
    return said


def status(node: Typeberry, package: str, anchor: str, at: str | None = None) -> Any:
    return node.say("workPackageStatus", at or best(node), package, anchor)


def state(node: Typeberry, at: str) -> dict[bytes, bytes]:
    return {data(key): data(value) for key, value in node.say("dev_state", at)}


def packages(made: Any) -> list[str]:
    return [one["package"] for one in made["reported"]]


def reasons(made: Any) -> list[tuple[str, bool]]:
    return [(one["reason"], one["dropped"]) for one in made["refused"]]


def refusal(made: Any) -> tuple[str, bool]:
    (only,) = reasons(made)
    return only


# Fact 1.


@pytest.mark.parametrize("waited", [0, 7])
def test_a_package_can_be_reported_in_the_eight_blocks_after_its_anchor(
    node: Typeberry, waited: int
) -> None:
    anchor = best(node)
    package = node.submit(work_package(node))
    assert status(node, package, anchor) == {"Reportable": {"remaining_blocks": 8}}
    for number in range(waited):
        node.produce(noGuarantee=True)
        assert status(node, package, anchor) == {"Reportable": {"remaining_blocks": 7 - number}}
    made = node.produce()
    assert packages(made) == [package]
    assert status(node, package, anchor)["Reported"]["reported_in"] == {
        "header_hash": made["header_hash"],
        "slot": made["slot"],
    }


def test_a_package_cannot_be_reported_in_the_ninth_block_after_its_anchor(
    node: Typeberry,
) -> None:
    anchor = best(node)
    package = node.submit(work_package(node))
    node.produce(8, noGuarantee=True)
    assert "Failed" in status(node, package, anchor)
    made = node.produce()
    assert packages(made) == []
    reason, is_dropped = refusal(made)
    assert reason.endswith("not found in recent blocks.")
    assert is_dropped


# Fact 2.


def test_skipped_slots_do_not_age_an_anchor(node: Typeberry) -> None:
    slot = node.say("bestBlock")["slot"]
    package = node.submit(work_package(node))
    assert packages(node.produce(slot=slot + 20)) == [package]


def test_a_lookup_anchor_ages_by_slots(node: Typeberry) -> None:
    slot = node.say("bestBlock")["slot"]
    node.submit(work_package(node))
    reason, is_dropped = refusal(node.produce(slot=slot + 30))
    assert reason.startswith("Lookup anchor slot's too old.")
    assert is_dropped


# Fact 3.


def test_a_core_stays_engaged_until_its_report_is_available(node: Typeberry) -> None:
    first = node.submit(work_package(node, b"1"))
    second = node.submit(work_package(node, b"2"))
    assert packages(node.produce()) == [first]
    made = node.produce()
    assert (made["available"], packages(made)) == ([first], [second])


def test_a_report_without_availability_holds_its_core_for_five_slots(node: Typeberry) -> None:
    anchor = best(node)
    first = node.submit(work_package(node, b"1"))
    second = node.submit(work_package(node, b"2"))
    assert packages(node.produce(noAssure=[0])) == [first]
    for _ in range(4):
        made = node.produce(noAssure=[0])
        assert reasons(made) == [("Report pending availability at core: 0", False)]
        assert "Reported" in status(node, first, anchor)
    assert packages(node.produce(noAssure=[0])) == [second]
    assert status(node, first, anchor) == {"Failed": "the report was not made available in time"}


def test_each_core_takes_one_report_a_block(node: Typeberry) -> None:
    wanted = [node.submit(work_package(node, bytes([n])), core=n % 2) for n in range(12)]
    for _ in range(6):
        assert len(packages(node.produce())) == 2
    made = node.produce()
    assert sorted(made["accumulated"]) == sorted(wanted[-2:])
    assert all(node.say("dev_accumulated", best(node), package) for package in wanted)


# Fact 4.


def test_the_same_package_is_reported_once(node: Typeberry) -> None:
    sent = work_package(node)
    package = node.submit(sent)
    node.submit(sent)
    assert packages(node.produce()) == [package]
    for _ in range(3):
        node.submit(sent)
        reason, is_dropped = refusal(node.produce())
        assert reason.startswith("The same work package hash found in the pipeline")
        assert is_dropped


# Fact 5.


def test_two_versions_of_one_payload_are_both_accumulated(node: Typeberry) -> None:
    first = node.submit(work_package(node, b"payload"))
    node.produce()
    second = node.submit(work_package(node, b"payload"))
    assert node.produce()["accumulated"] == [first]
    assert node.produce()["accumulated"] == [second]


# Fact 6.


def test_a_prerequisite_may_stand_in_the_same_block(node: Typeberry) -> None:
    first = work_package(node, b"1")
    needed = text(blake2b(first))
    second = node.submit(work_package(node, b"2", prerequisites=[needed]), core=0)
    reason, is_dropped = refusal(node.produce())
    assert reason.startswith("Missing work package")
    assert not is_dropped
    node.submit(first, core=1)
    assert packages(node.produce()) == [second, needed]
    assert sorted(node.produce()["accumulated"]) == sorted([needed, second])


def test_a_prerequisite_behind_others_of_its_core_is_found(node: Typeberry) -> None:
    first = work_package(node, b"1")
    needed = text(blake2b(first))
    second = node.submit(work_package(node, b"2", prerequisites=[needed]), core=0)
    other = node.submit(work_package(node, b"3"), core=1)
    node.submit(first, core=1)
    assert packages(node.produce()) == [second, needed]
    assert packages(node.produce()) == [other]


@pytest.mark.parametrize(("blocks", "is_reported"), [(7, True), (8, False)])
def test_a_prerequisite_must_have_been_reported_in_the_last_eight_blocks(
    node: Typeberry, blocks: int, is_reported: bool
) -> None:
    first = node.submit(work_package(node, b"1"))
    node.produce(1 + blocks)
    assert node.say("dev_accumulated", best(node), first)
    second = node.submit(work_package(node, b"2", prerequisites=[first]))
    made = node.produce()
    assert packages(made) == ([second] if is_reported else [])
    assert [reason.split()[0] for reason, _ in reasons(made)] == [
        "Missing" for _ in range(not is_reported)
    ]


def test_a_package_has_at_most_eight_prerequisites(node: Typeberry) -> None:
    node.submit(work_package(node, prerequisites=[UNKNOWN] * 8))
    assert refusal(node.produce())[0].startswith("Missing work package")
    node.submit(work_package(node, prerequisites=[UNKNOWN] * 9), core=1)
    with_nine = reasons(node.produce())[1]
    assert with_nine == ("Report at 1 has too many dependencies. Got 9 + 0, max: 8", True)


# Fact 7.


def test_a_package_waits_for_its_prerequisite_and_is_accumulated_with_it(node: Typeberry) -> None:
    anchor = best(node)
    first = node.submit(work_package(node, b"1"), core=0)
    second = node.submit(work_package(node, b"2", prerequisites=[first]), core=1)
    assert packages(node.produce()) == [first, second]
    made = node.produce(noAssure=[0])
    assert (made["available"], made["accumulated"], made["queued"]) == ([second], [], [second])
    assert "Ready" in status(node, second, anchor)
    assert "Reported" in status(node, first, anchor)
    made = node.produce()
    assert sorted(made["accumulated"]) == sorted([first, second])
    assert made["queued"] == []


# Fact 8.


def test_a_package_whose_prerequisite_died_vanishes_after_an_epoch(node: Typeberry) -> None:
    anchor = best(node)
    first = node.submit(work_package(node, b"1"), core=0)
    second = node.submit(work_package(node, b"2", prerequisites=[first]), core=1)
    node.produce()
    for _ in range(12):
        assert node.produce(noAssure=[0])["queued"] == [second]
    made = node.produce(noAssure=[0])
    assert (made["queued"], made["accumulated"]) == ([], [])
    assert "Failed" in status(node, first, anchor)
    assert "Ready" in status(node, second, anchor)
    assert not node.say("dev_accumulated", best(node), second)


# Fact 9.


def test_a_package_of_another_fork_is_reported_from_the_same_bytes(node: Typeberry) -> None:
    common = best(node)
    sent = work_package(node)
    package = node.submit(sent)
    left = node.produce(2)
    assert left["accumulated"] == [package]
    right = node.produce(parent=common)
    assert best(node) == right["header_hash"]
    assert status(node, package, common) == {"Reportable": {"remaining_blocks": 7}}
    assert not node.say("dev_accumulated", right["header_hash"], package)
    assert node.say("dev_accumulated", left["header_hash"], package)
    assert "Ready" in status(node, package, common, left["header_hash"])
    node.submit(sent)
    assert packages(node.produce()) == [package]
    assert node.produce()["accumulated"] == [package]


def test_a_package_that_is_anchored_on_another_fork_has_failed_and_waits(node: Typeberry) -> None:
    common = best(node)
    anchor = node.produce()["header_hash"]
    package = node.submit(work_package(node))
    # Another slot: the same block twice is one block, which is refused.
    with pytest.raises(Said, match="already imported"):
        node.produce(parent=common, noGuarantee=True)
    made = node.produce(parent=common, slot=9)
    assert refusal(made)[1] is False
    assert status(node, package, anchor) == {
        "Failed": "anchor is not among the recent blocks of this fork"
    }
    assert packages(node.produce(parent=anchor, slot=10)) == [package]


# Fact 10.


def test_the_history_of_accumulation_names_packages_and_the_outputs_do_not(
    node: Typeberry,
) -> None:
    package = data(node.submit(work_package(node)))
    reported = state(node, node.produce()["header_hash"])
    accumulated = state(node, node.produce()["header_hash"])
    recent = RECENT_HISTORY.decode(reported[state_keys.RECENT_HISTORY])
    assert [one.hash for one in recent.blocks[-1].reported] == [package]
    assert package not in reported[state_keys.component_key(15)]
    assert package in accumulated[state_keys.component_key(15)]
    assert accumulated[state_keys.component_key(16)] == b"\x00"


def test_a_state_root_stands_in_the_header_of_the_next_block(node: Typeberry) -> None:
    for _ in range(3):
        said = data(node.say("stateRoot", best(node)))
        block = node.say("dev_block", node.produce()["header_hash"])
        header = header_codec(TINY).decode(data(block["header"]))
        assert header.parent_state_root == said


# Fact 11.


def test_a_package_whose_refinement_panics_is_accumulated(node: Typeberry) -> None:
    package = node.submit(work_package(node, b"no instruction"))
    (reported,) = node.produce()["reported"]
    report = WORK_REPORT.decode(data(node.say("workReport", reported["report_hash"])))
    assert report.results[0].result is WorkError.PANIC
    assert node.produce()["accumulated"] == [package]


def test_a_package_whose_refinement_goes_well_is_accumulated(node: Typeberry) -> None:
    package = node.submit(work_package(node))
    (reported,) = node.produce()["reported"]
    report = WORK_REPORT.decode(data(node.say("workReport", reported["report_hash"])))
    assert isinstance(report.results[0].result, Ok)
    assert node.produce()["accumulated"] == [package]


# Fact 12.


def test_the_head_and_its_parent_are_anchors(node: Typeberry) -> None:
    head = best(node)
    newest = RECENT_HISTORY.decode(state(node, head)[state_keys.RECENT_HISTORY])
    assert newest.blocks[-1].state_root == ZERO_HASH
    parent = node.say("parent", head)["header_hash"]
    first = node.submit(work_package(node, b"1"), core=0)
    second = node.submit(work_package(node, b"2", anchor=parent), core=1)
    assert packages(node.produce()) == [first, second]


# A second opinion on laneway's own formats.


def test_laneway_reads_every_byte_of_the_network(node: Typeberry) -> None:
    """Over an epoch with reports, assurances and an epoch's mark."""
    headers, extrinsics = header_codec(TINY), extrinsic_codec(TINY)
    for number in range(14):
        sent = work_package(node, bytes(number % 2))
        assert package_hash(WORK_PACKAGE.decode(sent)) == data(node.submit(sent, core=number % 2))
        made = node.produce(noAssure=[0] if number == 5 else [])
        block = node.say("dev_block", made["header_hash"])
        header = headers.decode(data(block["header"]))
        extrinsic = extrinsics.decode(data(block["extrinsic"]))
        assert header_hash(header, TINY) == data(made["header_hash"])
        assert extrinsic_hash(extrinsic, TINY) == header.extrinsic_hash
        assert headers.encode(header) == data(block["header"])
        assert extrinsics.encode(extrinsic) == data(block["extrinsic"])
        for reported in made["reported"]:
            encoded = data(node.say("workReport", reported["report_hash"]))
            assert report_hash(WORK_REPORT.decode(encoded)) == data(reported["report_hash"])
        entries = state(node, made["header_hash"])
        assert root(entries) == data(node.say("stateRoot", made["header_hash"]))
        for key, codec in component_codecs(TINY).items():
            assert codec.encode(codec.decode(entries[key])) == entries[key]


# What the network does not take.


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"state_root": bytes(31) + b"\x01"}, "does not match expected root hash"),
        ({"beefy_root": bytes(31) + b"\x01"}, "Invalid BEEFY super peak hash"),
        ({"lookup_slot": 1}, "Lookup anchor slot does not match"),
        ({"authorizer": bytes(32)}, "Auth code preimage"),
        ({"anchor": UNKNOWN, "lookup_slot": 3}, "is missing"),
        ({"service": 7}, "No service with id: 7"),
        ({"code": bytes(32)}, "code hash mismatch"),
        ({"accumulate_gas": 1}, "gas is less than minimal"),
        ({"accumulate_gas": 10_000_001}, "Total gas too high"),
    ],
)
def test_a_package_that_guarantors_drop_was_taken_without_a_word(
    shared: Typeberry, changes: dict[str, Any], reason: str
) -> None:
    if "anchor" in changes:
        head = best(shared)
        roots = (shared.say("stateRoot", head), shared.say("beefyRoot", head))
        changes = {**changes, "state_root": data(roots[0]), "beefy_root": data(roots[1])}
        changes["lookup_anchor"] = UNKNOWN
    shared.submit(work_package(shared, **changes))
    said, is_dropped = refusal(shared.produce())
    assert reason in said
    assert is_dropped


def test_a_package_lands_with_its_extrinsics(node: Typeberry) -> None:
    given = [b"one", b"two"]
    sent = work_package(node, extrinsics=[extrinsic_spec(one) for one in given])
    for wrong in ([], [b"one"], [b"two", b"one"], [*given, b"three"], [b"one", b"tw"]):
        with pytest.raises(Said, match="extrinsic") as refused:
            node.submit(sent, extrinsics=wrong)
        assert refused.value.code == 0
    package = node.submit(sent, extrinsics=given)
    assert packages(node.produce()) == [package]


def test_bytes_that_are_no_package_are_refused_at_once(shared: Typeberry) -> None:
    sent = work_package(shared)
    for wrong in (b"", sent[:-1], sent + b"\x00", sent[:200]):
        with pytest.raises(Said) as refused:
            shared.submit(wrong)
        assert refused.value.code == 0
    with_import = work_package(shared, imports=1)
    with_export = work_package(shared, exports=1)
    for core, wrong in ((2, sent), (0, with_import), (0, with_export)):
        with pytest.raises(Said) as refused:
            shared.submit(wrong, core=core)
        assert refused.value.code == 0
    assert shared.produce()["refused"] == []


# Finality and forks.


def test_finality_follows_at_its_depth_and_never_turns_back() -> None:
    with typeberry(FINALITY_DEPTH=2) as node:
        node.produce(5)
        assert node.say("finalizedBlock")["slot"] == 3
        assert node.say("dev_finality", "freeze")["slot"] == 3
        node.produce(3)
        assert node.say("finalizedBlock")["slot"] == 3
        assert node.say("dev_finality", 0)["slot"] == 3
        assert node.say("dev_finality", "thaw")["slot"] == 8
        assert node.say("dev_finality", 4)["slot"] == 8
        node.produce()
        assert node.say("finalizedBlock")["slot"] == 8
        with pytest.raises(Said, match="not upon the final block"):
            node.produce(parent=text(GENESIS))


def test_the_same_calls_give_the_same_bytes() -> None:
    told = []
    for _ in range(2):
        with typeberry() as node:
            node.submit(work_package(node))
            made = [node.produce(), node.produce(slot=30), node.produce()]
            told.append([made, node.say("dev_state", best(node))])
    assert told[0] == told[1]


# The methods of JIP-2.


def test_the_network_begins_at_the_dev_genesis() -> None:
    with typeberry() as node:
        assert node.say("bestBlock") == {"header_hash": text(GENESIS), "slot": 0}
        assert node.say("finalizedBlock") == node.say("bestBlock")
        # The first block of the same library's own node with all six validators.
        assert data(node.produce()["header_hash"])[:4].hex() == "3c939bf7"


def test_the_parameters_are_those_of_the_tiny_chain(shared: Typeberry) -> None:
    said = shared.say("parameters")["V1"]
    assert len(said) == 33
    assert said["val_count"] == TINY.validator_count
    assert said["core_count"] == TINY.core_count
    assert said["epoch_period"] == TINY.epoch_slots
    assert said["rotation_period"] == TINY.rotation_slots
    assert said["max_lookup_anchor_age"] == TINY.lookup_anchor_slots_max
    assert said["basic_piece_len"] == TINY.piece_bytes
    assert said["recent_block_count"] == said["max_dependencies"] == 8


def test_the_services_state_can_be_read(shared: Typeberry) -> None:
    head = best(shared)
    entries = state(shared, head)
    assert shared.say("listServices", head) == [BOOTSTRAP]
    account = data(shared.say("serviceData", head, BOOTSTRAP))
    assert account == entries[state_keys.account_key(BOOTSTRAP)]
    assert data(shared.say("statistics", head)) == entries[state_keys.component_key(13)]
    code = data(shared.say("servicePreimage", head, BOOTSTRAP, text(BOOTSTRAP_CODE)))
    assert blake2b(code) == BOOTSTRAP_CODE
    assert shared.say("serviceRequest", head, BOOTSTRAP, text(BOOTSTRAP_CODE), len(code)) == [0]
    assert shared.say("serviceRequest", head, BOOTSTRAP, UNKNOWN, 1) is None
    assert shared.say("servicePreimage", head, BOOTSTRAP, UNKNOWN) is None
    assert shared.say("serviceValue", head, BOOTSTRAP, text(b"key")) is None
    assert shared.say("serviceData", head, 7) is None
    assert shared.say("serviceValue", head, 7, text(b"")) is None
    assert shared.say("syncState") == {"num_peers": 0, "status": "Completed"}


def test_accumulation_shows_in_the_services_account(node: Typeberry) -> None:
    node.submit(work_package(node))
    node.produce()
    made = node.produce()
    account = SERVICE_ACCOUNT.decode(data(node.say("serviceData", best(node), BOOTSTRAP)))
    assert account.last_accumulation_slot == made["slot"]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("nope", [], -32601),
        ("bestBlock", [1], -32602),
        ("stateRoot", [], -32602),
        ("stateRoot", ["AAAA"], -32602),
        ("stateRoot", [UNKNOWN[:-1]], -32602),
        ("stateRoot", [7], -32602),
        ("serviceData", [UNKNOWN, -1], -32602),
        ("serviceData", [UNKNOWN, 2**32], -32602),
        ("serviceData", [UNKNOWN, 0.5], -32602),
        ("submitWorkPackage", [0, "AA==", "AA=="], -32602),
        ("dev_produce", [{"wish": 1}], -32602),
        ("dev_finality", ["maybe"], -32602),
        ("dev_produce", [{"slot": 1}], 0),
        ("submitWorkPackageBundle", [0, "AA=="], 0),
        ("submitPreimage", [0, "AA=="], 0),
        ("fetchSegments", [UNKNOWN, [0]], 0),
        ("subscribeBestBlock", [], 0),
    ],
)
def test_a_wrong_call_is_refused_with_its_code(
    shared: Typeberry, method: str, params: list[object], code: int
) -> None:
    with pytest.raises(Said) as refused:
        shared.say(method, *params)
    assert refused.value.code == code
    assert refused.value.message


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("parent", [UNKNOWN], 1),
        ("stateRoot", [UNKNOWN], 1),
        ("beefyRoot", [UNKNOWN], 1),
        ("statistics", [UNKNOWN], 1),
        ("listServices", [UNKNOWN], 1),
        ("serviceValue", [UNKNOWN, 0, ""], 1),
        ("workPackageStatus", [text(GENESIS), UNKNOWN, UNKNOWN], 1),
        ("dev_produce", [{"parent": UNKNOWN}], 1),
        ("workReport", [UNKNOWN], 2),
    ],
)
def test_what_is_unavailable_is_named(
    shared: Typeberry, method: str, params: list[object], code: int
) -> None:
    with pytest.raises(Said) as refused:
        shared.say(method, *params)
    assert (refused.value.code, refused.value.about) == (code, UNKNOWN)


def test_the_genesis_has_no_parent(shared: Typeberry) -> None:
    with pytest.raises(Said) as refused:
        shared.say("parent", text(GENESIS))
    assert (refused.value.code, refused.value.about) == (1, text(ZERO_HASH))


def test_what_is_no_call_is_refused(shared: Typeberry) -> None:
    nonsense = {"code": -32700, "message": "Parse error"}
    assert shared.ask(b"not json") == {"jsonrpc": "2.0", "error": nonsense, "id": None}
    for wrong in (b"[]", b"null", b'{"method":"bestBlock","id":1}'):
        assert shared.ask(wrong)["error"]["code"] == -32600
    by_name = b'{"jsonrpc":"2.0","id":"a","method":"parent","params":{"header_hash":""}}'
    answer = shared.ask(by_name)
    assert (answer["error"]["code"], answer["id"]) == (-32602, "a")
    assert shared.ask(b'{"jsonrpc":"2.0","method":"bestBlock"}') is None


# Subscriptions.


class Client:
    """One connection: calls and the notifications that came meanwhile."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.told: list[tuple[str, Any]] = []

    async def say(self, method: str, *params: object) -> Any:
        sent = {"jsonrpc": "2.0", "id": 5, "method": method, "params": params}
        await self.socket.send_str(json.encode(sent).decode())
        while True:
            message = await self.listen()
            if message is not None:
                return message

    async def listen(self) -> Any:
        """The next message, if it is an answer; a notification is put aside."""
        message = json.decode(await self.socket.receive_str(timeout=30))
        if "method" in message:
            assert "id" not in message
            self.told.append((message["method"], message["params"]))
            return None
        assert message["id"] == 5
        return message.get("result", message.get("error"))

    async def next(self) -> tuple[str, Any]:
        while not self.told:
            assert await self.listen() is None
        return self.told.pop(0)

    def updates(self, subscription: int) -> list[Any]:
        return [told["result"] for _, told in self.told if told["subscription"] == subscription]


async def with_client(node: Typeberry, story: Any) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(node.ws_url, max_msg_size=0) as socket,
    ):
        await story(Client(socket))


def kinds(updates: list[Any]) -> list[str]:
    return [next(iter(one["value"])) for one in updates]


def test_subscriptions_tell_what_changes_on_either_chain() -> None:
    async def story(client: Client) -> None:
        anchor = (await client.say("dev_produce", {}))["header_hash"]
        package = network.submit(work_package(network))
        heads = await client.say("subscribeBestBlock")
        final = await client.say("subscribeFinalizedBlock")
        at_best = await client.say("subscribeWorkPackageStatus", package, anchor, False)
        at_final = await client.say("subscribeWorkPackageStatus", package, anchor, True)
        account = await client.say("subscribeServiceData", BOOTSTRAP, False)
        value = await client.say("subscribeServiceValue", BOOTSTRAP, text(b"key"), False)
        activity = await client.say("subscribeStatistics", False)
        made = [await client.say("dev_produce", {}) for _ in range(5)]
        assert [one["slot"] for one in client.updates(heads)] == [1, 2, 3, 4, 5, 6]
        assert [one["slot"] for one in client.updates(final)] == [0, 1, 2, 3, 4]
        assert kinds(client.updates(at_best)) == ["Reportable", "Reported", "Ready"]
        assert kinds(client.updates(at_final)) == ["Failed", "Reportable", "Reported", "Ready"]
        assert [one["slot"] for one in client.updates(account)] == [1, 3]
        assert [one["value"] for one in client.updates(value)] == [None]
        assert len(client.updates(activity)) == 6
        assert client.updates(at_best)[1]["header_hash"] == made[0]["header_hash"]
        assert await client.say("dev_subscriptions") == {"connections": 1, "open": 7, "opened": 7}
        assert await client.say("unsubscribeBestBlock", final) is False
        assert await client.say("unsubscribeBestBlock", heads) is True
        assert await client.say("unsubscribeBestBlock", heads) is False
        client.told.clear()
        await client.say("dev_produce", {})
        assert client.updates(heads) == []
        assert (await client.say("dev_subscriptions"))["open"] == 6

    with typeberry(FINALITY_DEPTH=2) as network:
        asyncio.run(with_client(network, story))
        assert network.say("dev_subscriptions") == {"connections": 0, "open": 0, "opened": 7}


def test_a_reorg_turns_reported_into_reportable(node: Typeberry) -> None:
    async def story(client: Client) -> None:
        anchor = best(node)
        package = node.submit(work_package(node))
        followed = await client.say("subscribeWorkPackageStatus", package, anchor, False)
        await client.say("dev_produce", {})
        await client.say("dev_produce", {"parent": anchor})
        assert kinds(client.updates(followed)) == ["Reportable", "Reported", "Reportable"]

    asyncio.run(with_client(node, story))


def test_subscriptions_on_one_connection_are_bounded() -> None:
    async def story(client: Client) -> None:
        first = await client.say("subscribeBestBlock")
        await client.say("subscribeFinalizedBlock")
        refused = await client.say("subscribeBestBlock")
        assert refused["message"] == "Too many subscriptions on the connection"
        await client.say("unsubscribeBestBlock", first)
        assert isinstance(await client.say("subscribeBestBlock"), int)
        bad = await client.say("subscribeWorkPackageStatus", UNKNOWN, UNKNOWN, False)
        assert bad["code"] == -32006

    with typeberry(SUBSCRIPTION_COUNT_MAX=2) as node:
        asyncio.run(with_client(node, story))


def test_a_network_with_a_slot_time_goes_by_itself() -> None:
    async def story(client: Client) -> None:
        await client.say("subscribeBestBlock")
        slots = [(await client.next())[1]["result"]["slot"] for _ in range(4)]
        assert slots == list(range(slots[0], slots[0] + 4))

    with typeberry(SLOT_MS=20) as node:
        asyncio.run(with_client(node, story))


# The process.


def test_the_network_listens_on_loopback_alone(shared: Typeberry) -> None:
    wanted = f":{shared.port:04X}"
    lines = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    listening = [line.split() for line in lines.splitlines() if " 0A " in line]
    assert [one[1] for one in listening if one[1].endswith(wanted)] == [f"0100007F{wanted}"]


def test_the_network_ends_with_the_test_and_begins_anew() -> None:
    with typeberry() as node:
        first = node.produce()
        assert node.end() == 0
        node.start()
        assert node.produce() == first


def test_a_frozen_network_goes_on_where_it_stopped(node: Typeberry) -> None:
    head = best(node)
    node.freeze()
    try:
        with pytest.raises(TimeoutError), urllib.request.urlopen(node.url, b"", timeout=0.1):
            pass
    finally:
        node.thaw()
    assert best(node) == head
