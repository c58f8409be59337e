"""One line of a file that `laneway send` is given."""

from msgspec import Struct

from laneway.wire.values import Moment


class Line(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One line of a file. The lane may stand on the command line instead."""

    data: str
    lane: str | None = None
    executor: str = ""
    quorum_type: int = 2
    comment: str = ""
    key: str | None = None
    priority: int = 0
    valid_until: Moment | None = None
