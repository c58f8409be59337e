"""Methods that mine, and that move the time of blocks."""

from collections.abc import Mapping
from typing import Final

from laneway.devnets.evm.limits import MINE_COUNT_MAX, TIME_MS_FROM_S, TIMESTAMP_S_MAX
from laneway.devnets.evm.node.parameters import anything, number_of, wrong
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.wire.rpc_server.methods import Method, RpcRefused


def mine_one(caller: EvmCaller, options: object = None) -> str:
    """Mine now, or at a time; with a map of `timestamp` and `blocks` several."""
    count = 1
    if isinstance(options, dict):
        if options.get("timestamp") is None:
            raise wrong("data did not match any variant of untagged enum MineOptions")
        count = bounded(number_of(options.get("blocks", 1)), MINE_COUNT_MAX)
        options = options["timestamp"]
    if options is not None:
        set_next(caller, time_of(options))
    caller.host.mine(count)
    return "0x0"


def mine_many(caller: EvmCaller, count: int = 1, interval_s: int = 0) -> None:
    """Mine several blocks with so much time before each."""
    caller.host.mine(bounded(count, MINE_COUNT_MAX), interval_s=interval_s)


def increase_time(caller: EvmCaller, seconds: int) -> int:
    return caller.host.clock.increase(seconds)


def set_next(caller: EvmCaller, at_s: int) -> None:
    if not caller.host.clock.set_next(at_s):
        raise wrong(f"Timestamp error: {at_s} is lower than previous block's timestamp")


def set_time(caller: EvmCaller, at: int) -> int:
    """Let it be that time now; how far that is ahead, in seconds."""
    at_s = at // 1000 if at >= TIME_MS_FROM_S else at
    return caller.host.set_time(at_s * 1000)


def set_block_interval(caller: EvmCaller, seconds: int) -> None:
    caller.host.clock.interval_s = seconds


def remove_block_interval(caller: EvmCaller) -> bool:
    """Whether there was one."""
    had, caller.host.clock.interval_s = caller.host.clock.interval_s is not None, None
    return had


def bounded(count: int, most: int) -> int:
    if count > most:
        raise wrong(f"at most {most}")
    return count


def sequence_number_of(value: object) -> int:
    try:
        return number_of(value)
    except RpcRefused as error:
        raise wrong("data did not match any variant of untagged enum NumericSeq") from error


def time_of(value: object) -> int:
    return bounded(sequence_number_of(value), TIMESTAMP_S_MAX)


def moment_of(value: object) -> int:
    """In seconds or milliseconds."""
    return bounded(sequence_number_of(value), TIMESTAMP_S_MAX * 1000)


def whole_of(value: object) -> int:
    """A plain number, where anvil takes no other."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise wrong("invalid type, expected u64")
    return value


def seconds_of(value: object) -> int:
    return bounded(whole_of(value), TIMESTAMP_S_MAX)


TIMES: Final[Mapping[str, Method]] = {
    "evm_mine": Method((anything,), mine_one, optional=1),
    **dict.fromkeys(
        ("anvil_mine", "hardhat_mine"), Method((number_of, time_of), mine_many, optional=2)
    ),
    **dict.fromkeys(("evm_increaseTime", "anvil_increaseTime"), Method((time_of,), increase_time)),
    **dict.fromkeys(
        ("evm_setNextBlockTimestamp", "anvil_setNextBlockTimestamp"), Method((time_of,), set_next)
    ),
    **dict.fromkeys(("evm_setTime", "anvil_setTime"), Method((moment_of,), set_time)),
    "anvil_setBlockTimestampInterval": Method((seconds_of,), set_block_interval),
    "anvil_removeBlockTimestampInterval": Method((), remove_block_interval),
}
