"""The JSON form of JAM values goes both ways, and takes nothing that is not its own."""

from random import Random
from typing import Any

import pytest
from tests.jam import objects
from tests.vectors.jam_json import JsonMismatch, from_json, to_json

from laneway.jam.header import Block, Header
from laneway.jam.package import ExtrinsicSpec, ImportSpec, WorkPackage
from laneway.jam.report import Ok, Outcome, WorkError, WorkReport
from laneway.jam.spec import TINY


@pytest.mark.parametrize("seed", range(10))
def test_a_value_comes_back_from_its_json(seed: int) -> None:
    source = Random(seed)
    for kind, value in (
        (WorkPackage, objects.work_package(source)),
        (WorkReport, objects.work_report(source)),
        (Header, objects.header(source, TINY)),
        (Block, objects.block(source, TINY)),
    ):
        assert from_json(kind, to_json(value)) == value


def test_an_outcome_is_an_object_with_one_word() -> None:
    assert to_json(Ok(b"\x01")) == {"ok": "0x01"}
    assert to_json(WorkError.OUT_OF_GAS) == {"out_of_gas": None}
    assert from_json(Outcome, {"code_oversize": None}) is WorkError.CODE_OVERSIZE


def test_an_import_by_package_has_the_highest_bit_of_its_index() -> None:
    value = ImportSpec(b"\x01", 2, True)
    assert to_json(value) == {"tree_root": "0x01", "index": 0x8002}
    assert from_json(ImportSpec, to_json(value)) == value


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (int, True),
        (int, "1"),
        (bool, 1),
        (bytes, "01"),
        (bytes, None),
        (tuple[int, ...], {"0": 1}),
        (tuple[int, int], [1, 2]),
        (int | str, 1),
        (str, "word"),
        (ExtrinsicSpec, {"hash": "0x"}),
        (ExtrinsicSpec, {"hash": "0x", "len": 1, "more": 1}),
        (Outcome, {}),
        (Outcome, {"ok": None}),
        (Outcome, {"panic": 1}),
        (Outcome, {"fine": None}),
    ],
)
def test_what_is_of_another_kind_is_refused(kind: Any, given: Any) -> None:
    with pytest.raises(JsonMismatch):
        from_json(kind, given)


def test_a_value_without_a_json_form_is_refused() -> None:
    with pytest.raises(JsonMismatch):
        to_json(1.5)
