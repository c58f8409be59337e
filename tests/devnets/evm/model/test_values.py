"""Receipts of a block that was made."""

from tests.anvil import address, signed
from tests.evm_blobs import blob_transaction, sidecar

from laneway.devnets.evm.model.chain import EvmModel
from laneway.devnets.evm.model.values import TransactionTaken
from laneway.evm.envelope import encode_network
from laneway.evm.limits import BLOB_GAS

ETHER = 10**18


def test_a_receipt_says_what_blobs_cost() -> None:
    chain = EvmModel({address(): ETHER}, executes=True)
    made = blob_transaction(0, sidecar(1, count=2))
    answer = chain.send(0, encode_network(made))
    assert isinstance(answer, TransactionTaken)
    chain.mine(1_000)
    receipt = chain.receipt(0, answer.hash)
    assert receipt is not None
    assert (receipt.blob_gas, receipt.blob_price_wei) == (2 * BLOB_GAS, 1)


def test_on_a_chain_that_moves_value_there_are_none() -> None:
    chain = EvmModel({address(): ETHER})
    raws = [signed(nonce)[0] for nonce in range(2)]
    answers = [chain.send(0, raw) for raw in raws]
    hashes = [one.hash for one in answers if isinstance(one, TransactionTaken)]
    chain.mine(1_000)
    found = [chain.receipt(0, digest) for digest in hashes]
    assert [one and (one.index, one.gas_total, one.log_first, one.blob_gas) for one in found] == [
        (0, 21_000, 0, 0),
        (1, 42_000, 0, 0),
    ]
