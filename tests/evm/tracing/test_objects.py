"""Call trees and accounts with the names that go-ethereum gives their fields."""

from laneway.evm.abi.reverts import ERROR_STRING
from laneway.evm.opcodes.logs import EvmLog
from laneway.evm.tracing.call_tree import REVERTED, CallNode
from laneway.evm.tracing.objects import call_object, difference_object, prestate_object
from laneway.evm.tracing.prestate import StateDifference, TracedAccount

A, B = b"\xaa" * 20, b"\xbb" * 20
AA, BB = "0x" + "aa" * 20, "0x" + "bb" * 20


def test_a_call_has_what_it_has() -> None:
    log = EvmLog(B, (bytes(32),), b"\1")
    inner = CallNode("STATICCALL", B, A, b"", 50, None, 7, b"\2")
    root = CallNode("CALL", A, B, b"\3", 100, 5, 60, calls=[inner], logs=[(1, log)])
    assert call_object(root) == {
        "type": "CALL",
        "from": AA,
        "to": BB,
        "value": "0x5",
        "gas": "0x64",
        "gasUsed": "0x3c",
        "input": "0x03",
        "calls": [
            {
                "type": "STATICCALL",
                "from": BB,
                "to": AA,
                "gas": "0x32",
                "gasUsed": "0x7",
                "input": "0x",
                "output": "0x02",
            }
        ],
        "logs": [{"address": BB, "topics": ["0x" + "00" * 32], "data": "0x01", "position": "0x1"}],
    }


def test_a_call_that_failed_has_its_error_and_its_reason() -> None:
    words = (32).to_bytes(32, "big") + (2).to_bytes(32, "big")
    output = ERROR_STRING + words + b"no"
    made = call_object(CallNode("CREATE", A, None, b"", 9, 0, 9, output, REVERTED))
    assert "to" not in made
    assert (made["error"], made["revertReason"]) == ("execution reverted", "no")


def test_calls_nest_as_deep_as_the_evm_does() -> None:
    root = node = CallNode("CALL", A, B, b"", 0, 0)
    for _ in range(1_100):
        node.calls.append(CallNode("CALL", A, B, b"", 0, 0))
        node = node.calls[0]
    made, depth = call_object(root), 0
    while "calls" in made:
        (made,), depth = made["calls"], depth + 1
    assert depth == 1_100


def test_accounts_leave_out_what_they_do_not_have() -> None:
    full = TracedAccount(balance_wei=1, nonce=2, code=b"\3", storage={4: 5})
    bare = TracedAccount(balance_wei=0, nonce=0, code=b"")
    word = {number: f"0x{number:064x}" for number in (4, 5)}
    wanted = {"balance": "0x1", "nonce": 2, "code": "0x03", "storage": {word[4]: word[5]}}
    assert prestate_object({A: full, B: bare}) == {AA: wanted, BB: {"balance": "0x0"}}
    made = difference_object(StateDifference({A: bare}, {A: TracedAccount(nonce=1)}))
    assert made == {"pre": {AA: {"balance": "0x0"}}, "post": {AA: {"nonce": 1}}}
