"""Laws of docs/eoa-operations.md: no reason to wait goes unexplained, and no key is invented."""

import re
from pathlib import Path

from laneway.kinds.evm.section import EoaSection
from laneway.lanes.eoa import show, tries
from laneway.ports import nodes
from laneway.wire.evm import EvmPayload

PAGE = (Path(__file__).parents[2] / "docs/eoa-operations.md").read_text()
REASONS = PAGE.partition("## Why it waits")[2].partition("\n## ")[0]


def words(module: object) -> set[str]:
    """The reasons that a module names."""
    return {
        value
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str) and re.fullmatch(r"[a-z_]+", value)
    }


def test_every_reason_to_wait_is_explained_once() -> None:
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", REASONS, re.MULTILINE)
    explained = [word for row in rows for word in re.findall(r"`(\w+)`", row)]
    known = words(show) | words(tries) | words(nodes)
    assert {"parked_by_cap", "out_of_funds"} <= known
    assert sorted(known) == sorted(set(explained) - {"wait_reason"})
    assert len(explained) == len(set(explained))


def test_every_key_that_it_names_is_a_setting_or_of_a_request() -> None:
    settings = set(EoaSection.__struct_fields__) | set(EvmPayload.__struct_fields__)
    named = set(re.findall(r"`(\w+_(?:max|ms|blocks|nonces|tps|gas|cost))`", PAGE))
    assert named
    assert named - words(show) <= settings
