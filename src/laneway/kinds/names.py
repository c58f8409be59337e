"""Transactions by the names that chains have for them: a hash, or a lane and a number."""

import re
from collections.abc import Mapping

from laneway.core.errors import IntentNotFound
from laneway.core.ids import IntentId, LaneId, lane_kind
from laneway.kinds.served import Served
from laneway.ports import Store

HASH_INDEX = "hash"
HASH = re.compile(r"(?:0x)?([0-9a-fA-F]{64})")


def is_name(text: str) -> bool:
    """Whether it is no id: `0x` and a hash, as EVM chains write one, 64 digits, as Cosmos chains
    do, or `LANE#NUMBER`."""
    return text.startswith("0x") or "#" in text or HASH.fullmatch(text) is not None


async def find(store: Store, text: str, kinds: Mapping[str, Served]) -> IntentId:
    """The intent that is meant."""
    digits = HASH.fullmatch(text)
    if digits is not None:
        index = await store.find(HASH_INDEX, digits[1].lower())
        if index is None:
            raise IntentNotFound(text)
        return index.intent
    lane, _, number = text.rpartition("#")
    kind = kinds.get(lane_kind(LaneId(lane)))
    if kind is None:
        raise IntentNotFound(text)
    return await kind.at_number(lane, number)
