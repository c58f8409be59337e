"""The application of a Cosmos chain: the checks of a transaction in the SDK's order, and the
execution of its messages. Pure."""

import re
from collections.abc import Sequence
from enum import Enum, auto

from msgspec import Struct

from laneway.cosmos import bech32
from laneway.cosmos.blobs import SHARE_BYTES, commitment, from_proto, share_count
from laneway.cosmos.blobs import check as check_blob
from laneway.cosmos.errors import InvalidCosmos, MalformedAddress
from laneway.cosmos.keys import raw_address
from laneway.cosmos.messages import (
    Any,
    BasicAllowance,
    Coin,
    MsgGrantAllowance,
    MsgPayForBlobs,
    MsgSend,
)
from laneway.cosmos.protobuf import decode
from laneway.cosmos.tx import Read, is_signed, read
from laneway.devnets.cosmos.limits import (
    BLOBS_TXS_PER_BLOCK_MAX,
    BLOCK_BYTES_MAX,
    GAS_PER_BLOB_BYTE,
    GAS_PER_BYTE,
    GAS_PER_TX,
    GAS_PRICE_MICRO,
)
from laneway.devnets.cosmos.model import verdicts
from laneway.devnets.cosmos.model.ledger import BankAccount, Grant, Ledger
from laneway.devnets.cosmos.model.verdicts import OK, AppVerdict

MICRO = 1_000_000
ADDRESS_BYTES = 20
AMOUNT_DIGITS = 78
"""Of 256 bits."""
AMOUNT = re.compile(rf"[1-9][0-9]{{0,{AMOUNT_DIGITS - 1}}}")


class Mode(Enum):
    """Why a transaction is checked."""

    CHECK = auto()
    RECHECK = auto()
    DELIVER = auto()
    SIMULATE = auto()


class CosmosRules(Struct, frozen=True):
    """The settings by which one chain differs from another."""

    chain_id: str = "laneway-dev"
    prefix: str = "celestia"
    denom: str = "utia"
    checks_signatures: bool = True
    opens_accounts: bool = False
    """Whether an account that nobody funded may send; a recorded application allowed it."""
    gas_used: int | None = None
    """The gas that every transaction uses; None counts its size and its blobs."""
    shows_address: bool = True
    """Whether signers are named by their address; a recorded application showed the bytes."""
    checks_messages: bool = True
    """Whether messages are carried out, and blobs compared to what is paid for."""
    block_bytes_max: int = BLOCK_BYTES_MAX
    blob_txs_max: int = BLOBS_TXS_PER_BLOCK_MAX
    keeps_blobs: bool = True
    """Whether blobs stay in memory after their block is made; a long run has gigabytes of them."""


class Delivered(Struct, frozen=True):
    """The result of a transaction in a block."""

    verdict: AppVerdict
    gas_wanted: int
    gas_used: int
    signers: tuple[str, ...]


class App:
    """The rules of a chain, and switches for tests."""

    def __init__(self, rules: CosmosRules) -> None:
        self.rules = rules
        self.price_micro = GAS_PRICE_MICRO
        """The lowest price of a unit of gas that a node accepts, in millionths."""
        self.fails: dict[bytes, AppVerdict] = {}
        """Verdicts with which executions end, by the hash of their transaction."""
        self.ante_fails: dict[bytes, AppVerdict] = {}
        """Verdicts with which transactions end in their next block before their fee and their
        sequence are taken, as on a chain whose proposers check nothing."""

    # Before a transaction.

    def ante(self, ledger: Ledger, tx: Read, size: int, height: int, mode: Mode) -> AppVerdict:
        """Take its fee and its sequence. The verdict is OK, or nothing was changed."""
        trial = ledger.above()
        try:
            verdict = self._ante(trial, tx, size, height, mode)
        except InvalidCosmos:
            return verdicts.PARSE
        if verdict is OK:
            trial.settle()
        return verdict

    def _ante(self, ledger: Ledger, tx: Read, size: int, height: int, mode: Mode) -> AppVerdict:
        if self.rules.checks_messages and mode in (Mode.CHECK, Mode.SIMULATE):
            verdict = self._basic(tx)
            if verdict is not OK:
                return verdict
        timeout = tx.body.timeout_height
        if timeout and height > timeout:
            return verdicts.timed_out(height, timeout)
        if (verdict := self._fee(ledger, tx, mode)) is not OK:
            return verdict
        wanted = gas_wanted(tx)
        used = self.gas_used(tx, size)
        if mode is not Mode.SIMULATE and used > wanted and self.rules.gas_used is None:
            return verdicts.out_of_gas(wanted, used)
        return self._signed(ledger, tx, mode)

    def _basic(self, tx: Read) -> AppVerdict:
        """The verdict of the checks that need no state."""
        fee = tx.auth.fee
        if fee is not None and not is_valid(fee.amount):
            return verdicts.bad_coins(coins_text(fee.amount))
        signer = self.address_of(raw_address(tx.public_key()))
        if fee is not None and fee.payer not in ("", signer):
            return verdicts.not_signed(0, tx.sequence(), self.rules.chain_id)
        for message in tx.body.messages:
            if (verdict := self._basic_message(message, signer, tx)) is not OK:
                return verdict
        return blob_verdict(tx, self.rules.prefix)

    def _basic_message(self, message: Any, signer: str, tx: Read) -> AppVerdict:
        match message.type_url:
            case MsgSend.url:
                sent = decode(MsgSend, message.value)
                self.raw_of(sent.to_address)
                if not sent.amount or not is_valid(sent.amount):
                    return verdicts.bad_coins(coins_text(sent.amount))
                from_address = sent.from_address
            case MsgGrantAllowance.url:
                granted = decode(MsgGrantAllowance, message.value)
                self.raw_of(granted.grantee)
                allowance = granted.allowance
                if allowance is None or allowance.type_url != BasicAllowance.url:
                    return verdicts.unknown_message("" if allowance is None else allowance.type_url)
                from_address = granted.granter
            case MsgPayForBlobs.url:
                return OK
            case url:
                return verdicts.unknown_message(url)
        is_own = from_address == signer
        return OK if is_own else verdicts.not_signed(0, tx.sequence(), self.rules.chain_id)

    def raw_of(self, address: str) -> bytes:
        """The bytes of an address; MalformedAddress if it is not one of this chain."""
        prefix, raw = bech32.decode(address)
        if prefix != self.rules.prefix or len(raw) != ADDRESS_BYTES:
            problem = f"it is not an address of {self.rules.prefix}"
            raise MalformedAddress(address=address, problem=problem)
        return raw

    def address_of(self, raw: bytes) -> str:
        return bech32.encode(self.rules.prefix, raw)

    def _fee(self, ledger: Ledger, tx: Read, mode: Mode) -> AppVerdict:
        rules, fee = self.rules, tx.auth.fee
        paid = 0 if fee is None else amount_of(fee.amount, rules.denom)
        if mode in (Mode.CHECK, Mode.RECHECK):
            required = -(-gas_wanted(tx) * self.price_micro // MICRO)
            if paid < required:
                return verdicts.fee_too_low(f"{paid}{rules.denom}", f"{required}{rules.denom}")
        if rules.opens_accounts:
            return OK
        signer = raw_address(tx.public_key())
        payer = signer
        if fee is not None and fee.granter:
            payer = self.raw_of(fee.granter)
            if (verdict := self._granted(ledger, payer, signer, paid)) is not OK:
                return verdict
        account = ledger.account(payer)
        if account is None:
            return verdicts.no_account(self.address_of(payer))
        if account.balance < paid:
            return verdicts.no_funds(f"{account.balance}{rules.denom}", f"{paid}{rules.denom}")
        ledger.change(payer, balance=account.balance - paid)
        return OK

    def _granted(self, ledger: Ledger, granter: bytes, grantee: bytes, paid: int) -> AppVerdict:
        grant = ledger.grant(granter, grantee)
        if grant is None:
            return verdicts.no_grant(self.address_of(granter), self.address_of(grantee))
        if grant.left is not None:
            if grant.left < paid:
                return verdicts.GRANT_SPENT
            ledger.allow(granter, grantee, Grant(grant.left - paid))
        return OK

    def _signed(self, ledger: Ledger, tx: Read, mode: Mode) -> AppVerdict:
        """Check the sequence first, as the SDK does; the signature is not verified twice."""
        rules, signer = self.rules, raw_address(tx.public_key())
        account = ledger.account(signer)
        if account is None:
            if not rules.opens_accounts:
                return verdicts.no_account(self.address_of(signer))
            account = ledger.change(signer)
        if tx.sequence() != account.sequence:
            return verdicts.wrong_sequence(account.sequence, tx.sequence())
        verifies = rules.checks_signatures and mode in (Mode.CHECK, Mode.DELIVER)
        if verifies and not is_signed(tx, rules.chain_id, account.number):
            return verdicts.not_signed(account.number, account.sequence, rules.chain_id)
        ledger.change(signer, sequence=account.sequence + 1, public_key=tx.public_key())
        return OK

    # Its messages.

    def deliver(self, ledger: Ledger, tx: Read, size: int) -> Delivered:
        """Execute the messages of a transaction that passed its ante, all of them or none."""
        trial = ledger.above()
        verdict = self.fails.get(tx.hash, OK)
        messages = tx.body.messages if self.rules.checks_messages else ()
        for place, message in enumerate(messages):
            if verdict is OK:
                verdict = self._execute(trial, message, place)
        if verdict is OK:
            trial.settle()
        return self.ended(tx, verdict, self.gas_used(tx, size))

    def ended(self, tx: Read, verdict: AppVerdict, used: int) -> Delivered:
        signer, rules = raw_address(tx.public_key()), self.rules
        raw_name = f"{rules.prefix}1{signer.hex()}"
        name = self.address_of(signer) if rules.shows_address else raw_name
        return Delivered(verdict, gas_wanted(tx), used, (name,))

    def _execute(self, ledger: Ledger, message: Any, place: int) -> AppVerdict:
        """Execute a message that was checked before its transaction was let in."""
        if message.type_url == MsgSend.url:
            return self._send(ledger, decode(MsgSend, message.value), place)
        if message.type_url == MsgGrantAllowance.url:
            self._grant(ledger, decode(MsgGrantAllowance, message.value))
        return OK

    def _send(self, ledger: Ledger, message: MsgSend, place: int) -> AppVerdict:
        sender, receiver = self.raw_of(message.from_address), self.raw_of(message.to_address)
        account = ledger.account(sender)
        assert account is not None
        denom = self.rules.denom
        for coin in message.amount:
            has = account.balance if coin.denom == denom else 0
            if has < int(coin.amount):
                problem = f"failed to execute message; message index: {place}: spendable balance "
                funds = verdicts.no_funds(f"{has}{coin.denom}", f"{coin.amount}{coin.denom}")
                return AppVerdict(funds.code, problem + funds.log, funds.codespace)
        spent = amount_of(message.amount, denom)
        ledger.change(sender, balance=account.balance - spent)
        paid = ledger.account(receiver) or BankAccount(0)
        ledger.change(receiver, balance=paid.balance + spent)
        return OK

    def _grant(self, ledger: Ledger, message: MsgGrantAllowance) -> None:
        granter, grantee = self.raw_of(message.granter), self.raw_of(message.grantee)
        assert message.allowance is not None
        coins = decode(BasicAllowance, message.allowance.value).spend_limit
        left = amount_of(coins, self.rules.denom) if coins else None
        ledger.allow(granter, grantee, Grant(left))
        if ledger.account(grantee) is None:
            ledger.change(grantee)

    def gas_used(self, tx: Read, size: int) -> int:
        if self.rules.gas_used is not None:
            return self.rules.gas_used
        blobs = sum(share_count(len(one.data), one.share_version) for one in tx.blobs)
        inner = size - sum(len(one.data) for one in tx.blobs)
        return GAS_PER_TX + GAS_PER_BYTE * inner + GAS_PER_BLOB_BYTE * SHARE_BYTES * blobs


def understood(raw: bytes) -> Read | AppVerdict:
    """The transaction of these bytes, or the verdict with which every node refuses them."""
    try:
        found = read(raw)
        found.public_key()
    except (InvalidCosmos, AssertionError):
        return verdicts.PARSE
    return found


def blob_verdict(tx: Read, prefix: str) -> AppVerdict:
    """The verdict on whether a transaction's blobs are those that it pays for."""
    paying = [one for one in tx.body.messages if one.type_url == MsgPayForBlobs.url]
    if not tx.blobs:
        return verdicts.bad_blob(11_131, "no blobs provided") if paying else OK
    if len(tx.body.messages) > 1:
        return verdicts.bad_blob(11_129, "not yet supported: multiple sdk.Msgs found in BlobTx")
    if not paying:
        return verdicts.bad_blob(11_126, "no MsgPayForBlobs found in blob transaction")
    try:
        return paid_for(tx, decode(MsgPayForBlobs, paying[0].value), prefix)
    except InvalidCosmos as error:
        return verdicts.bad_blob(11_136, str(error))


def paid_for(tx: Read, message: MsgPayForBlobs, prefix: str) -> AppVerdict:
    blobs = [from_proto(one) for one in tx.blobs]
    signer = raw_address(tx.public_key())
    if message.signer != bech32.encode(prefix, signer):
        return verdicts.bad_blob(11_140, "invalid blob signer")
    for blob in blobs:
        check_blob(blob)
        if blob.share_version and blob.signer != signer:
            return verdicts.bad_blob(11_140, "invalid blob signer")
    claimed = (
        message.blob_sizes,
        message.namespaces,
        message.share_versions,
        message.share_commitments,
    )
    if any(len(one) != len(blobs) for one in claimed):
        return verdicts.bad_blob(11_125, "number of PFBs or blobs mismatched")
    for blob, size, namespace, version, committed in zip(blobs, *claimed, strict=True):
        if size != len(blob.data):
            return verdicts.bad_blob(11_113, "actual blob size differs from that specified in PFB")
        if (namespace, version) != (blob.namespace, blob.share_version):
            problem = "namespace of blob and its respective MsgPayForBlobs differ"
            return verdicts.bad_blob(11_127, problem)
        if committed != commitment(blob):
            return verdicts.bad_blob(11_116, "invalid commitment for create share")
    return OK


def gas_wanted(tx: Read) -> int:
    return 0 if tx.auth.fee is None else tx.auth.fee.gas_limit


def amount_of(coins: Sequence[Coin], denom: str) -> int:
    return sum(int(one.amount) for one in coins if one.denom == denom and is_valid((one,)))


def is_valid(coins: Sequence[Coin]) -> bool:
    """Whether the amounts are whole numbers above zero, each of a different coin."""
    denoms = [one.denom for one in coins]
    if len(dict.fromkeys(denoms)) < len(denoms) or "" in denoms:
        return False
    return all(AMOUNT.fullmatch(one.amount) for one in coins)


def coins_text(coins: Sequence[Coin]) -> str:
    return ",".join(f"{one.amount[:AMOUNT_DIGITS]}{one.denom}" for one in coins)
