"""The JAM codec vectors: every object decodes, encodes to the same bytes, and equals its JSON."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.vectors.folder import folder
from tests.vectors.jam_json import from_json, to_json

from laneway.jam.codec import Codec
from laneway.jam.extrinsic import (
    GUARANTEES,
    PREIMAGES,
    TICKETS,
    AvailAssurance,
    Disputes,
    Extrinsic,
    Preimage,
    ReportGuarantee,
    TicketEnvelope,
    assurances_codec,
    disputes_codec,
    extrinsic_codec,
)
from laneway.jam.header import Block, Header, block_codec, header_codec
from laneway.jam.package import (
    REFINE_CONTEXT,
    WORK_ITEM,
    WORK_PACKAGE,
    RefineContext,
    WorkItem,
    WorkPackage,
)
from laneway.jam.report import WORK_REPORT, WORK_RESULT, WorkReport, WorkResult
from laneway.jam.spec import FULL, TINY, ChainSpec

pytestmark = pytest.mark.vectors


def kinds(spec: ChainSpec) -> dict[str, tuple[Any, Codec[Any]]]:
    """What the name of a file says that it holds."""
    return {
        "assurances_extrinsic": (tuple[AvailAssurance, ...], assurances_codec(spec)),
        "block": (Block, block_codec(spec)),
        "disputes_extrinsic": (Disputes, disputes_codec(spec)),
        "extrinsic": (Extrinsic, extrinsic_codec(spec)),
        "guarantees_extrinsic": (tuple[ReportGuarantee, ...], GUARANTEES),
        "header": (Header, header_codec(spec)),
        "preimages_extrinsic": (tuple[Preimage, ...], PREIMAGES),
        "refine_context": (RefineContext, REFINE_CONTEXT),
        "tickets_extrinsic": (tuple[TicketEnvelope, ...], TICKETS),
        "work_item": (WorkItem, WORK_ITEM),
        "work_package": (WorkPackage, WORK_PACKAGE),
        "work_report": (WorkReport, WORK_REPORT),
        "work_result": (WorkResult, WORK_RESULT),
    }


def files() -> list[Any]:
    found = [
        pytest.param(spec, path, id=f"{spec.name}/{path.stem}")
        for spec in (TINY, FULL)
        for path in sorted(folder("jam", "codec", spec.name).rglob("*.bin"))
    ]
    reason = "no vectors in jam/codec; set LANEWAY_VECTORS"
    return found or [pytest.param(TINY, Path(), id="none", marks=pytest.mark.skip(reason=reason))]


def kind_of(spec: ChainSpec, path: Path) -> tuple[Any, Codec[Any]]:
    """A number behind the last underscore only tells files of one kind apart."""
    stem, _, number = path.stem.rpartition("_")
    name = stem if stem and number.isdigit() else path.stem
    known = kinds(spec)
    if name not in known:
        pytest.fail(f"{path.name}: no kind of object is called {name!r}; known: {sorted(known)}")
    return known[name]


@pytest.mark.parametrize(("spec", "path"), files())
def test_an_object_is_its_bytes_and_its_json(spec: ChainSpec, path: Path) -> None:
    kind, codec = kind_of(spec, path)
    raw = path.read_bytes()
    value = codec.decode(raw, path.stem)
    assert codec.encode(value) == raw
    beside = path.with_suffix(".json")
    if beside.exists():
        said = msgspec.json.decode(beside.read_bytes())
        assert from_json(kind, said) == value
        assert to_json(value) == said
