"""The switches by which a devnet is made to misbehave, over the socket: `dev_fault` and its kin.

Each has its name in `Faults` and takes a value as JSON has it: lists for sets, and for what differs
from node to node pairs of a node and its own value.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from laneway.devnets.jam.limits import FAULT_SLOTS_MAX, FAULT_VALUES_COUNT_MAX, NODES_COUNT_MAX
from laneway.devnets.jam.node.caller import JamCaller
from laneway.devnets.jam.node.parameters import any_of, below, flag, hash_, index, number, wrong
from laneway.wire.rpc_server.methods import Kind, Method

slots: Final = below(FAULT_SLOTS_MAX)


def offset(value: object) -> int:
    """Slots that a clock is ahead, or late if negative."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < FAULT_SLOTS_MAX:
        return value
    raise wrong("not a number in range")


def set_of(kind: Kind) -> Kind:
    many = any_of(kind, FAULT_VALUES_COUNT_MAX)
    return lambda value: set(many(value))


def by_node(kind: Kind) -> Kind:
    def pair(value: object) -> tuple[int, Any]:
        if not isinstance(value, list) or len(value) != 2:
            raise wrong("not a pair of a node and its value")
        return index(value[0]), kind(value[1])

    pairs = any_of(pair, NODES_COUNT_MAX)
    return lambda value: dict(pairs(value))


SWITCHES: Final[Mapping[str, Kind]] = {
    "withheld_cores": set_of(index),
    "silent_guarantors": set_of(index),
    "mismatched_cores": set_of(index),
    "late_slots": slots,
    "wrong_refiners": set_of(index),
    "pairs_versions": flag,
    "censored": set_of(hash_),
    "drops_at_rotation": flag,
    "keeps_reported": flag,
    "unavailable_cores": set_of(index),
    "silent_assurers": set_of(index),
    "skipped_slots": set_of(number),
    "silent_authors": set_of(index),
    "reorg_depth": slots,
    "is_finality_stalled": flag,
    "silent_voters": set_of(index),
    "lag_slots": by_node(slots),
    "skew_slots": by_node(offset),
    "hidden_blocks": by_node(set_of(hash_)),
    "hidden_reports": by_node(set_of(hash_)),
}


def switch(value: object) -> str:
    if not isinstance(value, str) or value not in SWITCHES:
        raise wrong("no such switch")
    return value


def anything(value: object) -> object:
    """Its kind is known by what stands before it."""
    return value


def fault(caller: JamCaller, name: str, value: object) -> None:
    setattr(caller.model.faults, name, SWITCHES[name](value))
    caller.host.settle()


def faults(caller: JamCaller) -> dict[str, int]:
    """How often each switch changed what happened."""
    return {fault.value: times for fault, times in caller.model.faults.bites.items()}


def partition(
    caller: JamCaller,
    groups: Sequence[Sequence[int]],
    nodes: Mapping[int, int] | None = None,
) -> None:
    """Cut the network into groups of validators; nodes that are not named are with the first."""
    setup = caller.model.setup
    count = max(setup.spec.validator_count, setup.validator_pool_count)
    if any(validator >= count for group in groups for validator in group):
        raise wrong("no such validator")
    if any(group >= len(groups) for group in (nodes or {}).values()):
        raise wrong("no such group")
    caller.model.partition(groups, nodes)
    caller.host.settle()


def heal(caller: JamCaller) -> None:
    caller.model.heal()
    caller.host.settle()


places: Final = any_of(index, FAULT_VALUES_COUNT_MAX)

FAULT_METHODS: Final[Mapping[str, Method]] = {
    "dev_fault": Method((switch, anything), fault),
    "dev_faults": Method((), faults),
    "dev_partition": Method(
        (any_of(places, FAULT_VALUES_COUNT_MAX), by_node(index)), partition, optional=1
    ),
    "dev_heal": Method((), heal),
}
