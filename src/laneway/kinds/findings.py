"""What `laneway doctor` found of one thing that it looked at."""

from msgspec import Struct


class Finding(Struct, frozen=True):
    """One thing that was looked at."""

    name: str
    ok: bool
    what: str
    advice: str = ""
