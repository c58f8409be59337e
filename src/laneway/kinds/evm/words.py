"""Calls, logs and reverts of EVM accounts in words, as far as what is kept of their ABI has them.

Without the extra that decodes (`abi`) everything is shown as it was before there were words.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

from laneway.core.errors import BadRequest
from laneway.core.facts import LogSeen, RevertSeen
from laneway.evm.abi.addresses import checksummed
from laneway.evm.abi.decoded import (
    DecodedItem,
    decoded_call,
    decoded_deployment,
    decoded_log,
)
from laneway.evm.abi.interface import Items, read_abi
from laneway.evm.abi.items import EVENT
from laneway.evm.abi.reverts import RevertReason, revert_reason
from laneway.kinds.evm.explained import Explanation, Unexplained
from laneway.kinds.limits import ABIS_READ_MAX
from laneway.ports import EvmRequest, EvmWords
from laneway.wire.evm import EvmArgument, EvmInWords, EvmLogShown, EvmRevertShown
from laneway.wire.hex import octets

T = TypeVar("T")

read_kept = lru_cache(maxsize=ABIS_READ_MAX)(read_abi)
"""Most requests of an account are of a few contracts."""


def items_of(words: EvmWords | None) -> Items:
    """What is known of the ABI; nothing where an earlier or a later release wrote what this one
    cannot read."""
    with suppress(BadRequest):
        return () if words is None else read_kept(words.items)
    return ()


def has_events(request: EvmRequest) -> bool:
    """Whether logs of its contract could be put into words."""
    return any(item.kind == EVENT for item in items_of(request.words))


def decoding(decode: Callable[[], T]) -> T | None:
    """What is decoded; None without the extra that does it."""
    try:
        return decode()
    except ModuleNotFoundError:
        return None


def call_in_words(request: EvmRequest) -> EvmInWords | None:
    words = request.words
    if words is None:
        return None
    items, content = items_of(words), request.input
    if request.to is not None:
        return in_words(decoding(lambda: decoded_call(items, content)))
    if not words.arguments_at:
        return None
    return in_words(decoding(lambda: decoded_deployment(items, content, words.arguments_at)))


def in_words(found: DecodedItem | None) -> EvmInWords | None:
    if found is None:
        return None
    args = [
        EvmArgument(name=one.name, type=one.type, value=one.value, hashed=one.hashed)
        for one in found.values
    ]
    return EvmInWords(signature=found.signature, args=args)


def in_words_of(said: Explanation, content: EvmRequest) -> dict[str, Any]:
    """The fields of a transaction that the chain's own word fills."""
    if isinstance(said, Unexplained):
        return {"unexplained": said.why}
    items = items_of(content.words)
    if isinstance(said, RevertSeen):
        return {"revert": shown_revert(items, said)}
    more = f"{said.left_out} more logs are not shown" if said.left_out else ""
    return {"logs": [shown_log(items, log) for log in said.logs], "unexplained": more}


def shown_log(items: Items, log: LogSeen) -> EvmLogShown:
    return EvmLogShown(
        address=checksummed(log.address),
        topics=[octets(one) for one in log.topics],
        data=octets(log.data),
        event=in_words(decoding(lambda: decoded_log(items, log.topics, log.data))),
    )


def shown_revert(items: Items, seen: RevertSeen) -> EvmRevertShown:
    """A call that returned nothing has the node's message as its reason."""
    reason = decoding(lambda: revert_reason(seen.output, items))
    if reason is None:
        reason = RevertReason(f"it returned {octets(seen.output)}")
    return EvmRevertShown(
        reason=reason.text or seen.message,
        data=octets(seen.output),
        error=in_words(reason.error),
        source=seen.source,
    )
