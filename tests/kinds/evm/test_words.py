"""Laws of what people are shown: words where the ABI has them, and what there is without."""

import sys

import pytest

from laneway.core.facts import LogSeen, LogsSeen, RevertSeen
from laneway.evm.abi.calls import encoded_call
from laneway.evm.abi.signatures import read_signature
from laneway.kinds.evm.explained import Unexplained
from laneway.kinds.evm.words import call_in_words, has_events, in_words_of
from laneway.ports import EvmRequest, EvmWords
from laneway.wire.evm import EvmArgument, EvmInWords, EvmLogShown, EvmRevertShown

TO, ADDRESS = b"\x11" * 20, "0x" + "11" * 20
ABI = [
    "function transfer(address to, uint256 amount)",
    "error Poor(uint256 by)",
    "event Sent(address indexed to, string indexed memo)",
]
CALL = encoded_call("transfer", [TO, 5], ABI)
REQUEST = EvmRequest(TO, input=CALL.data, words=EvmWords(CALL.kept))
SHOWN = EvmInWords(
    signature="transfer(address,uint256)",
    args=[
        EvmArgument(name="to", type="address", value=ADDRESS),
        EvmArgument(name="amount", type="uint256", value="5"),
    ],
)


def plain(request: EvmRequest = REQUEST) -> EvmRequest:
    return EvmRequest(request.to, input=request.input)


def test_a_call_is_shown_by_what_is_kept_of_its_abi() -> None:
    assert call_in_words(REQUEST) == SHOWN
    assert call_in_words(plain()) is None
    other = EvmRequest(TO, input=b"\x00" * 4, words=REQUEST.words)
    assert call_in_words(other) is None


def test_a_deployment_is_shown_where_its_arguments_are_known_to_begin() -> None:
    kept = ("constructor(bool yes)",)
    made = EvmRequest(None, input=b"\x60" + (1).to_bytes(32), words=EvmWords(kept, 1))
    shown = call_in_words(made)
    assert shown is not None
    assert (shown.signature, shown.args[0].value) == ("constructor(bool)", True)
    assert call_in_words(EvmRequest(None, input=made.input, words=EvmWords(kept))) is None


def test_what_another_release_wrote_is_not_shown() -> None:
    queer = EvmRequest(TO, input=CALL.data, words=EvmWords(("trait T<U>",)))
    assert call_in_words(queer) is None
    assert not has_events(queer)


def test_only_known_events_are_worth_a_nodes_time() -> None:
    assert has_events(REQUEST)
    assert not has_events(plain())
    assert not has_events(EvmRequest(TO, words=EvmWords(CALL.kept[:2])))


def test_logs_are_shown_with_their_events() -> None:
    topic = bytes.fromhex("c9edc59f1ab3f0c2f1cba6a6e05a5ca2f6fc2b2e3c4d8d2c8ddcf6c66b8ba5d8")
    known = LogSeen(TO, (sent_topic(), TO.rjust(32, b"\0"), b"\x07" * 32), b"")
    strange = LogSeen(TO, (topic,), b"\x01")
    found = in_words_of(LogsSeen((known, strange), 2), REQUEST)
    assert found["unexplained"] == "2 more logs are not shown"
    first, second = found["logs"]
    assert first.event == EvmInWords(
        signature="Sent(address,string)",
        args=[
            EvmArgument(name="to", type="address", value=ADDRESS),
            EvmArgument(name="memo", type="string", value="0x" + "07" * 32, hashed=True),
        ],
    )
    assert second == EvmLogShown(address=ADDRESS, topics=[f"0x{topic.hex()}"], data="0x01")
    assert in_words_of(LogsSeen(()), REQUEST) == {"logs": [], "unexplained": ""}


def sent_topic() -> bytes:
    return read_signature(ABI[2]).topic()


def poor() -> bytes:
    return encoded_call("Poor(uint256)", [5]).data


def test_a_revert_has_a_reason_in_words() -> None:
    found = in_words_of(RevertSeen(poor(), "execution reverted", "a trace by a"), REQUEST)
    error = EvmInWords(
        signature="Poor(uint256)", args=[EvmArgument(name="by", type="uint256", value="5")]
    )
    assert found == {
        "revert": EvmRevertShown(
            reason="Poor(by=5)", data=f"0x{poor().hex()}", error=error, source="a trace by a"
        )
    }
    halted = in_words_of(RevertSeen(b"", "out of gas", "x"), plain())["revert"]
    assert (halted.reason, halted.data, halted.error) == ("out of gas", "0x", None)


def test_why_nobody_knows_is_said() -> None:
    assert in_words_of(Unexplained("nobody is there", 0.0), REQUEST) == {
        "unexplained": "nobody is there"
    }


def test_without_the_extra_everything_is_shown_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    output = poor()
    topics = (sent_topic(), TO.rjust(32, b"\0"), b"\x07" * 32)
    monkeypatch.setitem(sys.modules, "eth_abi", None)
    assert call_in_words(REQUEST) is None
    reverted = in_words_of(RevertSeen(output, "execution reverted", "x"), REQUEST)["revert"]
    assert (reverted.reason, reverted.error) == (f"it returned 0x{output.hex()}", None)
    logged = in_words_of(LogsSeen((LogSeen(TO, topics, b""),)), REQUEST)["logs"]
    assert logged[0].event is None
