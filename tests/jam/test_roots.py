"""Laws of the roots that BEEFY signs: every output of a block is under the belt's one hash."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laneway.jam.errors import InvalidProof
from laneway.jam.hashing import ZERO_HASH, keccak
from laneway.jam.mmr import EMPTY
from laneway.jam.roots import (
    accumulate_root,
    beefy_root,
    belt_with,
    output_path,
    root_from_output_path,
)
from laneway.jam.state import AccumulationOutput


def outputs_of(count: int) -> list[AccumulationOutput]:
    return [AccumulationOutput(place, keccak(bytes([place]))) for place in range(count)]


def leaf(output: AccumulationOutput) -> bytes:
    return output.service_id.to_bytes(4, "little") + output.output


def test_the_accumulate_root_of_none_one_and_two() -> None:
    one, two = outputs_of(2)
    assert accumulate_root([]) == ZERO_HASH
    assert accumulate_root([one]) == keccak(leaf(one))
    assert accumulate_root([one, two]) == keccak(b"node" + leaf(one) + leaf(two))


@settings(max_examples=30)
@given(st.integers(1, 20), st.data())
def test_every_output_is_proven_under_the_accumulate_root(count: int, data: st.DataObject) -> None:
    outputs = outputs_of(count)
    index = data.draw(st.integers(0, count - 1))
    path, root = output_path(outputs, index), accumulate_root(outputs)
    assert root_from_output_path(outputs[index], path, index=index, count=count) == root
    other = AccumulationOutput(99, outputs[index].output)
    assert root_from_output_path(other, path, index=index, count=count) != root
    with pytest.raises(InvalidProof):
        root_from_output_path(outputs[index], (*path, ZERO_HASH), index=index, count=count)


def test_the_belt_takes_one_root_a_block() -> None:
    empty, first = accumulate_root([]), accumulate_root(outputs_of(1))
    belt = belt_with(EMPTY, empty)
    assert belt == (ZERO_HASH,)
    assert beefy_root(belt) == ZERO_HASH
    belt = belt_with(belt_with(belt, first), first)
    inner = keccak(empty + first)
    assert belt == (first, inner)
    assert beefy_root(belt) == keccak(b"peak" + first + inner)
