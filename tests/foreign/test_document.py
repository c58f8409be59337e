"""docs/write-a-kind.md shows the kind that the tests of this folder run, whole and unchanged."""

import re
import tomllib
from pathlib import Path

from tests.foreign.distribution import ENTRY_POINTS, HERE, ROOT, SOURCES, THERE

PAGE = (ROOT / "docs/write-a-kind.md").read_text()
DRAWN = re.compile(r"<!-- drawn: (\w+) -->\n\n```python\n(.*?)```\n\n<!-- /drawn -->", re.DOTALL)


def test_the_document_has_every_file_of_the_example() -> None:
    shown = dict(DRAWN.findall(PAGE))
    written = {path.stem: path.read_text().replace(HERE, THERE) for path in SOURCES}
    del written["__init__"]
    assert shown == written


def test_the_document_declares_the_entry_point_that_the_tests_install() -> None:
    (toml,) = re.findall(r"```toml\n# pyproject\.toml\n(.*?)```", PAGE, re.DOTALL)
    group = tomllib.loads(toml)["project"]["entry-points"]["laneway.kinds"]
    lines = [f"{name} = {place}" for name, place in group.items()]
    assert "[laneway.kinds]\n" + "\n".join(lines) + "\n" == ENTRY_POINTS


def test_readers_find_the_document() -> None:
    for page in ("README.md", "ARCHITECTURE.md"):
        assert "docs/write-a-kind.md" in Path(ROOT / page).read_text()
