"""Laws of the extras: what is missing is named with the extra that brings it."""

import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from laneway.kinds.extras import EXTRAS, missing

ROOT = Path(__file__).parents[2]
BLOCKED = """
import sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None
from laneway.cli.app import run
sys.exit(run(sys.argv[2:]))
"""
EVM_TOML = '[[evm]]\nname="dev"\nchain_id=1\nnodes=["http://127.0.0.1:1"]\n'
EVM_TOML += '[[evm.accounts]]\nname="hot"\nsigner="env:HOT_KEY"\n'
COSMOS_TOML = EVM_TOML.replace("evm", "cosmos").replace("=1\n", '="dev-1"\n')
ROLLUP_TOML = '[[rollup]]\nname="pay"\nservice=1\nnodes=["devnet"]\n'


def test_the_table_of_extras_is_that_of_the_package() -> None:
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {
        extra: {
            one.partition(">")[0].partition("[")[0].lower().replace("_", "-")
            for one in requirements
        }
        for extra, requirements in listed["optional-dependencies"].items()
        if extra != "dev"
    }
    places = packages_distributions()
    found = {
        extra: {places[module][0].lower().replace("_", "-") for module in modules}
        for extra, modules in EXTRAS.items()
    }
    assert found == wanted


@pytest.mark.slow
@pytest.mark.parametrize(
    ("extra", "command", "toml"),
    [
        ("evm", "devnet evm", ""),
        ("cosmos", "devnet cosmos", ""),
        ("rollup", "devnet jam", ""),
        ("rollup", "up --rollup ledger", ""),
        ("evm", "key list", ""),
        ("evm", "up", EVM_TOML),
        ("cosmos", "up", COSMOS_TOML),
        ("rollup", "up", ROLLUP_TOML),
        ("postgres", "up --db postgresql:///laneway", ""),
        ("redis", "up --db redis://127.0.0.1:1", ""),
    ],
)
def test_a_missing_package_is_named_with_the_extra_that_was_asked_for(
    extra: str, command: str, toml: str, tmp_path: Path
) -> None:
    (tmp_path / "laneway.toml").write_text(toml)
    absent = sorted({module for modules in EXTRAS.values() for module in modules})
    told = subprocess.run(
        [sys.executable, "-c", BLOCKED, ",".join(absent), *command.split()],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert told.returncode != 0
    assert f"pip install 'laneway[{extra}]'" in told.stderr, told.stderr
    assert len(told.stderr.splitlines()) == 1


@pytest.mark.slow
def test_the_doctor_names_each_extra_that_is_missing_beside_all_that_it_found(
    tmp_path: Path,
) -> None:
    rest = '[host]\nkind="rest"\nurl="http://127.0.0.1:1"\n'
    (tmp_path / "laneway.toml").write_text(rest + EVM_TOML + COSMOS_TOML + ROLLUP_TOML)
    absent = sorted({module for modules in EXTRAS.values() for module in modules})
    told = subprocess.run(
        [sys.executable, "-c", BLOCKED, ",".join(absent), "doctor"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (told.returncode, "pip install" in told.stderr) == (1, False)
    for extra in ("evm", "cosmos", "rollup"):
        assert told.stdout.count(f"pip install 'laneway[{extra}]'") == 1, told.stdout
        assert f"BAD  {extra}: it is configured, and the package" in told.stdout
    assert "BAD  contract node: " in told.stdout
    assert "python: " in told.stdout


def test_a_module_of_another_extra_is_named_with_that_one() -> None:
    own = missing(ModuleNotFoundError("No module named 'apsw'", name="apsw"))
    assert str(own) == "the package apsw is not installed here; run: pip install laneway"
    inner = missing(ModuleNotFoundError(name="redis.asyncio"), "evm")
    assert (inner.module, inner.extra) == ("redis", "redis")
