from msgspec.structs import replace

from laneway.devnets.jam.model.parameters import parameters
from laneway.jam.spec import FULL, TINY


def test_the_parameters_are_those_of_the_chain() -> None:
    tiny, full = parameters(TINY), parameters(FULL)
    assert len(tiny) == len(full) == 33
    assert (tiny["val_count"], full["val_count"]) == (6, 1_023)
    assert (tiny["core_count"], full["core_count"]) == (2, 341)
    assert (tiny["block_gas_limit"], full["block_gas_limit"]) == (20_000_000, 3_500_000_000)
    assert (tiny["segment_piece_count"], full["segment_piece_count"]) == (1_026, 6)
    assert (tiny["epoch_tail_start"], full["epoch_tail_start"]) == (10, 500)
    assert tiny["rotation_period"] == TINY.rotation_slots
    assert tiny["max_lookup_anchor_age"] == TINY.lookup_anchor_slots_max
    assert tiny["recent_block_count"] == tiny["max_dependencies"] == 8


def test_a_chain_of_other_sizes_has_parameters_too() -> None:
    assert parameters(replace(TINY, name="small", core_count=1))["core_count"] == 1
