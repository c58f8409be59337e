"""A ledger whose rules fail for some transfers, as a distribution of its own: a folder with the
module and its entry point, which deployments have on their import path and this process has not."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

from laneway.rollups.domain import Domain
from laneway.rollups.ledger.kind import LedgerKind
from laneway.rollups.ledger.rules import LedgerRules
from laneway.rollups.ledger.transfer import TRANSFER

NAME = "poisoned"
RAISES, LAGS, UNPACKABLE, HANGS, ENDS = 666_001, 666_002, 666_003, 666_004, 666_005
"""Amounts of transfers for which executing a block raises, or takes too long, or for which no work
package can be made of it, or for which executing a block never ends, or ends the process while a
file called `SMALL` lies beside this module."""
SMALL = "the_machine_is_small"
BUILD_S_MAX = 2.0
LAG_S = 4.0
RAISED, LATE = "raised ValueError", "takes longer than 2 s"
UNPACKED = "no package can be made of a block with it"
"""What a refusal of such a transfer says."""

MODULE = "laneway_poisoned"
ENTRY_POINTS = f"[laneway.rollups]\n{NAME} = {MODULE}:PoisonedKind\n"
METADATA = "Metadata-Version: 2.1\nName: laneway-poisoned\nVersion: 1.0\n"


class PoisonedRules(LedgerRules):
    def execute(self, state: Any, parent: Any, raws: Sequence[bytes], made_ms: int) -> Any:
        amounts = {TRANSFER.decode(raw, "transfer").amount for raw in raws}
        if RAISES in amounts:
            raise ValueError("poison")
        if LAGS in amounts:
            time.sleep(LAG_S)
        if HANGS in amounts:
            Event().wait()
        if ENDS in amounts and (Path(__file__).parent / SMALL).exists():
            os._exit(137)
        return super().execute(state, parent, raws, made_ms)

    def work(self, state: Any, block: Any) -> Any:
        if any(one.amount == UNPACKABLE for one in block.transfers):
            raise ValueError("poison")
        return super().work(state, block)


class PoisonedKind(LedgerKind):
    name = NAME

    def rules(self, domain: Domain) -> LedgerRules:
        return PoisonedRules(domain)


def install(folder: Path) -> None:
    """Lay the distribution into a folder, which has to be on the import path."""
    about = folder / f"{MODULE}-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / f"{MODULE}.py").write_text(Path(__file__).read_text())
    (about / "METADATA").write_text(METADATA)
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
