"""Messages told in JSON are those that their bytes would be."""

import pytest
from tests.devnets.cosmos.node.test_rest import told

from laneway.cosmos.errors import MalformedTransaction
from laneway.cosmos.messages import DIRECT, MsgPayForBlobs, MsgSend, TxBody
from laneway.cosmos.protobuf import decode
from laneway.cosmos.tx import read
from laneway.devnets.cosmos.node.proto_json import message_of, number, octets, packed_of, raw_tx


def test_a_transaction_is_read_in_either_spelling() -> None:
    camel = told()
    snake = {
        "body": camel["body"],
        "auth_info": {
            "signer_infos": [
                {
                    "public_key": camel["authInfo"]["signerInfos"][0]["publicKey"],
                    "mode_info": {"single": {"mode": 1}},
                }
            ],
            "fee": {**camel["authInfo"]["fee"], "gas_limit": 100_000},
        },
        "signatures": camel["signatures"],
    }
    assert raw_tx(camel) == raw_tx(snake)
    found = read(raw_tx(camel))
    assert found.auth.fee is not None
    assert found.auth.fee.gas_limit == 100_000
    mode = found.auth.signer_infos[0].mode_info
    assert mode is not None
    assert mode.single is not None
    assert mode.single.mode == DIRECT
    assert decode(MsgSend, found.body.messages[0].value).amount[0].amount == "5"


def test_numbers_bytes_and_flags_are_read_as_protobuf_tells_them() -> None:
    paid = {"signer": "s", "blobSizes": [3, "4"], "shareCommitments": ["YQ=="]}
    message = message_of(MsgPayForBlobs, paid)
    assert (message.blob_sizes, message.share_commitments) == ((3, 4), (b"a",))
    assert message_of(TxBody, {"unordered": True, "timeoutHeight": "7"}) == TxBody(
        unordered=True, timeout_height=7
    )


@pytest.mark.parametrize(
    "broken",
    [
        1,
        {"body": 1},
        {"body": {"messages": 1}},
        {"body": {"messages": [1]}},
        {"body": {"messages": [{"@type": 1}]}},
        {"body": {"messages": [{"@type": "/unknown"}]}},
        {"body": {"memo": 1}},
        {"body": {"timeoutHeight": -1}},
        {"body": {"timeoutHeight": True}},
        {"signatures": [1]},
        {"signatures": ["%"]},
    ],
)
def test_what_is_no_message_is_said_so(broken: object) -> None:
    with pytest.raises(MalformedTransaction):
        raw_tx(broken)


def test_what_is_inside_an_any_stands_beside_its_type() -> None:
    packed = packed_of({"@type": MsgSend.url, "from_address": "a"})
    assert decode(MsgSend, packed.value).from_address == "a"
    assert octets("YQ==") == b"a"
    assert number("12") == number(12) == 12
