"""Which modules are pure: the one list, for `tests/test_tidy.py` (what they may import), for
`scripts/cover.py` (their branches), and for whoever wonders.

A new kind of lane, chain, rollup or devnet needs no entry: the folders below hold pure code alone.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
HOME = ROOT / "src/laneway"

PURE = (
    *("core/**/*.py", "lanes/**/*.py", "evm/**/*.py", "ubt/**/*.py"),
    *("cosmos/**/*.py", "jam/**/*.py", "rollups/**/*.py", "ports/**/*.py"),
    *("devnets/*/model.py", "devnets/*/model/**/*.py"),
    *("builder/packages.py", "builder/snapshots.py"),
    *("stores/judge.py", "stores/pages.py"),
)
"""Of a rollup's builder: what is packed and kept, without its thread and its file. Of the stores:
what is decided without looking."""


def pure_files() -> list[Path]:
    return sorted({path for pattern in PURE for path in HOME.glob(pattern)})


def has_code(path: Path) -> bool:
    """Whether anything runs after the import: a module of values and protocols has no branches."""
    functions = (
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return any(not is_constant(one) for function in functions for one in function.body)


def is_constant(statement: ast.stmt) -> bool:
    """A docstring, or the three dots of a protocol."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
