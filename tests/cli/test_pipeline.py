"""Laws of a file that is sent line by line."""

import threading
from typing import Any

import pytest

from laneway.cli import send
from laneway.cli.pipeline import post_all
from laneway.cli.send import FileLine, read_lines
from laneway.kinds.command_line import CommandLine


class Meeting:
    """A client whose first call of each lane waits for a second one of that lane to come."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.met: list[str] = []
        self._first = {lane: threading.Barrier(2) for lane in ("contract:a", "contract:b")}

    def send(self, lane: str, data: str, **_options: Any) -> str:
        barrier = self._first[lane]
        if not barrier.broken:
            try:
                barrier.wait(0.05)
                self.met.append(lane)
            except threading.BrokenBarrierError:
                pass
        self.sent.append((lane, data))
        return data


def test_a_lanes_next_line_leaves_when_the_one_before_it_was_answered() -> None:
    client: Any = Meeting()
    lines = [FileLine(lane=f"contract:{'ab'[n % 2]}", data=str(n)) for n in range(20)]
    answers: list[Any] = list(post_all(client, lines))
    assert answers == [str(n) for n in range(20)]
    assert client.met == []
    for lane in ("contract:a", "contract:b"):
        own = [int(data) for name, data in client.sent if name == lane]
        assert own == sorted(own)


def test_the_type_of_a_line_is_made_once_for_each_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may have a million lines, and making a type takes as long as reading a hundred."""
    made: list[CommandLine] = []
    line_type = send.line_type

    def counted(line: CommandLine) -> type[FileLine]:
        made.append(line)
        return line_type(line)

    monkeypatch.setattr(send, "line_type", counted)
    lines = [b'{"lane": "contract:a", "data": "%d"}' % n for n in range(200)]
    lines += [b'{"lane": "evm:dev:hot", "to": "0x%040d"}' % n for n in range(200)]
    lines += [b'{"lane": "nobody%d:x", "payload": {}}' % n for n in range(200)]
    read = read_lines(b"\n".join(lines), None, "k")
    assert [line.key for line in read[::200]] == ["k:1", "k:201", "k:401"]
    assert len(made) == 3
