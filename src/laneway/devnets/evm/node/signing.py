"""Methods that send and sign for an account: one whose key the node has, or one it impersonates."""

from collections.abc import Mapping
from typing import Final

from laneway.devnets.evm.limits import IMPERSONATED_COUNT_MAX
from laneway.devnets.evm.model.values import TransactionTaken
from laneway.devnets.evm.node.methods import estimate_gas
from laneway.devnets.evm.node.parameters import (
    address_of,
    fields_of,
    flag_of,
    number_of,
    octets_of,
    wrong,
)
from laneway.devnets.evm.node.requests import read
from laneway.devnets.evm.node.sending import (
    filled,
    in_both_forms,
    send_raw_transaction,
    sender_of,
)
from laneway.devnets.evm.node.subscriptions import EvmCaller
from laneway.evm.envelope import decode, sealed, signing_digest
from laneway.evm.fork import Fork
from laneway.evm.keccak import keccak
from laneway.evm.limits import TRANSACTION_GAS_MAX
from laneway.evm.secp256k1 import HeldEvmKey
from laneway.evm.transaction import Transaction, signed
from laneway.wire.hex import octets
from laneway.wire.rpc_server.methods import Json, Method, RpcRefused

CONTENT: Final = ("to", "value", "data", "input", "accessList", "authorizationList")
"""What an estimate of gas depends on, beside the sender."""


def send(caller: EvmCaller, fields: Mapping[str, object]) -> str:
    """Send a transaction of a known account, signed here, or of an impersonated one."""
    sender = sender_of(caller, fields)
    host = caller.host
    if sender in host.impersonated or host.impersonates_all:
        return send_as(caller, fields, sender)
    return send_raw_transaction(caller, sign_with(key_of(caller, sender), caller, fields))


def send_unsigned(caller: EvmCaller, fields: Mapping[str, object]) -> str:
    """Send a transaction of any account at all."""
    if fields.get("from") is None:
        raise wrong("No Signer available")
    return send_as(caller, fields, address_of(fields["from"]))


def sign_transaction(caller: EvmCaller, fields: Mapping[str, object]) -> str | Json:
    """Its bytes; geth has its fields as well."""
    sender = sender_of(caller, fields)
    raw = sign_with(key_of(caller, sender), caller, fields)
    return in_both_forms(decode(raw), sender) if caller.chain.rules.reads_as_geth else octets(raw)


def sign_message(caller: EvmCaller, address: bytes, message: bytes) -> str:
    """EIP-191, as wallets sign what people read."""
    prefix = b"\x19Ethereum Signed Message:\n%d" % len(message)
    made = key_of(caller, address).sign(keccak(prefix + message))
    parts = made.r.to_bytes(32, "big") + made.s.to_bytes(32, "big")
    return octets(parts + bytes([27 + made.y_parity]))


def accounts(caller: EvmCaller) -> list[str]:
    """Those whose keys are here, and the impersonated ones."""
    known = {**dict.fromkeys(caller.host.keys), **caller.host.impersonated}
    return [octets(address) for address in known]


def impersonate(caller: EvmCaller, address: bytes) -> None:
    held = caller.host.impersonated
    if address not in held and len(held) >= IMPERSONATED_COUNT_MAX:
        raise wrong(f"at most {IMPERSONATED_COUNT_MAX} accounts; anvil_autoImpersonateAccount all")
    held[address] = None


def stop_impersonating(caller: EvmCaller, address: bytes) -> None:
    caller.host.impersonated.pop(address, None)


def impersonate_all(caller: EvmCaller, is_on: bool) -> None:
    caller.host.impersonates_all = is_on


IMPERSONATE: Final = Method((address_of,), impersonate)
STOP: Final = Method((address_of,), stop_impersonating)
ALL: Final = Method((flag_of,), impersonate_all)
SIGNING: Final[Mapping[str, Method]] = {
    "eth_accounts": Method((), accounts),
    "eth_sendTransaction": Method((fields_of,), send),
    "eth_sendUnsignedTransaction": Method((fields_of,), send_unsigned),
    "eth_signTransaction": Method((fields_of,), sign_transaction),
    "eth_sign": Method((address_of, octets_of), sign_message),
    "personal_sign": Method(
        (octets_of, address_of), lambda caller, message, who: sign_message(caller, who, message)
    ),
    **dict.fromkeys(("anvil_impersonateAccount", "hardhat_impersonateAccount"), IMPERSONATE),
    **dict.fromkeys(("anvil_stopImpersonatingAccount", "hardhat_stopImpersonatingAccount"), STOP),
    **dict.fromkeys(("anvil_autoImpersonateAccount", "hardhat_autoImpersonateAccount"), ALL),
}


# What they are made of.


def key_of(caller: EvmCaller, address: bytes) -> HeldEvmKey:
    key = caller.host.keys.get(address)
    if key is None:
        raise wrong("No Signer available")
    return key


def sign_with(key: HeldEvmKey, caller: EvmCaller, fields: Mapping[str, object]) -> bytes:
    made = written(caller, fields, key.address)
    return sealed(signed(made, key.sign(signing_digest(made)))).raw


def send_as(caller: EvmCaller, fields: Mapping[str, object], sender: bytes) -> str:
    answer = caller.chain.send_as(caller.node, written(caller, fields, sender), sender)
    if isinstance(answer, TransactionTaken):
        return octets(answer.hash)
    raise RpcRefused(answer.code, answer.message)


def written(caller: EvmCaller, fields: Mapping[str, object], sender: bytes) -> Transaction:
    """The transaction that a caller wrote for this chain, with what they left out."""
    chain_id = caller.chain.chain_id
    given = read(fields, "chainId", number_of)
    if given not in (None, chain_id):
        problem = f"transaction-provided chain ID ({given}) does not match the signer's chain ID"
        raise wrong(f"{problem} ({chain_id})")
    return filled(caller, fields, sender, lambda: estimated(caller, fields, sender))


def estimated(caller: EvmCaller, fields: Mapping[str, object], sender: bytes) -> int:
    """What it uses on the pending block; all that a block has where it fails there."""
    content = {name: fields[name] for name in CONTENT if name in fields}
    try:
        return number_of(estimate_gas(caller, {"from": octets(sender), **content}, "pending"))
    except RpcRefused:
        most = caller.chain.block_gas_max
        return min(most, TRANSACTION_GAS_MAX) if caller.chain.fork >= Fork.OSAKA else most
