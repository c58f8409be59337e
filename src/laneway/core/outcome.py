"""What an answer proves. Doubt is a value: unknown counts as sent."""

from enum import Enum


class Outcome(Enum):
    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Status(Enum):
    """The status of an intent; see ARCHITECTURE §10."""

    QUEUED = "queued"
    SIGNED = "signed"
    SUBMITTED = "submitted"
    INCLUDED = "included"
    CONFIRMED = "confirmed"
    REVERTED = "reverted"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    DEAD = "dead"
    INDETERMINATE = "indeterminate"

    def is_final(self) -> bool:
        return self not in OPEN_WORDS


OPEN_WORDS = (Status.QUEUED, Status.SIGNED, Status.SUBMITTED, Status.INCLUDED)


class AttemptWord(Enum):
    """The status of an attempt. One whose answer is unknown stays `offered`."""

    OFFERED = "offered"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    REPLACED = "replaced"
    STALE = "stale"
    DROPPED = "dropped"
    EVICTED = "evicted"
