"""Every method of JIP-2 over the wire: what it answers, and each of its nos."""

from tests.devnets.jam.wire_stage import UNKNOWN, Client, data, tell, text

from laneway.devnets.jam.devnet import JamDevnet, rollup_service
from laneway.devnets.jam.limits import PROOFS_COUNT_MAX, ROLLUP_SERVICE_DEV
from laneway.devnets.jam.model.values import ModelSetup, ServiceSetup
from laneway.devnets.jam.node.methods import METHODS
from laneway.jam import state_keys
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.header import header_codec
from laneway.jam.service.commitment import HEAD_KEY
from laneway.jam.spec import TINY
from laneway.jam.state import SERVICE_ACCOUNT, state_codecs
from laneway.jam.trie import root
from laneway.wire import jip2

GIVEN = b"a preimage that is there"
WANTED = b"a preimage that is not"
NOT_SERVED = {
    "accumulationOutputProof",
    "beefyMmrProof",
    "beefyCommitments",
    "beefyJustification",
}
"""Drafts that need what nobody here signs, or retains."""


def setup() -> ModelSetup:
    plain = ModelSetup()
    service = rollup_service(plain).service
    wanted = ((blake2b(WANTED), len(WANTED)),)
    asking = ServiceSetup(service=service, preimages=(GIVEN,), requests=wanted)
    return ModelSetup(services={ROLLUP_SERVICE_DEV: rollup_service(plain), 9: asking})


def test_every_method_of_jip_2_is_there_with_its_parameters() -> None:
    assert set(METHODS) == set(jip2.CALLS) - NOT_SERVED
    for name, method in METHODS.items():
        assert len(method.kinds) == len(jip2.CALLS[name])


def test_the_chain_is_told() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        genesis = {"header_hash": text(net.model.genesis), "slot": 0}
        assert await say.say("bestBlock") == await say.say("finalizedBlock") == genesis
        made = [await say.say("dev_produce") for _ in range(3)]
        best = await say.say("bestBlock")
        assert best == {"header_hash": made[-1]["header_hash"], "slot": 3}
        assert await say.say("parent", made[0]["header_hash"]) == genesis
        assert await say.say("finalizedBlock") == {
            "header_hash": made[0]["header_hash"],
            "slot": 1,
        }
        peers = TINY.validator_count
        assert await say.say("syncState") == {"num_peers": peers, "status": "Completed"}
        parameters = (await say.say("parameters"))["V1"]
        assert (parameters["val_count"], parameters["core_count"]) == (6, 2)
        assert len(parameters) == 33

    tell(story)


def test_a_state_root_stands_in_the_next_header() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        for _ in range(3):
            at = (await say.say("bestBlock"))["header_hash"]
            state = {data(key): data(value) for key, value in await say.say("dev_state", at)}
            said = data(await say.say("stateRoot", at))
            assert root(state) == said
            made = await say.say("dev_produce")
            block = await say.say("dev_block", made["header_hash"])
            header = header_codec(TINY).decode(data(block["header"]))
            assert header.parent_state_root == said

    tell(story)


def test_the_services_state_can_be_read() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        at = (await say.say("dev_produce"))["header_hash"]
        state = {data(key): data(value) for key, value in await say.say("dev_state", at)}
        assert await say.say("listServices", at) == [ROLLUP_SERVICE_DEV, 9]
        account = data(await say.say("serviceData", at, 9))
        assert account == state[state_keys.account_key(9)]
        assert SERVICE_ACCOUNT.decode(account).items == 4
        statistics = data(await say.say("statistics", at))
        assert state_codecs(TINY).statistics.decode(statistics).current
        head = await say.say("serviceValue", at, ROLLUP_SERVICE_DEV, text(HEAD_KEY))
        assert data(head) == state[state_keys.storage_key(ROLLUP_SERVICE_DEV, HEAD_KEY)]
        hashed, wanted = text(blake2b(GIVEN)), text(blake2b(WANTED))
        assert await say.say("servicePreimage", at, 9, hashed) == text(GIVEN)
        assert await say.say("serviceRequest", at, 9, hashed, len(GIVEN)) == [0]
        assert await say.say("servicePreimage", at, 9, wanted) is None
        assert await say.say("serviceRequest", at, 9, wanted, len(WANTED)) == []
        assert await say.say("serviceRequest", at, 9, wanted, 1) is None
        assert await say.say("serviceValue", at, 9, "") is None
        assert await say.say("serviceData", at, 7) is None
        assert data(await say.say("accumulationOutputs", at)) == b"\0"
        assert data(await say.say("stateValue", at, text(state_keys.TIMESLOT))) == b"\1\0\0\0"
        assert await say.say("stateValue", at, text(bytes(30) + b"\xff")) is None
        newest = data(await say.say("beefyRoot", at))
        assert newest in state[state_keys.RECENT_HISTORY]

    tell(story, setup=setup())


def test_a_preimage_that_is_wanted_is_taken() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        hashed = text(blake2b(WANTED))
        followed = await say.say("subscribeServicePreimage", 9, hashed, False)
        asked = await say.say("subscribeServiceRequest", 9, hashed, len(WANTED), False)
        assert await say.say("submitPreimage", 9, text(WANTED)) is None
        made = await say.say("dev_produce")
        assert [one["value"] for one in say.updates(followed)] == [None, text(WANTED)]
        assert [one["value"] for one in say.updates(asked)] == [[], [made["slot"]]]
        assert (await say.refusal("submitPreimage", 9, text(WANTED))).code == 0

    tell(story, setup=setup())


def test_proofs_are_given_for_several_keys_at_once() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        at = (await say.say("bestBlock"))["header_hash"]
        keys = [text(state_keys.component_key(number)) for number in (3, 16, 99)]
        found = await say.say("stateProof", at, keys)
        assert [one["value"] is None for one in found] == [False, False, True]
        assert all(len(data(node)) == 64 for one in found for node in one["nodes"])
        assert await say.say("stateProof", at, []) == []
        many = [keys[0]] * (PROOFS_COUNT_MAX + 1)
        wrong: list[list[object]] = [
            [at],
            [at, many],
            [at, ["AA=="]],
            [at, keys, [["", ""]], "none", 0],
            [at, keys, [], "keys", 0],
            [at, keys, [], "none", -1],
        ]
        for params in wrong:
            assert (await say.refusal("stateProof", *params)).code == -32602

    tell(story)


UNAVAILABLE: list[tuple[str, list[object], int]] = [
    ("parent", [UNKNOWN], 1),
    ("stateRoot", [UNKNOWN], 1),
    ("beefyRoot", [UNKNOWN], 1),
    ("statistics", [UNKNOWN], 1),
    ("listServices", [UNKNOWN], 1),
    ("accumulationOutputs", [UNKNOWN], 1),
    ("serviceData", [UNKNOWN, 0], 1),
    ("serviceValue", [UNKNOWN, 0, ""], 1),
    ("servicePreimage", [UNKNOWN, 0, UNKNOWN], 1),
    ("serviceRequest", [UNKNOWN, 0, UNKNOWN, 0], 1),
    ("workPackageStatus", [UNKNOWN, UNKNOWN, UNKNOWN], 1),
    ("stateValue", [UNKNOWN, text(bytes(31))], 1),
    ("stateProof", [UNKNOWN, [text(bytes(31))]], 1),
    ("dev_produce", [{"parent": UNKNOWN}], 1),
    ("dev_block", [UNKNOWN], 1),
    ("dev_state", [UNKNOWN], 1),
    ("dev_accumulated", [UNKNOWN, UNKNOWN], 1),
    ("dev_justification", [UNKNOWN], 1),
    ("workReport", [UNKNOWN], 2),
]

WRONG: list[tuple[str, list[object], int]] = [
    ("nope", [], -32601),
    ("bestblock", [], -32601),
    ("", [], -32601),
    ("bestBlock", [1], -32602),
    ("stateRoot", [], -32602),
    ("stateRoot", ["AAAA"], -32602),
    ("stateRoot", [UNKNOWN[:-1]], -32602),
    ("stateRoot", [7], -32602),
    ("stateRoot", [UNKNOWN, UNKNOWN], -32602),
    ("serviceData", [UNKNOWN, -1], -32602),
    ("serviceData", [UNKNOWN, 2**32], -32602),
    ("serviceData", [UNKNOWN, 0.5], -32602),
    ("submitWorkPackage", [0, "AA==", "AA=="], -32602),
    ("submitWorkPackage", [0, "AA==", ["AA=="] * 129], -32602),
    ("submitWorkPackage", [2**16, "AA==", []], -32602),
    ("submitWorkPackage", [0, "AA==", []], 0),
    ("submitWorkPackageBundle", [0, "AA=="], 0),
    ("submitPreimage", [0, "AA=="], 0),
    ("serviceRequest", [UNKNOWN, 0, UNKNOWN, 2**32 - 1], 0),
    ("fetchSegments", [UNKNOWN, [0]], 3),
    ("fetchWorkPackageSegments", [UNKNOWN, [0]], 3),
    ("fetchSegments", [UNKNOWN, [0] * 3073], -32602),
    ("fetchSegments", [UNKNOWN, 0], -32602),
    ("subscribeWorkPackageStatus", [UNKNOWN, UNKNOWN, 1], -32602),
    ("unsubscribeBestBlock", [], -32602),
]


def test_what_is_unavailable_is_named() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        for method, params, code in UNAVAILABLE:
            no = await say.refusal(method, *params)
            assert (no.code, no.about) == (code, UNKNOWN), method
            assert no.message
        no = await say.refusal("parent", (await say.say("bestBlock"))["header_hash"])
        assert (no.code, no.about) == (1, text(ZERO_HASH))

    tell(story)


def test_a_wrong_call_is_refused_with_its_code() -> None:
    async def story(_net: JamDevnet, say: Client) -> None:
        for method, params, code in WRONG:
            no = await say.refusal(method, *params)
            assert (no.code, bool(no.message)) == (code, True), method
        assert (await say.refusal("n" * 1000)).message == f"Method not found: {'n' * 100}"

    tell(story)
