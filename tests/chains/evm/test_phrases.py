"""Laws of the words: every client's are read, and those nobody knows prove nothing."""

import pytest

from laneway.chains.evm.phrases import EvmPhrases, client_of, read_rows, shipped
from laneway.chains.phrases import ANY
from laneway.core.errors import BadRequest
from laneway.core.facts import SendKind
from laneway.core.outcome import Outcome

K = SendKind

SAID = {
    "geth": {
        "already known": K.ALREADY_KNOWN,
        "nonce too low: next nonce 5, tx nonce 3": K.NONCE_TOO_LOW,
        "nonce too high": K.NONCE_TOO_HIGH,
        "replacement transaction underpriced: new tx gas fee cap 1 <= 2 queued": (
            K.REPLACEMENT_UNDERPRICED
        ),
        "transaction underpriced: gas tip cap 0, minimum needed 1": K.UNDERPRICED,
        "insufficient funds for gas * price + value: balance 0, tx cost 1, overshot 1": (
            K.INSUFFICIENT_FUNDS
        ),
        "tx fee (1.20 ether) exceeds the configured cap (1.00 ether)": K.NODE_FEE_CAP,
        "intrinsic gas too low: gas 20000, minimum needed 21000": K.INTRINSIC_GAS,
        "exceeds block gas limit": K.GAS_LIMIT,
        "oversized data: transaction size 140000, limit 131072": K.OVERSIZED,
        "txpool is full": K.POOL_FULL,
        "in-flight transaction limit reached for delegated accounts": K.ACCOUNT_LIMIT,
        "gapped-nonce tx from delegated accounts": K.ACCOUNT_LIMIT,
        "invalid chain id for signer: have 1 want 2": K.WRONG_CHAIN,
        "invalid sender": K.BAD_SIGNATURE,
        "rlp: expected input list for types.LegacyTx": K.MALFORMED,
        "typed transaction too short": K.MALFORMED,
        "transaction type not supported: type 3 rejected": K.UNSUPPORTED,
        "transaction type not supported: tx type 4 not supported by this pool": K.UNSUPPORTED,
        "KZG verification error: invalid blob proof: can't verify opening proof": K.MALFORMED,
        "invalid blob 0: can't verify opening proof": K.MALFORMED,
        "blob 0: computed hash 0x01 mismatches transaction one 0x02": K.MALFORMED,
        "max fee per gas less than block base fee: address 0x1": K.FEE_CAP_TOO_LOW,
        "max priority fee per gas higher than max fee per gas: tip 2, cap 1": K.TIP_ABOVE_CAP,
        "too many blobs in transaction: have 7, permitted 6": K.OVERSIZED,
        "blob transaction has too many blobs (have 7, permitted 6)": K.OVERSIZED,
        "invalid sidecar version post-osaka: 0": K.UNSUPPORTED,
        "invalid sidecar version pre-osaka: 1": K.UNSUPPORTED,
        "invalid number of 1 blob proofs expected 128": K.MALFORMED,
        "invalid number of 2 blobs compared to 1 blob hashes": K.MALFORMED,
        "invalid number of 2 blob commitments compared to 1 blob hashes": K.MALFORMED,
        "blobless blob transaction": K.MALFORMED,
        "blob transaction missing blob hashes": K.MALFORMED,
        "set code tx must have at least one authorization tuple": K.MALFORMED,
        "EIP-7702 transaction with empty auth list": K.MALFORMED,
    },
    "nethermind": {
        "AlreadyKnown": K.ALREADY_KNOWN,
        "OldNonce, Current nonce: 5, nonce of rejected tx: 3": K.NONCE_TOO_LOW,
        "NonceGap, Future nonce. Expected nonce: 5": K.NONCE_TOO_HIGH,
        "OwnNonceAlreadyUsed": K.REPLACEMENT_UNDERPRICED,
        "FeeTooLowToCompete": K.UNDERPRICED,
        "FeeTooLow, EffectivePriorityFeePerGas too low 1 < 2, BaseFee: 3": K.UNDERPRICED,
        "InsufficientFunds, Account balance: 0, cumulative cost: 1": K.INSUFFICIENT_FUNDS,
        "GasLimitExceeded, Gas limit: 1, gas limit of rejected tx: 2": K.GAS_LIMIT,
        "FailedToResolveSender": K.BAD_SIGNATURE,
        "NotSupportedTxType": K.UNSUPPORTED,
        "Invalid": K.MALFORMED,
        "Invalid, InvalidTxType: Transaction type in Cancun is not supported.": K.UNSUPPORTED,
        "Invalid, InvalidTxProofVersion: Version of network wrapper is not supported.": (
            K.UNSUPPORTED
        ),
        "Invalid, InvalidTxSignature: Signature is invalid.": K.BAD_SIGNATURE,
        "Invalid, InvalidTxChainId: Expected 1, got 2.": K.WRONG_CHAIN,
        "Invalid, intrinsic gas too low": K.INTRINSIC_GAS,
        "Invalid, IntrinsicGasTooLow: gas limit is below intrinsic gas.": K.INTRINSIC_GAS,
        "Invalid, gas below floor data cost": K.INTRINSIC_GAS,
        "Invalid, TxGasLimitCapExceeded: Gas limit 2 exceeeed cap of 1.": K.GAS_LIMIT,
        "Invalid, InvalidMaxPriorityFeePerGas: Cannot be higher than maxFeePerGas.": (
            K.TIP_ABOVE_CAP
        ),
        "Invalid, ContractSizeTooBig: max initcode size exceeded.": K.OVERSIZED,
        "Invalid, BlobTxGasLimitExceeded: Transaction exceeded 786432.": K.OVERSIZED,
        "Invalid, InvalidBlobProof: Proofs do not match the blobs.": K.MALFORMED,
        "Invalid, InvalidBlobDataSize: Blob data fields are of incorrect size.": K.MALFORMED,
        "Invalid, InvalidBlobCommitmentHash: Commitment hash does not match.": K.MALFORMED,
        "Invalid, BlobTxMissingBlobs: Blob transaction must have blobs.": K.MALFORMED,
        "Invalid, NotAllowedAuthorizationList: Only transactions with type SetCode": K.MALFORMED,
        "Invalid, InvalidAuthoritySignature: Invalid signature in authorization list.": (
            K.MALFORMED
        ),
    },
    "besu": {
        "Known transaction": K.ALREADY_KNOWN,
        "Nonce too low": K.NONCE_TOO_LOW,
        "Replacement transaction underpriced": K.REPLACEMENT_UNDERPRICED,
        "Gas price below configured minimum gas price": K.UNDERPRICED,
        "Upfront cost exceeds account balance": K.INSUFFICIENT_FUNDS,
        "Transaction fee cap exceeded": K.NODE_FEE_CAP,
        "Intrinsic gas exceeds gas limit": K.INTRINSIC_GAS,
        "Transaction gas limit exceeds block gas limit": K.GAS_LIMIT,
        "Invalid signature": K.BAD_SIGNATURE,
        "Transaction type BLOB is invalid, accepted transaction types are [FRONTIER]": (
            K.UNSUPPORTED
        ),
        "Wrong chainId": K.WRONG_CHAIN,
        "Invalid transaction type": K.UNSUPPORTED,
        "Initcode size of 49153 exceeds maximum size of 49152": K.OVERSIZED,
        "Total blob gas too high": K.OVERSIZED,
        "Invalid Blob Count: 7": K.OVERSIZED,
        "Invalid blob count (blob transactions must have at least one blob)": K.MALFORMED,
        "Max priority fee per gas exceeds max fee per gas": K.TIP_ABOVE_CAP,
    },
    "erigon": {
        "already known": K.ALREADY_KNOWN,
        "nonce too low": K.NONCE_TOO_LOW,
        "could not replace existing tx": K.REPLACEMENT_UNDERPRICED,
        "underpriced": K.UNDERPRICED,
        "insufficient funds for gas * price + value": K.INSUFFICIENT_FUNDS,
        "intrinsic gas too low": K.INTRINSIC_GAS,
        "existing txn with same hash": K.ALREADY_KNOWN,
        "blobs limit in txpool is full": K.POOL_FULL,
        "txn type not supported": K.UNSUPPORTED,
        "fork supporting this transaction type is not activated yet": K.UNSUPPORTED,
        "IntrinsicGas": K.INTRINSIC_GAS,
        "GasUintOverflow": K.GAS_LIMIT,
        "RLPTooLong": K.OVERSIZED,
        "max number of blobs exceeded": K.OVERSIZED,
        "blob transactions must have at least one blob": K.MALFORMED,
        "EIP-4844 & 7702 transactions cannot have the form of a create transaction": K.MALFORMED,
        "EIP-7702 transactions with an empty authorization list are invalid": K.MALFORMED,
    },
    "reth": {
        "already known": K.ALREADY_KNOWN,
        "nonce too low: next nonce 5, tx nonce 3": K.NONCE_TOO_LOW,
        "replacement transaction underpriced": K.REPLACEMENT_UNDERPRICED,
        "txpool is full": K.POOL_FULL,
        "failed to decode signed transaction": K.MALFORMED,
        "transaction underpriced": K.UNDERPRICED,
        "EIP-7702 transactions are disabled": K.UNSUPPORTED,
        "unsupported eip-7702 transaction": K.UNSUPPORTED,
        "unexpected eip-4844 sidecar after osaka": K.UNSUPPORTED,
        "unexpected eip-7594 sidecar before osaka": K.UNSUPPORTED,
        "unexpected blob sidecar version, want EIP-7594 cell proofs": K.UNSUPPORTED,
        "no items in authorization list for EIP7702 transaction": K.MALFORMED,
        "too many blobs in transaction: have 7, permitted 6": K.OVERSIZED,
    },
    "arbitrum": {
        "invalid transaction nonce": K.NONCE_TOO_LOW,
        "nonce too high: address 0x1, tx: 9 state: 5": K.NONCE_TOO_HIGH,
        "max fee per gas less than block base fee: address 0x1": K.FEE_CAP_TOO_LOW,
        "sequencer pending tx pool full, please try again": K.POOL_FULL,
        "not enough funds for gas": K.INSUFFICIENT_FUNDS,
        "execution reverted: no": K.REVERTED,
    },
    "op": {
        "nonce too low: next nonce 5, tx nonce 3": K.NONCE_TOO_LOW,
        "already known": K.ALREADY_KNOWN,
        "gas price too low: 1 wei, use at least tx.gasPrice = 2 wei": K.UNDERPRICED,
        "sender is over rate limit": K.RATE_LIMITED,
    },
    "zksync": {
        "nonce too low. allowed nonce range: 5 - 25, actual: 3": K.NONCE_TOO_LOW,
        "nonce too high. allowed nonce range: 5 - 25, actual: 99": K.NONCE_TOO_HIGH,
        "known transaction. transaction with hash 0x1 is already in the system": K.ALREADY_KNOWN,
        "max fee per gas less than block base fee": K.FEE_CAP_TOO_LOW,
        "oversized data. max: 1; actual: 2": K.OVERSIZED,
        "Not enough gas for transaction validation": K.UNDERPRICED,
    },
    "anvil": {
        "transaction already imported": K.ALREADY_KNOWN,
        "nonce too low": K.NONCE_TOO_LOW,
        "replacement transaction underpriced": K.REPLACEMENT_UNDERPRICED,
        "Insufficient funds for gas * price + value": K.INSUFFICIENT_FUNDS,
        "intrinsic gas too low": K.INTRINSIC_GAS,
        "intrinsic gas too high -- tx.gas_limit > env.block.gas_limit": K.GAS_LIMIT,
        "max fee per gas less than block base fee": K.FEE_CAP_TOO_LOW,
        "max priority fee per gas higher than max fee per gas": K.TIP_ABOVE_CAP,
        "invalid chain id for signer": K.WRONG_CHAIN,
        "Failed to decode transaction": K.MALFORMED,
        "KZG error: CError(C_KZG_BADARGS)": K.MALFORMED,
        "invalid KZG proof": K.MALFORMED,
        "eip4844 tx variant without sidecar being used for verification.": K.MALFORMED,
        "too many blobs in one transaction, have: 7, max: 6": K.OVERSIZED,
        "Block `blob_gas_price` is greater than tx-specified `max_fee_per_blob_gas`": (
            K.FEE_CAP_TOO_LOW
        ),
    },
}


ROWS = [(client, words, kind) for client, table in SAID.items() for words, kind in table.items()]


@pytest.mark.parametrize(("client", "words", "kind"), ROWS)
def test_a_clients_words_are_read(client: str, words: str, kind: SendKind) -> None:
    assert EvmPhrases(client).kind(-32000, words) is kind


@pytest.mark.parametrize(("client", "words", "kind"), ROWS)
def test_behind_a_gateway_they_mean_nothing_harder(client: str, words: str, kind: SendKind) -> None:
    guessed = EvmPhrases().kind(-32000, words)
    assert guessed.is_final() <= kind.is_final()
    assert guessed is not K.UNKNOWN


@pytest.mark.parametrize(
    "words",
    [
        "",
        "internal error",
        "something went wrong",
        "header not found",
        "the nonce is invalid",
        # Said of bytes that may land later, or that are in a block already.
        "mined",
        "An invalid transaction with a lower nonce exists",
        "Invalid, something new: nobody knows what.",
        "blob sidecar not found for EIP4844 transaction",
        "can't replace blob-txn with a non-blob-txn",
        "unexpected blob sidecar in transaction at index 0",
    ],
)
def test_words_that_nobody_listed_prove_nothing(words: str) -> None:
    for client in ("", *SAID):
        kind = EvmPhrases(client).kind(-32000, words)
        assert kind is K.UNKNOWN
        assert kind.outcome() is Outcome.UNKNOWN


@pytest.mark.parametrize("client", ["", *SAID])
def test_two_words_at_once_mean_the_softer_one(client: str) -> None:
    both = "intrinsic gas too low; nonce too low."
    assert EvmPhrases(client).kind(-32000, both) is K.NONCE_TOO_LOW


def test_a_code_tells_words_apart() -> None:
    assert EvmPhrases().kind(-32005, "limit exceeded") is K.RATE_LIMITED
    assert EvmPhrases().kind(-32000, "limit exceeded") is K.UNKNOWN
    assert EvmPhrases().kind(-32601, "method not found") is K.NOT_SERVED


def test_an_operators_rows_come_first() -> None:
    rows = read_rows([["pool_full", "nonce too low"], ["oversized", "queer", -7]])
    assert EvmPhrases("geth", rows).kind(-32000, "nonce too low") is K.POOL_FULL
    assert EvmPhrases("geth", rows).kind(-7, "QUEER words") is K.OVERSIZED
    assert EvmPhrases("geth", rows).kind(-8, "queer words") is K.UNKNOWN


@pytest.mark.parametrize("row", [["nothing", "x"], ["malformed", "("], ["malformed"], ["a", 1]])
def test_a_row_that_is_none_is_refused(row: list[object]) -> None:
    with pytest.raises(BadRequest):
        read_rows([row])


def test_every_client_of_the_tables_is_tried_here() -> None:
    assert {*SAID, ANY} == set(shipped())


@pytest.mark.parametrize(
    ("version", "client"),
    [
        ("Geth/v1.16.0-stable/linux-amd64/go1.24", "geth"),
        ("anvil/v1.7.1", "anvil"),
        ("reth/v1.8.0/x86_64", "reth"),
        ("Nethermind/v1.34.0", "nethermind"),
        ("besu/v25.9.0", "besu"),
        ("erigon/3.1.0", "erigon"),
        ("nitro/v3.7.0", "arbitrum"),
        ("op-geth/v1.101", "op"),
        ("zkSync/v2.0", "zksync"),
        ("somebody/v1", ""),
    ],
)
def test_a_client_is_known_by_its_version(version: str, client: str) -> None:
    assert client_of(version) == client
