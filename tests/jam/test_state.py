"""Laws of the components of a state: one value has one encoding, and sets are in order."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.jam.components import component_codecs

from laneway.jam import state_keys
from laneway.jam.codec import Codec
from laneway.jam.errors import InvalidJam, MalformedEncoding, Unencodable
from laneway.jam.hashing import blake2b
from laneway.jam.header import TicketBody
from laneway.jam.package import RefineContext
from laneway.jam.report import Ok, PackageSpec, WorkReport, WorkResult
from laneway.jam.rules.activity import CoreActivity, ServiceActivity
from laneway.jam.rules.assuring import PendingReport
from laneway.jam.rules.checks import RecentBlock, ReportedPackage
from laneway.jam.rules.queueing import ReadyRecord
from laneway.jam.spec import FULL, TINY, ChainSpec
from laneway.jam.state import (
    AUTHORIZER_QUEUE_COUNT,
    OUTPUTS,
    RECENT_HISTORY,
    REQUEST,
    SERVICE_ACCOUNT,
    AccumulationOutput,
    FallbackSeals,
    FreeGas,
    JudgedReports,
    Privileges,
    RecentHistory,
    Safrole,
    ServiceAccount,
    ServiceEntry,
    Statistics,
    TicketSeals,
    ValidatorActivity,
    ValidatorKeys,
    state_codecs,
)

A, B, C = sorted(blake2b(bytes([number])) for number in range(3))
REPORT = WorkReport(
    package_spec=PackageSpec(hash=A, length=9, erasure_root=B, exports_root=C, exports_count=1),
    context=RefineContext(
        anchor=A, state_root=B, beefy_root=C, lookup_anchor=A, lookup_anchor_slot=3
    ),
    core_index=1,
    authorizer_hash=B,
    results=(
        WorkResult(service_id=7, code_hash=A, payload_hash=B, accumulate_gas=10, result=Ok(b"out")),
    ),
)
VALIDATOR = ValidatorKeys(bandersnatch=A, ed25519=B, bls=bytes(144), metadata=bytes(128))
TICKET = TicketBody(C, 1)
BLOCK = RecentBlock(
    header_hash=A,
    beefy_root=B,
    state_root=C,
    reported=(ReportedPackage(A, C), ReportedPackage(B, A)),
)
HISTORY = RecentHistory((BLOCK, replace(BLOCK, reported=())), (None, A, None, B))
ACCOUNT = ServiceAccount(
    code_hash=A,
    balance=1 << 63,
    min_item_gas=2,
    min_memo_gas=3,
    octets=4,
    deposit_offset=5,
    items=6,
    creation_slot=7,
    last_accumulation_slot=8,
    parent_service=9,
)


def components(spec: ChainSpec) -> dict[bytes, Any]:
    """One value of every component, in the sizes of a chain."""
    validators = (VALIDATOR,) * spec.validator_count
    nothing = ((),) * (spec.epoch_slots - 2)
    activity = tuple(
        ValidatorActivity(number, 2, 3, 4, 5, 6) for number in range(spec.validator_count)
    )
    return {
        state_keys.AUTHORIZER_POOLS: ((C, A, A),) + ((),) * (spec.core_count - 1),
        state_keys.AUTHORIZER_QUEUES: ((B,) * AUTHORIZER_QUEUE_COUNT,) * spec.core_count,
        state_keys.RECENT_HISTORY: HISTORY,
        state_keys.SAFROLE: Safrole(
            pending=validators,
            epoch_root=bytes(144),
            seals=TicketSeals((TICKET,) * spec.epoch_slots),
            tickets=(TICKET, TICKET),
        ),
        state_keys.DISPUTES: JudgedReports(good=(A, B, C), bad=(), wonky=(B,), offenders=(A, C)),
        state_keys.ENTROPY: (A, B, C, A),
        state_keys.VALIDATORS_STAGED: validators,
        state_keys.VALIDATORS_ACTIVE: validators,
        state_keys.VALIDATORS_PREVIOUS: validators,
        state_keys.PENDING_REPORTS: (PendingReport(REPORT, 5),) + (None,) * (spec.core_count - 1),
        state_keys.TIMESLOT: 77,
        state_keys.PRIVILEGES: Privileges(
            manager=1,
            assigners=(2,) * spec.core_count,
            delegator=3,
            registrar=4,
            always_accumulate=(FreeGas(5, 100), FreeGas(6, 50)),
        ),
        state_keys.STATISTICS: Statistics(
            current=activity,
            previous=activity,
            cores=(CoreActivity(da_load=1, gas_used=300),) * spec.core_count,
            services=(
                ServiceEntry(7, ServiceActivity(provided_count=1, accumulate_gas_used=2)),
                ServiceEntry(8, ServiceActivity()),
            ),
        ),
        state_keys.READY_QUEUE: (
            (ReadyRecord(REPORT, (A, B)),),
            *nothing,
            (ReadyRecord(REPORT, ()), ReadyRecord(REPORT, (C,))),
        ),
        state_keys.ACCUMULATED: ((A, C), *nothing, (B,)),
        state_keys.OUTPUTS: (AccumulationOutput(7, A), AccumulationOutput(7, B)),
    }


@pytest.mark.parametrize("spec", [TINY, FULL], ids=lambda spec: spec.name)
def test_every_component_is_read_as_it_was_written(spec: ChainSpec) -> None:
    codecs = component_codecs(spec)
    values = components(spec)
    assert list(codecs) == list(values) == [state_keys.component_key(n) for n in range(1, 17)]
    for key, value in values.items():
        assert codecs[key].decode(codecs[key].encode(value)) == value


SMALL = sorted(
    (key, component_codecs(TINY)[key].encode(value)) for key, value in components(TINY).items()
)


@settings(max_examples=60)
@given(st.sampled_from(SMALL), st.data())
def test_changed_bytes_are_refused_or_are_another_value(
    component: tuple[bytes, bytes], data: st.DataObject
) -> None:
    key, raw = component
    at = data.draw(st.integers(0, len(raw) - 1))
    change = data.draw(st.integers(1, 255))
    codec, bent = component_codecs(TINY)[key], bytearray(raw)
    bent[at] ^= change
    for hostile in (bytes(bent), raw[:at], raw + bytes(1)):
        try:
            value = codec.decode(hostile)
        except MalformedEncoding:
            continue
        assert codec.encode(value) == hostile


def test_a_history_to_the_byte() -> None:
    entry = A + B + C
    raw = b"\x02" + entry + b"\x02" + A + C + B + A + entry + b"\x00"
    raw += b"\x04" + b"\x00" + b"\x01" + A + b"\x00" + b"\x01" + B
    assert RECENT_HISTORY.encode(HISTORY) == raw


def test_outputs_to_the_byte() -> None:
    outputs = (AccumulationOutput(0x01020304, A), AccumulationOutput(7, B))
    assert OUTPUTS.encode(outputs) == b"\x02\x04\x03\x02\x01" + A + b"\x07\x00\x00\x00" + B
    assert OUTPUTS.decode(b"\x00") == ()


def test_an_account_to_the_byte() -> None:
    raw = b"\x00" + A + (1 << 63).to_bytes(8, "little")
    raw += b"".join(number.to_bytes(8, "little") for number in (2, 3, 4, 5))
    raw += b"".join(number.to_bytes(4, "little") for number in (6, 7, 8, 9))
    assert len(raw) == 89
    assert SERVICE_ACCOUNT.encode(ACCOUNT) == raw
    assert SERVICE_ACCOUNT.decode(raw) == ACCOUNT
    with pytest.raises(MalformedEncoding, match=r"account\.version.*1 is no known version"):
        SERVICE_ACCOUNT.decode(b"\x01" + raw[1:], "account")
    with pytest.raises(Unencodable, match="2 is no known version"):
        SERVICE_ACCOUNT.encode(replace(ACCOUNT, version=2))


def test_seals_are_tickets_or_keys() -> None:
    codec = state_codecs(TINY).safrole
    value: Safrole = components(TINY)[state_keys.SAFROLE]
    fallback = replace(value, seals=FallbackSeals((A,) * TINY.epoch_slots))
    raw = codec.encode(fallback)
    assert codec.decode(raw) == fallback
    at = 336 * TINY.validator_count + 144
    assert codec.encode(value)[at] == 0
    assert raw[at] == 1
    with pytest.raises(MalformedEncoding, match=r"seals.*2 is no kind of seals"):
        codec.decode(raw[:at] + b"\x02" + raw[at + 1 :])


def unordered() -> list[Any]:
    """Values whose sets are out of order or have doubles."""
    values = components(TINY)
    codecs = component_codecs(TINY)
    history, judged = values[state_keys.RECENT_HISTORY], values[state_keys.DISPUTES]
    privileges, statistics = values[state_keys.PRIVILEGES], values[state_keys.STATISTICS]
    swapped = replace(BLOCK, reported=BLOCK.reported[::-1])
    twelve = TINY.epoch_slots
    rows = {
        "reported": (state_keys.RECENT_HISTORY, replace(history, blocks=(swapped,))),
        "good": (state_keys.DISPUTES, replace(judged, good=(B, A))),
        "offenders": (state_keys.DISPUTES, replace(judged, offenders=(A, A))),
        "always_accumulate": (
            state_keys.PRIVILEGES,
            replace(privileges, always_accumulate=(FreeGas(5, 1), FreeGas(5, 2))),
        ),
        "services": (
            state_keys.STATISTICS,
            replace(statistics, services=statistics.services[::-1]),
        ),
        "ready": (
            state_keys.READY_QUEUE,
            ((ReadyRecord(REPORT, (B, A)),),) + ((),) * (twelve - 1),
        ),
        "accumulated": (state_keys.ACCUMULATED, ((C, A),) + ((),) * (twelve - 1)),
    }
    return [pytest.param(codecs[key], value, id=name) for name, (key, value) in rows.items()]


@pytest.mark.parametrize(("codec", "value"), unordered())
def test_a_set_out_of_order_is_not_written(codec: Codec[Any], value: Any) -> None:
    with pytest.raises(Unencodable, match="not in ascending order"):
        codec.encode(value)


def test_a_set_out_of_order_is_not_read() -> None:
    codec = state_codecs(TINY).accumulated
    raw = codec.encode(((A, C),) + ((),) * 11)
    with pytest.raises(MalformedEncoding, match=r"accumulated\[0\].*not in ascending order"):
        codec.decode(raw[:1] + C + A + raw[65:], "accumulated")


def test_sizes_of_the_chain_are_kept() -> None:
    codecs = state_codecs(TINY)
    for codec, value in (
        (codecs.accumulated, ((),) * 11),
        (codecs.pending_reports, (None,) * 3),
        (codecs.validators, (VALIDATOR,) * 5),
        (codecs.authorizer_pools, ((A,) * 9, ())),
        (REQUEST, (1, 2, 3, 4)),
        (RECENT_HISTORY, RecentHistory((BLOCK,) * 9, ())),
        (RECENT_HISTORY, RecentHistory((), (A,) * 65)),
    ):
        with pytest.raises(InvalidJam):
            codec.encode(value)  # type: ignore[arg-type]


def test_a_request_remembers_up_to_three_slots() -> None:
    assert REQUEST.encode(()) == b"\x00"
    assert REQUEST.decode(b"\x02\x05\x00\x00\x00\x09\x00\x00\x00") == (5, 9)
