"""The walks of ARCHITECTURE.md lead through files that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text()
WALKS = TEXT.partition("## Walks")[2].partition("\n## ")[0].split("### ")[1:]


def hops(walk: str) -> list[str]:
    return re.findall(r"`([\w/]+\.py)`", walk)


def test_every_hop_of_a_walk_is_a_file() -> None:
    assert len(WALKS) == 4
    for walk in WALKS:
        assert len(hops(walk)) >= 20
        for hop in hops(walk):
            assert (ROOT / "src/laneway" / hop).is_file(), hop


def test_no_walk_comes_twice_through_a_file() -> None:
    for walk in WALKS:
        found = hops(walk)
        assert sorted(found) == sorted(set(found))


def test_every_room_of_the_house_is_in_the_table() -> None:
    named = set(re.findall(r"^\| `(\w+)/` \|", TEXT, flags=re.M))
    rooms = {path.parent.name for path in (ROOT / "src/laneway").glob("*/__init__.py")}
    assert named == rooms
