"""Laws of what is shown in words: only what the bytes say exactly, by an item that is known."""

from laneway.evm.abi.coding import encode
from laneway.evm.abi.decoded import (
    DecodedItem,
    DecodedValue,
    decoded_call,
    decoded_deployment,
    decoded_log,
)
from laneway.evm.abi.interface import read_abi
from laneway.evm.abi.items import AbiItem

A, B = b"\x11" * 20, b"\x22" * 20
ITEMS = read_abi(
    [
        "constructor(string name, bool)",
        "transfer(address to, uint256 amount)",
        "event Transfer(address indexed from, address indexed to, uint256 value)",
        "event Transfer(address indexed from, address indexed to, uint256 indexed id)",
        "event Named(string indexed name, uint8[] indexed list, bytes4 indexed tag, string text)",
        "event Hidden(bool) anonymous",
    ]
)
CONSTRUCTOR, TRANSFER, SENT, _, NAMED, HIDDEN = ITEMS


def word(content: bytes) -> bytes:
    return content.rjust(32, b"\0")


def line(found: DecodedItem | None) -> str:
    assert found is not None
    return found.line()


def encoded(item: AbiItem, *values: object) -> bytes:
    return encode(item.inputs, values)


def test_a_call_is_shown_by_its_selector() -> None:
    calldata = TRANSFER.selector() + encoded(TRANSFER, A, 5)
    found = decoded_call(ITEMS, calldata)
    assert found == DecodedItem(
        "transfer(address,uint256)",
        (
            DecodedValue("to", "address", "0x" + "11" * 20),
            DecodedValue("amount", "uint256", "5"),
        ),
    )
    assert found.line() == f"transfer(to=0x{'11' * 20}, amount=5)"


def test_what_no_item_has_is_not_shown() -> None:
    calldata = TRANSFER.selector() + encoded(TRANSFER, A, 5)
    for other in (b"", b"\xa9", b"\x00" * 68, calldata + b"\x00", calldata[:-1]):
        assert decoded_call(ITEMS, other) is None
    assert decoded_call((), calldata) is None


def test_a_constructors_arguments_follow_the_code() -> None:
    code = b"\x60\x80" * 7
    initcode = code + encoded(CONSTRUCTOR, "Coin", True)
    found = decoded_deployment(ITEMS, initcode, len(code))
    assert line(found) == "constructor(name=Coin, true)"
    assert decoded_deployment(ITEMS, initcode, len(code) + 1) is None
    assert decoded_deployment(ITEMS[1:], initcode, len(code)) is None


def test_two_events_that_differ_by_what_is_indexed_are_told_apart() -> None:
    topics = [SENT.topic(), word(A), word(B)]
    seven = word(b"\x07")
    assert line(decoded_log(ITEMS, topics, seven)).endswith("value=7)")
    assert line(decoded_log(ITEMS, [*topics, seven], b"")).endswith("id=7)")
    assert decoded_log(ITEMS, [*topics, seven], seven) is None


def test_of_an_indexed_text_only_the_hash_is_known() -> None:
    topics = [NAMED.topic(), b"\x01" * 32, b"\x02" * 32, b"abcd".ljust(32, b"\0")]
    found = decoded_log(ITEMS, topics, encode(NAMED.inputs[3:], ["hello"]))
    assert found is not None
    assert [one.hashed for one in found.values] == [True, True, False, False]
    assert [one.value for one in found.values] == [
        "0x" + "01" * 32,
        "0x" + "02" * 32,
        "0x61626364",
        "hello",
    ]


def test_a_topic_that_is_no_such_value_is_not_shown() -> None:
    assert decoded_log(ITEMS, [SENT.topic(), b"\xff" * 32, word(B)], word(b"")) is None


def test_an_anonymous_event_and_a_log_without_topics_are_not_shown() -> None:
    assert decoded_log(ITEMS, [HIDDEN.topic()], word(b"\x01")) is None
    assert decoded_log(ITEMS, [], word(b"\x01")) is None


def test_a_line_is_short() -> None:
    values = (
        DecodedValue("a", "bool[]", [True, False]),
        DecodedValue("", "string", "x" * 100),
        DecodedValue("b", "uint8[][]", [["1"], []]),
    )
    assert DecodedItem("f(bool[],string)", values).line() == (
        f"f(a=[true, false], {'x' * 80}…, b=[[1], []])"
    )
