"""Why a transaction is refused. Every class has a stable code; operands build the message.

InvalidTransaction
├── its bytes     MalformedRlp · MalformedField · FieldOverflow · WrongFieldCount · TypeUnsupported
├── its signature InvalidSignature · WrongChain
├── its numbers   NonceTooBig · TipAboveFee · CostOverflow
├── its gas       IntrinsicGasTooLow · GasBelowFloor · GasAboveCap
├── its content   RecipientMissing · InitcodeTooBig · AuthorizationsMissing
│                 BlobsMissing · BlobsTooMany · BlobHashUnknown · SidecarMismatch
│                 SidecarMissing · BlobMalformed · BlobProofWrong
└── Excluded      it may be valid, and not in this block on this state
    ├── sender    NonceTooLow · NonceTooHigh · SenderHasCode · FundsTooLow
    └── block     FeeBelowBase · BlobFeeTooLow · BlockGasExceeded · BlockBlobsExceeded
"""

from laneway.core.errors import InvalidValue


class InvalidTransaction(InvalidValue):
    code = "transaction_invalid"
    message = "the transaction is invalid"


class MalformedRlp(InvalidTransaction):
    code = "rlp_malformed"
    message = "byte {at}: {problem}"


class MalformedField(InvalidTransaction):
    code = "field_malformed"
    message = "{field}: {problem}"


class FieldOverflow(InvalidTransaction):
    code = "field_overflow"
    message = "{field} does not fit into {bits} bits"


class WrongFieldCount(InvalidTransaction):
    code = "field_count_wrong"
    message = "{what} has {given} fields instead of {wanted}"


class TypeUnsupported(InvalidTransaction):
    code = "type_unsupported"
    message = "type {type} is not one of {fork}"


class InvalidSignature(InvalidTransaction):
    code = "signature_invalid"
    message = "the signature is invalid: {problem}"


class WrongChain(InvalidTransaction):
    code = "chain_wrong"
    message = "it is signed for chain {given}, and this is chain {wanted}"


class NonceTooBig(InvalidTransaction):
    code = "nonce_too_big"
    message = "no account can count to nonce {nonce} (EIP-2681)"


class TipAboveFee(InvalidTransaction):
    code = "tip_above_fee"
    message = "the tip of at most {tip_wei} wei is above the fee of at most {fee_wei} wei"


class CostOverflow(InvalidTransaction):
    code = "cost_overflow"
    message = "{gas} gas at {fee_wei} wei does not fit into 256 bits"


class IntrinsicGasTooLow(InvalidTransaction):
    code = "intrinsic_gas_too_low"
    message = "a gas limit of {gas} is below the intrinsic {wanted}"


class GasBelowFloor(InvalidTransaction):
    code = "gas_below_floor"
    message = "a gas limit of {gas} is below the data's floor of {wanted} (EIP-7623)"


class GasAboveCap(InvalidTransaction):
    code = "gas_above_cap"
    message = "a gas limit of {gas} is above the cap of {cap} (EIP-7825)"


class RecipientMissing(InvalidTransaction):
    code = "recipient_missing"
    message = "type {type} cannot create a contract"


class InitcodeTooBig(InvalidTransaction):
    code = "initcode_too_big"
    message = "{given} bytes of initcode are above {bound} (EIP-3860)"


class AuthorizationsMissing(InvalidTransaction):
    code = "authorizations_missing"
    message = "the list of authorizations is empty (EIP-7702)"


class BlobsMissing(InvalidTransaction):
    code = "blobs_missing"
    message = "the list of blob hashes is empty (EIP-4844)"


class BlobsTooMany(InvalidTransaction):
    code = "blobs_too_many"
    message = "{given} blobs are above {bound}"


class BlobHashUnknown(InvalidTransaction):
    code = "blob_hash_unknown"
    message = "blob hash {index} has version {version} instead of 1"


class SidecarMismatch(InvalidTransaction):
    code = "sidecar_mismatch"
    message = "the sidecar does not belong to it: {problem}"


class SidecarMissing(InvalidTransaction):
    code = "sidecar_missing"
    message = "its blobs do not travel beside it (EIP-4844)"


class BlobMalformed(InvalidTransaction):
    code = "blob_malformed"
    message = "blob {index} or its proofs are no values of the field or points of the curve"


class BlobProofWrong(InvalidTransaction):
    code = "blob_proof_wrong"
    message = "the proofs of blob {index} do not hold"


class Excluded(InvalidTransaction):
    code = "excluded"
    message = "the transaction cannot be in this block"


class NonceTooLow(Excluded):
    code = "nonce_too_low"
    message = "nonce {nonce} is used: the account's next one is {nonce_next}"


class NonceTooHigh(Excluded):
    code = "nonce_too_high"
    message = "nonce {nonce} comes later: the account's next one is {nonce_next}"


class SenderHasCode(Excluded):
    code = "sender_has_code"
    message = "the sender is a contract (EIP-3607)"


class FundsTooLow(Excluded):
    code = "funds_too_low"
    message = "it may cost {cost_wei} wei, and the sender has {balance_wei}"


class FeeBelowBase(Excluded):
    code = "fee_below_base"
    message = "it pays at most {fee_wei} wei for gas, and the block asks {base_fee_wei}"


class BlobFeeTooLow(Excluded):
    code = "blob_fee_too_low"
    message = "it pays at most {fee_wei} wei for blob gas, and the block asks {base_fee_wei}"


class BlockGasExceeded(Excluded):
    code = "block_gas_exceeded"
    message = "its gas limit is {gas}, and the block has {left} left"


class BlockBlobsExceeded(Excluded):
    code = "block_blobs_exceeded"
    message = "it has {given} blobs, and the block has place for {left}"
