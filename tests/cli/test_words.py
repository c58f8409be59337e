"""Laws of the commands for calls in words: what is typed is encoded, and what is shown is read."""

import json
import re
from pathlib import Path

import pytest
from tests import evm_token
from tests.anvil import Anvil, address
from tests.cli.stage import Terminal
from tests.cli.test_accounts import HOT, typed, until_attempts
from tests.server.test_accounts import TO
from tests.server.test_words import as_json

from laneway.cli.app import run
from laneway.evm.abi.addresses import checksummed

__all__ = ["typed"]

pytestmark = pytest.mark.slow

OWNER = checksummed(address())


@pytest.fixture
def artifact(tmp_path: Path) -> str:
    file = tmp_path / "Token.json"
    file.write_text(json.dumps({"abi": as_json(), "bytecode": evm_token.CODE}))
    return str(file)


def facts(terminal: Terminal, intent: str) -> dict[str, str]:
    """The lines of `tx show`, by their names."""
    code, out, err = terminal.type("tx", "show", intent)
    assert code == 0, err
    return dict(line.split(None, 1) for line in re.sub(r"(log|attempt) ", r"\1-", out).splitlines())


def test_a_token_is_deployed_called_and_shown(typed: tuple[Terminal, Anvil], artifact: str) -> None:
    terminal, node = typed
    node.say("evm_setIntervalMining", 1)
    wait = ("--wait", "--timeout", "60")
    (made,) = terminal.json("send", HOT, "--deploy", artifact, "Token", "1000 ether", *wait)
    shown = facts(terminal, made["id"])
    assert shown["call"] == f"constructor(name=Token, supply={1_000 * 10**18})"
    token = shown["contract"]
    words = ("send", HOT, "--to", token, "--abi", artifact, "--call", "transfer")
    code, out, err = terminal.type(*words, TO, "1.5 ether", *wait)
    assert (code, err) == (0, "")
    sent = out.split()[0]
    shown = facts(terminal, sent)
    amount = 15 * 10**17
    assert shown["call"] == f"transfer(to={TO}, amount={amount})"
    assert shown["log-0"] == f"Transfer(from={OWNER}, to={TO}, value={amount}) of {token}"
    assert "reverted" not in shown
    code, out, _ = terminal.type(*words, TO, "2000 ether", "--gas", "100000", *wait)
    assert (code, "reverted" in out) == (1, True)
    shown = facts(terminal, out.split()[0])
    reason = f"ERC20InsufficientBalance(sender={OWNER}, balance={1_000 * 10**18 - amount}, "
    assert shown["reverted"].startswith(reason + f"needed={2_000 * 10**18}) (a trace by ")
    (again,) = terminal.json("tx", "show", sent)
    assert again["evm"]["logs"][0]["event"]["args"][2]["value"] == str(amount)


def test_lines_of_a_file_are_calls_in_words(typed: tuple[Terminal, Anvil], tmp_path: Path) -> None:
    terminal, _ = typed
    abi = tmp_path / "abi.txt"
    abi.write_text("function pay(uint256 n, (address to, bool now)[] parts)\nevent Paid(uint256)\n")
    line = {"lane": HOT, "to": TO, "gas": 100_000, "call": "pay", "abi": str(abi)}
    parts = [{"to": TO, "now": True}, [OWNER, "false"]]
    file = tmp_path / "calls.jsonl"
    lines = [line | {"args": ["1 gwei", parts]}, line | {"args": [7, json.dumps(parts)]}]
    file.write_text("\n".join(map(json.dumps, lines)))
    first, second = terminal.json("send", "--file", str(file))
    assert first["evm"]["payload"]["data"][10:74] == f"{10**9:064x}"
    assert first["evm"]["payload"]["data"][74:] == second["evm"]["payload"]["data"][74:]
    assert second["evm"]["payload"]["abi"][0].startswith("function pay(uint256 n, (address to")
    code, _, err = terminal.type("send", "--file", str(file), HOT, "5")
    assert (code, "stand in its lines, as `args`" in err) == (2, True)


def test_what_is_out_is_replaced_by_a_call_in_words(typed: tuple[Terminal, Anvil]) -> None:
    terminal, _ = typed
    (sent,) = terminal.json("send", HOT, "--to", TO, "--gas", "100000")
    until_attempts(terminal, sent["id"], 1)
    assert terminal.url is not None
    options = ("--url", terminal.url, "--to", TO, "--gas", "100000", "--call", "pay(int256 n)")
    assert run(["tx", "replace", *options, "--", sent["id"], "-5"]) == 0
    assert facts(terminal, sent["id"])["call"] == "pay(n=-5)"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--to", TO, "--call", "pay(uint8)", "256"), "from 0 to 255"),
        (("--to", TO, "--call", "pay(uint8)"), "takes 1 argument, not 0"),
        (("--to", TO, "--call", "pay(uint8)", "1", "2"), "takes 1 argument, not 2"),
        (("--to", TO, "--call", "pay", "1"), "does not say how it is called"),
        (("--to", TO, "--call", "pay", "--abi", "absent.json"), "the file 'absent.json': No such"),
        (("--to", TO, "5"), "say which function these are the arguments of"),
        (("--call", "pay()"), "a call is sent to a contract"),
        (("--to", TO, "--call", "pay()", "--data", "0x00"), "either this, or a call in words"),
        (("--deploy", "0x00", "7"), "say the constructor's types"),
        (("--deploy", "60", "7"), "the file '60': No such"),
        (("--payload", "{}", "7"), "--payload alone"),
    ],
)
def test_what_is_typed_wrongly_is_said_and_never_sent(
    words: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No server is there that could be asked."""
    terminal = Terminal("http://127.0.0.1:1", capsys)
    code, out, err = terminal.type("send", HOT, *words)
    assert (code, out) == (2, "")
    assert problem in err


def test_a_contracts_lane_takes_no_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal("http://127.0.0.1:1", capsys)
    code, _, err = terminal.type("send", "contract:Qm1", "--data", "x", "5")
    assert (code, "no such option" in err) == (2, True)
