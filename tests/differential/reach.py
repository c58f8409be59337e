"""What generated cases reach, as EELS counts it: opcodes, precompiles, ends and exclusions."""

from collections import Counter
from typing import Any

from tests.differential.assembly import opcodes
from tests.differential.precompile_inputs import precompiles

NAMES = {"KECCAK": "KECCAK256"}
"""EELS' names where they are not ours."""
NEVER_FAIL = {"STOP"}
NEVER_PASS = {"INVALID"}
COLUMNS = 4


class Reach:
    def __init__(self, told: dict[str, Any]) -> None:
        self.ops: int = told["ops"]
        self.exits = Counter(told["exits"])
        self.excluded = Counter(told["excluded"])
        self.passed: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        for name, count in told["executed"].items():
            self.passed[NAMES.get(name, name)] += count
        for text, count in told["failed"].items():
            name, _, reason = text.rpartition(" ")
            name = "INVALID" if name == "byte fe" else NAMES.get(name, name)
            self.failed[name] += count
            self.reasons[reason] += count

    def unreached(self) -> list[str]:
        """Opcodes and precompiles that never went well, or never failed."""
        names = [one.name for one in opcodes("Osaka")]
        names += [f"precompile {address}" for address in precompiles("Osaka")]
        never_passed = [n for n in names if n not in NEVER_PASS and not self.passed[n]]
        never_failed = [n for n in names if n not in NEVER_FAIL and not self.failed[n]]
        return [f"{name} never went well" for name in never_passed] + [
            f"{name} never failed" for name in never_failed
        ]

    def text(self) -> str:
        names = [one.name for one in sorted(opcodes("Osaka"))]
        names += [f"precompile {address}" for address in precompiles("Osaka")]
        names += sorted(name for name in self.failed if name.startswith("byte "))
        cells = [f"{name:<16}{self.passed[name]:>8}{self.failed[name]:>7}" for name in names]
        rows = -(-len(cells) // COLUMNS)
        lines = [f"{self.ops} steps; of each: how often it went well, and how often it failed"]
        lines += [" | ".join(cells[row::rows]) for row in range(rows)]
        lines += [
            f"{title}: " + ", ".join(f"{name} {count}" for name, count in table.most_common())
            for title, table in (
                ("failures", self.reasons),
                ("transactions end", self.exits),
                ("excluded", self.excluded),
            )
        ]
        return "\n".join(lines)
