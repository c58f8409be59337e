"""Every step of every trace: roots, hashes and bindings are computed anew and found to be the same.

A step is a state, a block, and the state after it; it is judged by itself, since the files beside
it may be missing. A step whose block was refused leaves the state as it was.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Struct
from tests.jam.components import account_service, component_codecs
from tests.jam.lookups import reported_package
from tests.vectors.folder import folder
from tests.vectors.jam_json import from_json

from laneway.jam import state_keys
from laneway.jam.codec import BLOB, HASH, ByteReader, Codec, Many, Octets, Record
from laneway.jam.errors import InvalidProof, MalformedEncoding
from laneway.jam.extrinsic import extrinsic_hash
from laneway.jam.header import Block, Header, block_codec, header_codec, header_hash
from laneway.jam.history import advanced
from laneway.jam.report import WorkReport
from laneway.jam.roots import accumulate_root, beefy_root
from laneway.jam.rules.assuring import PendingReport
from laneway.jam.rules.checks import ReportedPackage
from laneway.jam.spec import FULL, TINY, ChainSpec
from laneway.jam.state import (
    OUTPUTS,
    RECENT_HISTORY,
    SERVICE_ACCOUNT,
    TIMESLOT,
    VALIDATOR_KEYS,
    state_codecs,
)
from laneway.jam.state_proof import proven_value, verify_absence, verify_presence
from laneway.jam.trie import Trie, root

pytestmark = pytest.mark.vectors

KEY_SIZE = 31


class Entry(Struct, frozen=True):
    key: bytes
    value: bytes


class RawState(Struct, frozen=True):
    state_root: bytes
    keyvals: tuple[Entry, ...]

    def entries(self) -> dict[bytes, bytes]:
        found = {entry.key: entry.value for entry in self.keyvals}
        assert len(found) == len(self.keyvals)
        return found


class Step(Struct, frozen=True, kw_only=True):
    pre_state: RawState
    block: Block
    post_state: RawState

    def is_refused(self) -> bool:
        """A block that is taken changes the state: its slot is in it."""
        return self.pre_state.state_root == self.post_state.state_root


class Genesis(Struct, frozen=True, kw_only=True):
    header: Header
    state: RawState


ENTRY = Record(Entry, key=Octets(KEY_SIZE), value=BLOB)
RAW_STATE = Record(RawState, state_root=HASH, keyvals=Many(ENTRY))


class StepCodec(Codec[Step]):
    """The sizes of the chain are told by the state that stands before the block."""

    def write(self, out: bytearray, value: Step) -> None:
        RAW_STATE.write(out, value.pre_state)
        block_codec(spec_of(value.pre_state)).write(out, value.block)
        RAW_STATE.write(out, value.post_state)

    def read(self, reader: ByteReader) -> Step:
        pre_state = RAW_STATE.read(reader)
        block = block_codec(spec_of(pre_state)).read(reader)
        return Step(pre_state=pre_state, block=block, post_state=RAW_STATE.read(reader))


def genesis_codec(spec: ChainSpec) -> Codec[Genesis]:
    return Record(Genesis, header=header_codec(spec), state=RAW_STATE)


def spec_of(state: RawState) -> ChainSpec:
    """The chain that has so many validators."""
    active = next(
        entry.value for entry in state.keyvals if entry.key == state_keys.VALIDATORS_ACTIVE
    )
    size = sum(field.count for _, field in VALIDATOR_KEYS.fields if isinstance(field, Octets))
    return {spec.validator_count: spec for spec in (TINY, FULL)}[len(active) // size]


def params(*, genesis: bool) -> list[Any]:
    """The files of the traces without their suffixes: the steps have numbers as their names."""
    top = folder("jam", "traces")
    places = {
        path.with_suffix("")
        for path in top.rglob("*")
        if path.suffix in (".bin", ".json")
        and (path.stem == "genesis" if genesis else path.stem.isdigit())
    }
    found = [pytest.param(place, id=str(place.relative_to(top))) for place in sorted(places)]
    reason = "no vectors in jam/traces; set LANEWAY_VECTORS"
    return found or [pytest.param(Path(), id="none", marks=pytest.mark.skip(reason=reason))]


def exists(place: Path) -> bool:
    return place.with_suffix(".bin").exists() or place.with_suffix(".json").exists()


def read_step(place: Path) -> Step:
    """From bytes or from JSON, or from both when they say the same."""
    raw, said = place.with_suffix(".bin"), place.with_suffix(".json")
    told = from_json(Step, msgspec.json.decode(said.read_bytes())) if said.exists() else None
    if not raw.exists():
        assert isinstance(told, Step)
        return told
    codec = StepCodec()
    found = codec.decode(raw.read_bytes(), place.name)
    assert codec.encode(found) == raw.read_bytes()
    assert told is None or told == found
    return found


def read_genesis(place: Path) -> Genesis:
    raw, said = place.with_suffix(".bin"), place.with_suffix(".json")
    told = from_json(Genesis, msgspec.json.decode(said.read_bytes())) if said.exists() else None
    if not raw.exists():
        assert isinstance(told, Genesis)
        return told
    found = decoded_genesis(raw.read_bytes())
    assert genesis_codec(spec_of(found.state)).encode(found) == raw.read_bytes()
    assert told is None or told == found
    return found


def decoded_genesis(raw: bytes) -> Genesis:
    """The header comes first, with an epoch mark of the chain's size: only one chain fits it."""
    try:
        return genesis_codec(TINY).decode(raw)
    except MalformedEncoding:
        return genesis_codec(FULL).decode(raw)


@pytest.fixture(scope="module", params=params(genesis=False))
def place(request: pytest.FixtureRequest) -> Path:
    found: Path = request.param
    return found


@pytest.fixture(scope="module")
def step(place: Path) -> Step:
    return read_step(place)


@pytest.fixture(scope="module")
def spec(step: Step) -> ChainSpec:
    return spec_of(step.pre_state)


@pytest.fixture(scope="module")
def pre(step: Step) -> dict[bytes, bytes]:
    return step.pre_state.entries()


@pytest.fixture(scope="module")
def post(step: Step) -> dict[bytes, bytes]:
    return step.post_state.entries()


@pytest.fixture
def taken(step: Step) -> Block:
    """The step's block, for laws of blocks that are taken."""
    if step.is_refused():
        pytest.skip("the block was refused")
    return step.block


def test_a_state_has_the_root_that_is_said(
    step: Step, pre: dict[bytes, bytes], post: dict[bytes, bytes]
) -> None:
    before, after = Trie.of(pre), Trie.of(post)
    assert root(pre) == before.root == step.pre_state.state_root
    assert root(post) == after.root == step.post_state.state_root
    gone = dict.fromkeys((key for key in pre if key not in post), None)
    changed = {key: value for key, value in post.items() if pre.get(key) != value}
    assert before.with_changes({**gone, **changed}).root == after.root
    assert dict(after.items()) == post


def test_every_component_is_written_as_it_was_read(
    spec: ChainSpec, pre: dict[bytes, bytes], post: dict[bytes, bytes]
) -> None:
    for state in (pre, post):
        for key, codec in component_codecs(spec).items():
            assert codec.encode(codec.decode(state[key], f"component {key[0]}")) == state[key]
        accounts = [key for key in state if account_service(key) is not None]
        for key in accounts:
            assert SERVICE_ACCOUNT.encode(SERVICE_ACCOUNT.decode(state[key])) == state[key]


def test_a_header_names_its_extrinsic_its_parent_and_the_state_before(
    place: Path, step: Step, spec: ChainSpec, pre: dict[bytes, bytes], taken: Block
) -> None:
    header = taken.header
    assert header.extrinsic_hash == extrinsic_hash(taken.extrinsic, spec)
    assert header.parent_state_root == step.pre_state.state_root
    blocks = RECENT_HISTORY.decode(pre[state_keys.RECENT_HISTORY]).blocks
    if blocks:
        assert header.parent == blocks[-1].header_hash
    before = place.with_name(f"{int(place.name) - 1:0{len(place.name)}}")
    if exists(before):
        earlier = read_step(before)
        follows = earlier.post_state.state_root == step.pre_state.state_root
        if follows and not earlier.is_refused():
            assert header.parent == header_hash(earlier.block.header, spec)


def test_the_history_moves_on_by_the_header_the_outputs_and_the_guarantees(
    spec: ChainSpec, pre: dict[bytes, bytes], post: dict[bytes, bytes], taken: Block
) -> None:
    outputs = OUTPUTS.decode(post[state_keys.OUTPUTS])
    reports = [guarantee.report.package_spec for guarantee in taken.extrinsic.guarantees]
    after = RECENT_HISTORY.decode(post[state_keys.RECENT_HISTORY])
    assert after == advanced(
        RECENT_HISTORY.decode(pre[state_keys.RECENT_HISTORY]),
        header_hash=header_hash(taken.header, spec),
        parent_state_root=taken.header.parent_state_root,
        accumulate_root=accumulate_root(outputs),
        reported=[ReportedPackage(report.hash, report.exports_root) for report in reports],
    )
    assert after.blocks[-1].beefy_root == beefy_root(after.belt)
    for report in reports:
        found = reported_package(after, report.hash)
        assert found is not None
        assert found.exports_root == report.exports_root


def test_reports_go_to_their_cores_and_packages_come_from_cores_or_the_queue(
    spec: ChainSpec, pre: dict[bytes, bytes], post: dict[bytes, bytes], taken: Block
) -> None:
    codecs = state_codecs(spec)
    slot = TIMESLOT.decode(post[state_keys.TIMESLOT])
    assert slot == taken.header.slot
    cores = codecs.pending_reports.decode(post[state_keys.PENDING_REPORTS])
    for guarantee in taken.extrinsic.guarantees:
        report = guarantee.report
        assert cores[report.core_index] == PendingReport(report, slot)
    before = codecs.accumulated.decode(pre[state_keys.ACCUMULATED])
    after = codecs.accumulated.decode(post[state_keys.ACCUMULATED])
    assert after[:-1] == before[1:]
    known = {report.package_spec.hash for report in waiting(spec, pre)}
    assert set(after[-1]) <= known


def waiting(spec: ChainSpec, state: dict[bytes, bytes]) -> Iterator[WorkReport]:
    """The reports that a state holds on cores and in its ready queue."""
    codecs = state_codecs(spec)
    for pending in codecs.pending_reports.decode(state[state_keys.PENDING_REPORTS]):
        if pending is not None:
            yield pending.report
    for ready in codecs.ready_queue.decode(state[state_keys.READY_QUEUE]):
        yield from (record.report for record in ready)


def test_what_a_state_holds_is_proven_under_its_root(
    step: Step, spec: ChainSpec, post: dict[bytes, bytes]
) -> None:
    trie, state_root = Trie.of(post), step.post_state.state_root
    for key in component_codecs(spec):
        nodes, value = trie.proof(key), post[key]
        verify_presence(root=state_root, key=key, value=value, nodes=nodes)
        with pytest.raises(InvalidProof, match="another value"):
            verify_presence(root=state_root, key=key, value=value + b"\0", nodes=nodes)
        with pytest.raises(InvalidProof, match="has the key"):
            verify_absence(root=state_root, key=key, nodes=nodes)
        without = trie.remove(key)
        verify_absence(root=without.root, key=key, nodes=without.proof(key))
    last = max(post)
    assert proven_value(root=state_root, key=last, nodes=trie.proof(last), value=post[last])


@pytest.mark.parametrize("start", params(genesis=True))
def test_a_genesis_has_its_root_and_is_the_first_parent(start: Path) -> None:
    genesis = read_genesis(start)
    state, spec = genesis.state.entries(), spec_of(genesis.state)
    assert root(state) == Trie.of(state).root == genesis.state.state_root
    hashed = header_hash(genesis.header, spec)
    blocks = RECENT_HISTORY.decode(state[state_keys.RECENT_HISTORY]).blocks
    if blocks:
        assert blocks[-1].header_hash == hashed
    first = start.with_name("00000001")
    if exists(first):
        step = read_step(first)
        if step.pre_state.state_root == genesis.state.state_root and not step.is_refused():
            assert step.block.header.parent == hashed
