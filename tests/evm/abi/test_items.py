"""Laws of an ABI's items: what is hashed, and what is written down to be read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laneway.evm.abi.items import LOCATIONS, AbiItem, parameter_text
from laneway.evm.abi.signatures import read_signature
from laneway.evm.abi.types import AbiParameter, AbiType

ADDRESS, UINT = AbiType("address"), AbiType("uint256")
TRANSFER = AbiItem("function", "transfer", (AbiParameter(ADDRESS, "to"), AbiParameter(UINT)))
SENT = AbiItem(
    "event",
    "Transfer",
    (
        AbiParameter(ADDRESS, "from", True),
        AbiParameter(ADDRESS, "to", True),
        AbiParameter(UINT, "value"),
    ),
)

names = st.from_regex(r"[A-Za-z_$][A-Za-z0-9_$]{0,8}", fullmatch=True)
sizes = st.lists(st.sampled_from([None, 1, 3]), max_size=2).map(tuple)
plain = st.builds(
    AbiType,
    st.sampled_from(
        ["uint256", "int8", "address", "bool", "bytes", "bytes4", "string", "function"]
    ),
    st.just(()),
    sizes,
)


def tuples(inner: st.SearchStrategy[AbiType]) -> st.SearchStrategy[AbiType]:
    parts = st.lists(st.builds(AbiParameter, inner, names), min_size=1, max_size=3).map(tuple)
    return st.builds(AbiType, st.just("tuple"), parts, sizes)


types = st.recursive(plain, tuples, max_leaves=4)
parameters = st.lists(st.builds(AbiParameter, types, names | st.just("")), max_size=4).map(tuple)
indexed = st.lists(st.builds(AbiParameter, types, names, st.booleans()), max_size=4).map(tuple)
items = st.one_of(
    st.builds(AbiItem, st.sampled_from(["function", "error"]), names, parameters),
    st.builds(AbiItem, st.just("event"), names, indexed, st.booleans()),
    st.builds(AbiItem, st.just("constructor"), st.just(""), parameters),
)


def test_selectors_and_topics_are_those_that_everybody_knows() -> None:
    assert TRANSFER.signature() == "transfer(address,uint256)"
    assert TRANSFER.selector().hex() == "a9059cbb"
    assert SENT.topic().hex() == "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"


def test_an_item_is_written_with_its_names() -> None:
    assert TRANSFER.text() == "function transfer(address to, uint256)"
    assert SENT.text() == (
        "event Transfer(address indexed from, address indexed to, uint256 value)"
    )
    pair = AbiType("tuple", TRANSFER.inputs, (None,))
    assert parameter_text(AbiParameter(pair, "all")) == "(address to, uint256)[] all"
    assert AbiItem("event", "E", (), True).text() == "event E() anonymous"
    assert AbiItem("constructor", "", (AbiParameter(UINT),)).text() == "constructor(uint256)"
    assert AbiItem("constructor").signature() == "constructor()"


def test_a_name_that_would_be_read_as_another_word_is_left_out() -> None:
    for name in LOCATIONS:
        assert parameter_text(AbiParameter(UINT, name)) == "uint256"
    assert parameter_text(AbiParameter(UINT, "indexed", True)) == "uint256 indexed"


@pytest.mark.slow
@given(items)
def test_what_is_written_down_is_read_again(item: AbiItem) -> None:
    read = read_signature(item.text())
    assert (read.kind, read.anonymous) == (item.kind, item.anonymous)
    assert (read.signature(), read.text()) == (item.signature(), item.text())
    assert [one.indexed for one in read.inputs] == [one.indexed for one in item.inputs]
