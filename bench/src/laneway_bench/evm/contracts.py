"""The contracts that transactions call, as solc in the peers' environment makes them.

No bytecode is kept in the repository: what was compiled stays in the peers' environment, under the
digest of the sources and of the packages that they were made with.
"""

import json
from hashlib import sha256
from pathlib import Path

from laneway_bench import node
from laneway_bench.peers import run, scripts

PACKAGES = ("solc", "@openzeppelin/contracts")


def creation_codes(modules: Path) -> dict[str, bytes]:
    """The creation code of each contract, by its name."""
    kept = modules.parent / f"contracts-{digest(modules)}.json"
    if not kept.is_file():
        kept.write_text(run(node.command(modules, "evm_compile.cjs"), "compile the contracts"))
    codes = json.loads(kept.read_text())
    return {name: bytes.fromhex(code) for name, code in codes.items()}


def digest(modules: Path) -> str:
    """Everything that the compiled contracts depend on."""
    found = sha256(repr(node.versions(modules, [f"{name}@" for name in PACKAGES])).encode())
    for path in [scripts() / "evm_compile.cjs", *sorted((scripts() / "contracts").iterdir())]:
        found.update(path.read_bytes())
    return found.hexdigest()[:16]
