"""A package's whole way over the wire, as its builder sees it: from submission to finality."""

from typing import Any

import pytest
from tests.devnets.jam.wire_stage import (
    Builder,
    Client,
    data,
    kinds,
    packed,
    submit,
    tell,
    text,
)

from laneway.devnets.jam.devnet import JamDevnet
from laneway.devnets.jam.limits import ROLLUP_SERVICE_DEV
from laneway.jam import state_keys
from laneway.jam.availability import reconstruct_bundle, shard_holder
from laneway.jam.bundle import WORK_BUNDLE, WorkBundle
from laneway.jam.codec import U64
from laneway.jam.header import Header, header_codec
from laneway.jam.report import WORK_REPORT, Ok, WorkReport, report_hash
from laneway.jam.segments import exports_root
from laneway.jam.service.commitment import package_key
from laneway.jam.spec import FULL, TINY
from laneway.jam.state import OUTPUTS
from laneway.jam.state_proof import proven_value, verify_absence
from laneway.jam.validators import genesis_sets
from laneway.jam.votes import justification_codec, verify_justification
from laneway.rollups.ledger.block import LedgerBlock, block_of


def test_a_package_goes_from_submission_to_finality() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        first = await say.say("dev_produce")
        builder = Builder(net.model.genesis)
        block, work = builder.build()
        sent = await submit(say, work)
        key = text(package_key(data(sent.hash)))
        best = await say.say("subscribeWorkPackageStatus", sent.hash, sent.anchor, False)
        final = await say.say("subscribeWorkPackageStatus", sent.hash, sent.anchor, True)
        record = await say.say("subscribeServiceValue", ROLLUP_SERVICE_DEV, key, False)
        made = [await say.say("dev_produce") for _ in range(5)]
        assert [one["package"] for one in made[0]["reported"]] == [sent.hash]
        assert (made[1]["available"], made[1]["accumulated"]) == ([sent.hash], [sent.hash])
        assert kinds(say.updates(best)) == ["Reportable", "Reported", "Ready"]
        assert kinds(say.updates(final))[-3:] == ["Reportable", "Reported", "Ready"]
        assert [one["slot"] for one in say.updates(record)] == [first["slot"], made[1]["slot"]]
        assert data(say.updates(record)[-1]["value"]) == U64.encode(block.header.number)
        report = await read_report(say, made[0])
        await check_status(say, sent.hash, sent.anchor, made)
        await check_accumulated(say, made[1]["header_hash"], sent.hash)
        await check_segments(say, sent.hash, report, block)
        await check_shards(say, report, data(sent.hash))
        await check_final(net, say, made[1]["header_hash"])

    tell(story)


async def read_report(say: Client, made: Any) -> WorkReport:
    (reported,) = made["reported"]
    report = WORK_REPORT.decode(data(await say.say("workReport", reported["report_hash"])))
    assert text(report_hash(report)) == reported["report_hash"]
    assert text(report.package_spec.hash) == reported["package"]
    assert isinstance(report.results[0].result, Ok)
    return report


async def check_status(say: Client, package: str, anchor: str, made: list[Any]) -> None:
    blocks = [{"header_hash": one["header_hash"], "slot": one["slot"]} for one in made]
    (reported,) = made[0]["reported"]
    core = {"core": 0, "report_hash": reported["report_hash"], "reported_in": blocks[0]}
    statuses = [
        await say.say("workPackageStatus", at, package, anchor)
        for at in (anchor, made[0]["header_hash"], made[1]["header_hash"])
    ]
    assert statuses == [
        {"Reportable": {"remaining_blocks": 8}},
        {"Reported": core},
        {"Ready": {**core, "ready_in": blocks[1]}},
    ]


async def check_accumulated(say: Client, at: str, package: str) -> None:
    """By the history, by the service's record and its proof, and by what the service yields."""
    assert await say.say("dev_accumulated", at, package) is True
    root = data(await say.say("stateRoot", at))
    key = state_keys.storage_key(ROLLUP_SERVICE_DEV, package_key(data(package)))
    (found,) = await say.say("stateProof", at, [text(key)])
    nodes = [data(node) for node in found["nodes"]]
    value = data(found["value"])
    assert proven_value(root=root, key=key, nodes=nodes, value=value) == value
    assert await say.say("stateValue", at, text(key)) == found["value"]
    outputs = OUTPUTS.decode(data(await say.say("accumulationOutputs", at)))
    assert [one.service_id for one in outputs] == [ROLLUP_SERVICE_DEV]
    before = (await say.say("parent", at))["header_hash"]
    (absent,) = await say.say("stateProof", before, [text(key)], [], "none", 0)
    assert absent["value"] is None
    old_root = data(await say.say("stateRoot", before))
    verify_absence(root=old_root, key=key, nodes=[data(node) for node in absent["nodes"]])


async def check_segments(say: Client, package: str, report: WorkReport, block: LedgerBlock) -> None:
    indices = list(range(report.package_spec.exports_count))
    given = await say.say("fetchWorkPackageSegments", package, indices)
    segments = [data(one) for one in given]
    assert exports_root(segments) == report.package_spec.exports_root
    assert block_of(segments) == block
    root = text(report.package_spec.exports_root)
    assert await say.say("fetchSegments", root, indices[::-1]) == given[::-1]
    assert (await say.refusal("fetchSegments", root, [len(indices)])).code == 3


async def check_shards(say: Client, report: WorkReport, package: bytes) -> None:
    """Two validators give the bundle back."""
    root = text(report.package_spec.erasure_root)
    shards = []
    for place in (3, 5):
        holder = shard_holder(TINY, core=report.core_index, index=place)
        kept = await say.say("dev_shard", holder, root, place)
        shards.append((place, data(kept["bundle_shard"])))
        assert len(kept["segment_shards"]) > 1
    bundle = WORK_BUNDLE.decode(reconstruct_bundle(TINY, report.package_spec, shards))
    assert report.package_spec.hash == package
    assert len(bundle.extrinsics) == 2
    assert (await say.refusal("dev_shard", 0, root, 4)).code == 0
    assert (await say.refusal("dev_shard", 6, root, 0)).code == -32602


async def check_final(net: JamDevnet, say: Client, at: str) -> None:
    """The votes of the first set, whose keys the genesis header names."""
    final = await say.say("finalizedBlock")
    headers: dict[str, Header] = {}
    for name in (text(net.model.genesis), final["header_hash"]):
        block = await say.say("dev_block", name)
        headers[name] = header_codec(TINY).decode(data(block["header"]))
    mark = headers[text(net.model.genesis)].epoch_mark
    assert mark is not None
    raw = await say.say("dev_justification", final["header_hash"])
    target = verify_justification(
        justification_codec(TINY).decode(data(raw)),
        headers[final["header_hash"]],
        set_id=0,
        keys=genesis_sets(mark).current_keys,
        spec=TINY,
    )
    assert text(target.state_root) == await say.say("stateRoot", final["header_hash"])
    assert (await say.say("dev_block", at))["slot"] <= final["slot"]
    best = await say.say("bestBlock")
    assert await say.say("dev_justification", best["header_hash"]) is None


def test_a_bundle_goes_the_same_way() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("dev_produce")
        _, work = Builder(net.model.genesis).build()
        sent = await packed(say, work)
        bundle = WorkBundle(package=sent.package, extrinsics=work.extrinsics)
        encoded = WORK_BUNDLE.encode(bundle)
        await say.say("submitWorkPackageBundle", 1, text(encoded))
        made = await say.say("dev_produce")
        assert [(one["package"], one["core"]) for one in made["reported"]] == [(sent.hash, 1)]
        assert (await say.say("dev_produce"))["accumulated"] == [sent.hash]

    tell(story)


def test_what_no_guarantor_takes_is_refused_at_once() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("dev_produce")
        _, work = Builder(net.model.genesis).build()
        sent = await packed(say, work)
        whole = sent.bytes
        wrong: list[tuple[int, bytes, list[str]]] = [
            (0, b"", sent.extrinsics),
            (0, whole[:-1], sent.extrinsics),
            (0, whole + b"\0", sent.extrinsics),
            (2, whole, sent.extrinsics),
            (0, whole, []),
            (0, whole, sent.extrinsics[::-1]),
        ]
        for core, package, extrinsics in wrong:
            no = await say.refusal("submitWorkPackage", core, text(package), extrinsics)
            assert no.code == 0
            assert no.message
        for bundle in (b"", whole, whole + b"\0"):
            assert (await say.refusal("submitWorkPackageBundle", 0, text(bundle))).code == 0
        assert (await say.refusal("submitPreimage", ROLLUP_SERVICE_DEV, text(b"?"))).code == 0
        made = await say.say("dev_produce")
        assert (made["reported"], made["refused"]) == ([], [])

    tell(story)


def test_packages_on_both_cores_are_reported_in_one_block() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("dev_produce")
        builder = Builder(net.model.genesis)
        sent = [await submit(say, builder.build()[1], core) for core in (0, 1)]
        made = await say.say("dev_produce")
        assert [one["package"] for one in made["reported"]] == [one.hash for one in sent]
        made = await say.say("dev_produce")
        assert sorted(made["accumulated"]) == sorted(one.hash for one in sent)

    tell(story)


def test_the_same_bytes_may_be_handed_in_again() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("dev_produce")
        sent = await submit(say, Builder(net.model.genesis).build()[1])
        for _ in range(3):
            await say.say("submitWorkPackage", 0, text(sent.bytes), sent.extrinsics)
            await say.say("dev_produce")
        status = await say.say(
            "workPackageStatus", (await say.say("bestBlock"))["header_hash"], sent.hash, sent.anchor
        )
        assert list(status) == ["Ready"]

    tell(story)


@pytest.mark.slow
def test_a_package_goes_its_way_on_a_full_chain() -> None:
    async def story(net: JamDevnet, say: Client) -> None:
        await say.say("dev_produce")
        block, work = Builder(net.model.genesis).build()
        sent = await submit(say, work, 340)
        reported = await say.say("dev_produce")
        assert [one["core"] for one in reported["reported"]] == [340]
        assert (await say.say("dev_produce"))["accumulated"] == [sent.hash]
        await check_segments(say, sent.hash, await read_report(say, reported), block)
        for _ in range(2):
            await say.say("dev_produce")
        final = (await say.say("finalizedBlock"))["header_hash"]
        assert await say.say("dev_accumulated", final, sent.hash)

    tell(story, spec=FULL)
