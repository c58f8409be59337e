import pytest
from tests.devnets.jam.stage import (
    ECHO,
    Echo,
    at_block,
    best,
    chain,
    made,
    packages,
    produce,
    run,
    send,
)
from tests.jam.lookups import holds_together

from laneway.devnets.jam.model.chain import JamModel
from laneway.devnets.jam.model.values import (
    BlockUnavailable,
    PackageReady,
    ReportUnavailable,
    SegmentUnavailable,
    ServiceSetup,
    ShardUnavailable,
)
from laneway.jam import state_keys
from laneway.jam.availability import check_holding, reconstruct_bundle, reconstruct_segments
from laneway.jam.bundle import WORK_BUNDLE
from laneway.jam.hashing import ZERO_HASH, blake2b
from laneway.jam.header import block_codec, header_codec, header_hash
from laneway.jam.package import package_hash
from laneway.jam.report import WORK_REPORT, WorkReport, report_hash
from laneway.jam.spec import TINY
from laneway.jam.state import RECENT_HISTORY, SERVICE_ACCOUNT
from laneway.jam.state_proof import verify_absence, verify_presence
from laneway.jam.trie import root

UNKNOWN = b"\x11" * 32


def reported(model: JamModel) -> WorkReport:
    """The one report of the best block."""
    (work,) = model.made(0, best(model)).reported
    report = WORK_REPORT.decode(model.work_report(0, work.report_hash))
    assert report_hash(report) == work.report_hash
    return report


# Blocks.


def test_headers_are_linked_by_hashes_and_state_roots() -> None:
    model = chain(30)
    at = best(model)
    for number in range(30, 0, -1):
        header = header_codec(TINY).decode(model.header(0, at))
        block = block_codec(TINY).decode(model.block(0, at))
        assert header_hash(header, TINY) == at
        assert block.header == header
        assert holds_together(block, TINY)
        assert (header.slot, model.number(0, at)) == (number, number)
        assert (header.epoch_mark is not None) == (number % 12 == 0)
        assert header.parent_state_root == model.state_root(0, header.parent)
        assert model.parent(0, at).header_hash == header.parent
        at = header.parent
    assert at == model.genesis
    with pytest.raises(BlockUnavailable) as refused:
        model.parent(0, model.genesis)
    assert refused.value.about == ZERO_HASH


def test_a_block_that_a_node_has_not_seen_is_unavailable() -> None:
    model = chain(3, nodes=2)
    model.faults.lag_slots = {1: 5}
    run(model)
    newest = best(model)
    assert model.has_seen(0, newest)
    assert not model.has_seen(1, newest)
    for ask in (model.state_root, model.beefy_root, model.header, model.statistics, model.made):
        with pytest.raises(BlockUnavailable) as refused:
            ask(1, newest)
        assert refused.value.about == newest
    with pytest.raises(BlockUnavailable):
        model.status(0, newest, UNKNOWN, UNKNOWN)


def test_a_clock_may_be_wrong() -> None:
    model = chain(3, nodes=2)
    model.faults.skew_slots = {1: -2}
    assert (model.clock(0), model.clock(1)) == (3, 1)


def test_the_parameters_are_those_of_the_chain() -> None:
    assert chain(0).parameters()["val_count"] == 6


# State.


def test_a_state_is_proved_under_its_root() -> None:
    model = chain(5)
    at = best(model)
    entries = model.state(0, at)
    assert root(entries) == model.state_root(0, at)
    for key, value in entries.items():
        proof = model.state_proof(0, at, key)
        assert proof.value == model.state_value(0, at, key) == value
        verify_presence(root=model.state_root(0, at), key=key, value=value, nodes=proof.nodes)
    absent = state_keys.storage_key(ECHO, b"nothing")
    proof = model.state_proof(0, at, absent)
    assert proof.value is None
    verify_absence(root=model.state_root(0, at), key=absent, nodes=proof.nodes)


def test_the_beefy_root_is_the_one_that_the_next_blocks_remember() -> None:
    model = chain(5)
    raw = model.state_value(0, best(model), state_keys.RECENT_HISTORY)
    assert raw is not None
    for recent in RECENT_HISTORY.decode(raw).blocks:
        assert model.beefy_root(0, recent.header_hash) == recent.beefy_root
        if recent.header_hash != best(model):
            assert model.state_root(0, recent.header_hash) == recent.state_root


def test_what_a_service_keeps_can_be_read() -> None:
    wanted = blake2b(b"wanted")
    service = ServiceSetup(
        service=Echo(), storage={b"k": b"v"}, preimages=(b"given",), requests=((wanted, 6),)
    )
    model = chain(3, services={ECHO: service, 3: ServiceSetup(service=Echo())})
    at = best(model)
    assert model.services(0, at) == (3, ECHO)
    raw = model.service_data(0, at, ECHO)
    assert raw is not None
    assert SERVICE_ACCOUNT.decode(raw).code_hash == Echo().code_hash
    assert model.service_data(0, at, 99) is None
    assert model.service_value(0, at, ECHO, b"k") == b"v"
    assert model.service_value(0, at, 3, b"k") is None
    hashed = blake2b(b"given")
    assert model.service_preimage(0, at, ECHO, hashed) == b"given"
    assert model.service_request(0, at, ECHO, hashed, 5) == (0,)
    assert model.service_request(0, at, ECHO, wanted, 6) == ()
    assert model.service_request(0, at, ECHO, wanted, 7) is None
    assert model.statistics(0, at) == model.state(0, at)[state_keys.STATISTICS]


# Packages.


def test_a_context_is_anchored_behind_the_head_and_looked_up_behind_finality() -> None:
    model = chain(0)
    context = model.refine_context(0)
    assert context.anchor == context.lookup_anchor == model.genesis
    run(model, 6)
    context = model.refine_context(0, [UNKNOWN])
    assert context.anchor == model.parent(0, best(model)).header_hash
    assert (context.lookup_anchor_slot, model.finalized(0).slot) == (3, 4)
    assert context.prerequisites == (UNKNOWN,)
    assert at_block(model, context.anchor) == {
        "anchor": context.anchor,
        "state_root": context.state_root,
        "beefy_root": context.beefy_root,
    }


def test_a_report_is_there_once_a_node_sees_the_block() -> None:
    model = chain(3, nodes=2)
    model.faults.hidden_reports = {1: {send(model)}}
    (work,) = run(model).reported
    assert model.work_report(0, work.report_hash)
    for node, name in ((1, work.report_hash), (0, UNKNOWN)):
        with pytest.raises(ReportUnavailable) as refused:
            model.work_report(node, name)
        assert refused.value.about == name


def test_a_package_is_known_to_be_accumulated() -> None:
    model = chain(3)
    anchor, package = best(model), send(model)
    assert packages(run(model)) == [package]
    assert not model.is_accumulated(0, best(model), package)
    run(model)
    assert model.is_accumulated(0, best(model), package)
    assert isinstance(model.status(0, best(model), package, anchor), PackageReady)


# Finality.


def test_a_node_gives_reasons_for_what_it_knows_to_be_final() -> None:
    model = chain(8, nodes=2)
    final = model.finalized(0).header_hash
    assert model.justification(0, final) is not None
    assert model.justification(0, best(model)) is None
    model.faults.lag_slots = {1: 3}
    newer = made(run(model)).header_hash
    run(model, 2)
    assert model.justification(0, newer) is not None
    model.faults.lag_slots = {}
    assert model.justification(1, newer) is not None
    assert model.voters().set_id == 0
    assert model.fragments(0) == ()


# Shards.


def test_shards_give_bundle_and_exports_back() -> None:
    model = chain(3)
    package = send(model, b"\x03x", exports=3)
    run(model)
    spec = reported(model).package_spec
    holdings = [model.holding(validator, spec.erasure_root) for validator in (2, 5)]
    for validator, holding in zip((2, 5), holdings, strict=True):
        check_holding(TINY, spec, holding)
        shard = holding.index
        assert model.shard(validator, spec.erasure_root, shard) == holding
    shards = [(one.index, one.bundle_shard) for one in holdings]
    bundle = WORK_BUNDLE.decode(reconstruct_bundle(TINY, spec, shards))
    assert package_hash(bundle.package) == package
    found = reconstruct_segments(TINY, [(one.index, one.segment_shards) for one in holdings])
    assert (
        found[:3]
        == model.segments(package, [0, 1, 2])
        == model.segments(spec.exports_root, range(3))
    )


def test_a_validator_has_no_other_shard_than_its_own() -> None:
    model = chain(3)
    send(model)
    run(model)
    root_ = reported(model).package_spec.erasure_root
    own = model.holding(0, root_).index
    with pytest.raises(ShardUnavailable):
        model.shard(0, root_, own + 1)
    with pytest.raises(ShardUnavailable):
        model.shard(0, UNKNOWN, own)
    with pytest.raises(SegmentUnavailable):
        model.segments(UNKNOWN, [0])


def test_a_dark_core_gives_no_shards() -> None:
    model = chain(3)
    send(model, core=1)
    produce(model)
    root_ = reported(model).package_spec.erasure_root
    model.faults.unavailable_cores = {1}
    with pytest.raises(ShardUnavailable):
        model.holding(0, root_)
    model.faults.unavailable_cores = {0}
    assert model.holding(0, root_).index == 2
