"""Laws of calls in words at the client: encoded before they are sent, or refused there."""

import sys
from pathlib import Path
from typing import Any

import pytest

from laneway.client.bodies import new_tx
from laneway.client.evm_words import evm_request
from laneway.core.errors import BadRequest
from laneway.kinds.evm.request import request_of
from laneway.wire.evm import EvmPayload

TO = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
CALL = "0xa9059cbb" + TO[2:].lower().rjust(64, "0") + "5".rjust(64, "0")
ABI = ["function transfer(address to, uint256 amount)", "error Poor(uint256 by)"]


def test_a_call_in_words_is_sent_as_calldata_with_its_signatures(tmp_path: Path) -> None:
    file = tmp_path / "Token.txt"
    file.write_text("\n".join(ABI))
    ways: tuple[dict[str, Any], ...] = (
        {"call": "transfer", "args": [TO, 5], "abi": ABI},
        {"call": "transfer", "args": [bytes.fromhex(TO[2:]), "5 wei"], "abi": file},
    )
    for words in ways:
        sent = evm_request(None, {"to": TO, "value": "1 gwei", **words})
        assert sent == EvmPayload(to=TO, value="1000000000", data=CALL, abi=list(ABI))
    alone = evm_request(None, {"to": TO, "call": "transfer(address,uint256)", "args": [TO, 5]})
    assert (alone.data, alone.abi) == (CALL, ["function transfer(address, uint256)"])
    own = evm_request(bytes.fromhex(CALL[2:]), {"to": TO, "abi": ABI})
    assert (own.data, own.abi) == (CALL, list(ABI))


def test_a_deployment_is_sent_with_its_arguments_beside_its_code(tmp_path: Path) -> None:
    file = tmp_path / "Token.json"
    file.write_text('{"bytecode": "0x6080", "abi": ["constructor(bool yes)"]}')
    sent = evm_request(None, {"deploy": file, "args": ["true"]})
    data = "0x" + "1".rjust(64, "0")
    assert sent == EvmPayload(deploy="0x6080", data=data, abi=["constructor(bool yes)"])
    assert request_of(sent) == request_of(
        EvmPayload(deploy="0x6080", call="constructor(bool yes)", args=[True])
    )


def test_what_is_wrong_is_never_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for options, problem in (
        ({"to": TO, "call": "transfer(address,uint256)", "args": [TO]}, "2 arguments, not 1"),
        ({"to": TO, "args": [TO]}, "call: say which"),
        ({"call": "f()"}, "to: a call is sent to a contract"),
        ({"to": TO, "call": "f()", "value": "0.5"}, "part of a wei"),
    ):
        with pytest.raises(BadRequest, match=problem):
            new_tx("evm:dev:hot", None, None, options)  # type: ignore[arg-type]
    with pytest.raises(BadRequest, match="no such option"):
        new_tx("contract:Qm1", "x", None, {"call": "f()"})
    monkeypatch.setitem(sys.modules, "eth_abi", None)
    with pytest.raises(BadRequest, match=r"call: .*pip install 'laneway\[abi\]'"):
        evm_request(None, {"to": TO, "call": "f(bool)", "args": [True]})


def test_other_requests_are_sent_as_they_were() -> None:
    assert evm_request("0x01", {"to": TO, "call": None}) == EvmPayload(to=TO, data="0x01")
