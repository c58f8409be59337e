"""The messages between a worker and its parent: one JSON object a line, with `op` as their tag one
way and by `event` the other."""

from typing import Literal

from msgspec import Struct, json

from laneway.lanes.contract.show import QueueMetrics


class Submit(Struct, frozen=True, tag_field="op", tag="submit", forbid_unknown_fields=True):
    key: str
    contract: str
    data: str
    executor: str = ""
    quorum_type: int = 2
    comment: str = ""
    priority: int = 0
    valid_until_ms: int | None = None


class Send(Struct, frozen=True, tag_field="op", tag="send", forbid_unknown_fields=True):
    """A transaction of an EVM account: amounts are decimal texts, bytes are hex."""

    key: str
    lane: str
    to: str
    value: str = "0"
    data: str = "0x"
    gas: int | None = None


class ShowLine(Struct, frozen=True, tag_field="op", tag="show", forbid_unknown_fields=True):
    id: str


class Measure(Struct, frozen=True, tag_field="op", tag="metrics", forbid_unknown_fields=True):
    pass


class Stop(Struct, frozen=True, tag_field="op", tag="stop", forbid_unknown_fields=True):
    drain: Literal["queue", "running", "now"] = "now"


Request = Submit | Send | ShowLine | Measure | Stop


class ReadyLine(Struct, frozen=True, tag_field="event", tag="ready"):
    pid: int
    path: str
    sqlite: str


class TakenLine(Struct, frozen=True, tag_field="event", tag="accepted"):
    """The submission is durable; from now on it survives any crash."""

    key: str
    id: str
    replayed: bool


class RefusedLine(Struct, frozen=True, tag_field="event", tag="refused"):
    """The line changed nothing. `retry` says whether sending it again can help."""

    error: str
    message: str
    retry: str
    key: str | None = None


class EndedLine(Struct, frozen=True, tag_field="event", tag="settled"):
    """A final answer. It may be sent twice, after a replay or a restart."""

    key: str | None
    id: str
    status: str
    block: int | None
    reason: str


class ShownLine(Struct, frozen=True, tag_field="event", tag="shown"):
    id: str
    status: str
    why: str
    block: int | None
    key: str | None


class Measured(Struct, frozen=True, tag_field="event", tag="metrics"):
    metrics: list[QueueMetrics]


class StoppedLine(Struct, frozen=True, tag_field="event", tag="stopped"):
    drained: bool


class FailedLine(Struct, frozen=True, tag_field="event", tag="failed"):
    """The worker ends: what it holds can no longer be trusted or reached."""

    error: str
    message: str


Line = (
    ReadyLine
    | TakenLine
    | RefusedLine
    | EndedLine
    | ShownLine
    | Measured
    | StoppedLine
    | FailedLine
)

decode_request = json.Decoder(Request).decode
decode_line = json.Decoder(Line).decode


def encode(line: Request | Line) -> bytes:
    return json.encode(line) + b"\n"
