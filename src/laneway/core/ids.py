"""Names of lanes, intents and owners. An id never carries meaning about order or time."""

from typing import NewType

from laneway.core.errors import BadRequest
from laneway.core.limits import KEY_CHARS_MAX, LANE_ID_CHARS_MAX

LaneId = NewType("LaneId", str)
"""`KIND:KEY`, for example `contract:TOKEN` or `evm:CHAIN:ADDRESS`."""

IntentId = NewType("IntentId", str)
"""`tx_` and 32 hex digits of a version 7 UUID (RFC 9562): sortable by birth, no colon."""

Owner = NewType("Owner", str)
"""One start of one process. Fresh at every start, so a reused host name is never mistaken."""

ENTROPY_BYTES = 10
MS_MAX = 0xFFFF_FFFF_FFFF
"""Of an id's time: 48 bits."""


def lane_id(kind: str, key: str) -> LaneId:
    """Join a kind and a key to a lane id, refusing what could not be printed or typed."""
    lane = f"{kind}:{key}"
    if not key or len(lane) > LANE_ID_CHARS_MAX:
        raise BadRequest(
            "lane", f"a lane key has 1 to {LANE_ID_CHARS_MAX - len(kind) - 1} characters"
        )
    if not key.isascii() or not key.isprintable() or " " in key or "/" in key:
        raise BadRequest("lane", "a lane key is printable ASCII without spaces and slashes")
    return LaneId(lane)


def lane_kind(lane: LaneId) -> str:
    return lane.partition(":")[0]


def lane_key(lane: LaneId) -> str:
    return lane.partition(":")[2]


def idempotency_key(key: str) -> str:
    """Check a caller's idempotency key; the same bytes come back."""
    if not key or len(key) > KEY_CHARS_MAX or not key.isprintable():
        raise BadRequest("key", f"an idempotency key has 1 to {KEY_CHARS_MAX} printable characters")
    return key


def intent_id(born_ms: int, entropy: bytes) -> IntentId:
    """Build an id from a time and ten random bytes; both come from the caller's ports."""
    assert len(entropy) == ENTROPY_BYTES
    digits = entropy.hex()
    # The version (7) and the variant (2) stand where RFC 9562 §5.7 puts them.
    variant = "89ab"[entropy[2] >> 4 & 3]
    return IntentId(f"tx_{born_ms & MS_MAX:012x}7{digits[1:4]}{variant}{digits[5:]}")


def is_intent_id(text: object) -> bool:
    if not isinstance(text, str):
        return False
    head, _, digits = text.partition("_")
    return head == "tx" and len(digits) == 32 and all(c in "0123456789abcdef" for c in digits)
