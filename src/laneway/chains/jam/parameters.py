"""A JAM chain's sizes, as JIP-2 names them."""

from collections.abc import Mapping

from laneway.core.jam import Parameters

PARAMETERS: Mapping[str, tuple[str, int]] = {
    "slot_period_sec": ("slot_ms", 6),
    "recent_block_count": ("recent_block_count", 8),
    "max_lookup_anchor_age": ("lookup_anchor_slots_max", 14_400),
    "epoch_period": ("epoch_slots", 600),
    "rotation_period": ("rotation_slots", 10),
    "availability_timeout": ("availability_timeout_slots", 5),
    "core_count": ("core_count", 341),
    "val_count": ("validator_count", 1_023),
    "max_dependencies": ("dependency_count_max", 8),
    "max_work_items": ("work_item_count_max", 16),
    "max_extrinsics": ("extrinsic_count_max", 128),
    "max_input": ("bundle_bytes_max", 13_791_360),
    "max_refine_gas": ("refine_gas_max", 5_000_000_000),
    "max_accumulate_gas": ("accumulate_gas_max", 10_000_000),
}
"""JIP-2's parameters: our name of each, and its value if a node names none (Gray Paper 0.7.2)."""


def parameters_of(sizes: Mapping[str, int]) -> Parameters:
    found = {field: sizes.get(name, size) for name, (field, size) in PARAMETERS.items()}
    found["slot_ms"] *= 1000  # JIP-2 has seconds.
    return Parameters(**found)
