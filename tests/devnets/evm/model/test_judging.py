"""Which transactions a node takes, beside those of the chain's own tests: blobs, and what nobody
signed."""

import sys

import pytest
from msgspec import structs
from tests.anvil import address, signed
from tests.evm_blobs import blob_transaction, sidecar

from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.judging import PoolGround, impersonated, judged, read, refused_as
from laneway.devnets.evm.model.pool import NodePool
from laneway.devnets.evm.model.rules import ANVIL, GETH
from laneway.devnets.evm.model.states import EvmAccountState
from laneway.devnets.evm.model.values import TransactionRefused, TransactionTaken
from laneway.evm.envelope import encode_canonical, encode_network, hash_of
from laneway.evm.errors import (
    BlobProofWrong,
    MalformedRlp,
    SidecarMissing,
    TipAboveFee,
    TypeUnsupported,
)
from laneway.evm.fork import Fork
from laneway.evm.transaction import DynamicFeeTransaction

CHAIN, GWEI, ETHER = 31_337, 10**9, 10**18
WHO, TO = b"\x01" * 20, b"\x02" * 20
PLAIN = DynamicFeeTransaction(CHAIN, 0, 1, 10 * GWEI, 21_000, TO, 5)


def read_here(raw: bytes, *, executes: bool = True) -> object:
    return read(raw, fork=Fork.PRAGUE, chain_id=CHAIN, executes=executes, order=3)


def view(**fields: object) -> PoolGround:
    usual = PoolGround(NodePool(), EvmAccountState(ETHER), GWEI, 1, 30_000_000)
    return structs.replace(usual, **fields)


def test_a_blob_transaction_is_named_without_what_travels_beside_it() -> None:
    made = blob_transaction(0, sidecar(1))
    found = read(encode_network(made), fork=Fork.PRAGUE, chain_id=CHAIN, executes=True, order=3)
    assert (found.hash, found.sender, found.order) == (hash_of(made), address(), 3)
    assert found.size_bytes() == len(encode_canonical(made))
    with pytest.raises(SidecarMissing):
        read_here(encode_canonical(made))
    with pytest.raises(TypeUnsupported):
        read_here(encode_network(made), executes=False)
    wrong = structs.replace(sidecar(1), proofs=sidecar(1).commitments)
    with pytest.raises(BlobProofWrong):
        read_here(encode_network(blob_transaction(0, wrong)))


def test_both_forms_of_a_sidecar_are_one_transaction() -> None:
    chain = EvmModel({address(): ETHER}, executes=True)
    answers = [
        chain.send(0, encode_network(blob_transaction(0, sidecar(1, version=version))))
        for version in (0, 1)
    ]
    assert isinstance(answers[0], TransactionTaken)
    assert isinstance(answers[1], TransactionRefused)
    assert answers[1].message == "transaction already imported"


def test_what_nobody_signed_is_named_by_its_sender_too() -> None:
    def made(sender: bytes, executes: bool = True) -> bytes:
        return impersonated(
            PLAIN, sender, fork=Fork.PRAGUE, chain_id=CHAIN, executes=executes, order=0
        ).hash

    assert made(WHO) == made(WHO)
    assert made(WHO) != made(TO)
    assert made(WHO, executes=False) == made(WHO)
    wrong = structs.replace(PLAIN, tip_wei_max=11 * GWEI)
    with pytest.raises(TipAboveFee):
        impersonated(wrong, WHO, fork=Fork.PRAGUE, chain_id=CHAIN, executes=True, order=0)


def test_refusals_have_the_messages_of_the_rules() -> None:
    assert refused_as(ANVIL, SidecarMissing()).message.startswith("eip4844 tx variant")
    assert refused_as(GETH, SidecarMissing()).message == "missing sidecar in blob transaction"
    assert refused_as(ANVIL, BlobProofWrong(index=0)) == TransactionRefused(
        -32003, "invalid KZG proof"
    )
    malformed = MalformedRlp(at=0, problem="")
    assert refused_as(ANVIL, malformed) == TransactionRefused(
        -32602, "Failed to decode transaction"
    )


def test_blobs_are_judged_by_their_fee_and_not_by_their_size() -> None:
    sent = read(
        encode_network(blob_transaction(0, sidecar(1))),
        fork=Fork.PRAGUE,
        chain_id=CHAIN,
        executes=True,
        order=0,
    )
    assert judged(ANVIL, view(), sent) is None
    assert judged(GETH, view(blob_fee_wei=11), sent) is None, "geth lets it wait"
    no = judged(ANVIL, view(blob_fee_wei=11), sent)
    assert no is not None
    assert "max_fee_per_blob_gas" in no.message
    no = judged(ANVIL, view(account=EvmAccountState(0)), sent)
    assert no is not None
    assert no.message.startswith("Insufficient funds")


@pytest.mark.parametrize(
    ("rules", "fields", "words"),
    [
        (ANVIL, {"block_gas_max": 20_000}, "intrinsic gas too high"),
        (ANVIL, {"account": EvmAccountState(ETHER, 1)}, "nonce too low"),
        (ANVIL, {"base_fee_wei": 1_000 * GWEI}, "max fee per gas less than block base fee"),
        (GETH, {"account": EvmAccountState(5)}, "insufficient funds .* overshot"),
        (
            structs.replace(GETH, size_bytes_max=10),
            {},
            "oversized data: .* 1.., limit 10",
        ),
        (structs.replace(GETH, pool_count_max=0), {}, "txpool is full"),
    ],
)
def test_a_state_refuses(rules: object, fields: dict[str, object], words: str) -> None:
    import re

    sent = read_here(signed(0)[0])
    no = judged(rules, view(**fields), sent)  # type: ignore[arg-type]
    assert no is not None
    assert re.match(words, no.message)


def test_a_missing_package_is_said_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = EvmModel({address(): ETHER}, executes=True)
    raw = encode_network(blob_transaction(0, sidecar(1)))
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "py_arkworks_bls12381", None)
        no = chain.send(0, raw)
    assert isinstance(no, TransactionRefused)
    assert (no.code, "laneway[precompiles]" in no.message) == (-32603, True)
    assert isinstance(chain.send(0, raw), TransactionTaken)
