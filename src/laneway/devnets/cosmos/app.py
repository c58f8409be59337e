"""What the application does with a transaction: the checks before it in the SDK's order, and its
messages. Pure."""

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
from laneway.devnets.cosmos import words
from laneway.devnets.cosmos.ledger import Account, Grant, Ledger
from laneway.devnets.cosmos.limits import (
    BLOBS_TXS_PER_BLOCK_MAX,
    BLOCK_BYTES_MAX,
    GAS_PER_BLOB_BYTE,
    GAS_PER_BYTE,
    GAS_PER_TX,
    GAS_PRICE_MICRO,
)
from laneway.devnets.cosmos.words import OK, Verdict

MICRO = 1_000_000
ADDRESS_BYTES = 20
AMOUNT_DIGITS = 78
"""Of 256 bits."""
AMOUNT = re.compile(rf"[1-9][0-9]{{0,{AMOUNT_DIGITS - 1}}}")


class Mode(Enum):
    """Why a transaction is looked at."""

    CHECK = auto()
    RECHECK = auto()
    DELIVER = auto()
    SIMULATE = auto()


class Rules(Struct, frozen=True):
    """What one chain does its own way."""

    chain_id: str = "laneway-dev"
    prefix: str = "celestia"
    denom: str = "utia"
    checks_signatures: bool = True
    opens_accounts: bool = False
    """Whether an account that nobody funded may send; a recorded application let it."""
    gas_used: int | None = None
    """Of every transaction; None: by its size and its blobs."""
    shows_address: bool = True
    """Whether signers are told by their address; a recorded application told the bytes."""
    checks_messages: bool = True
    """Whether messages are carried out, and blobs compared to what is paid for."""
    block_bytes_max: int = BLOCK_BYTES_MAX
    blob_txs_max: int = BLOBS_TXS_PER_BLOCK_MAX
    """Of one block."""
    keeps_blobs: bool = True
    """Whether blobs are still there when their block is made; gigabytes of them would fill the
    memory."""


class Delivered(Struct, frozen=True):
    """What came of a transaction in a block."""

    verdict: Verdict
    gas_wanted: int
    gas_used: int
    signers: tuple[str, ...]


class App:
    """The rules, and switches that a test may turn."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.price_micro = GAS_PRICE_MICRO
        """The least that a node takes for a unit of gas, in millionths."""
        self.fails: dict[bytes, Verdict] = {}
        """Executions that end so, by the hash of their transaction."""
        self.ante_fails: dict[bytes, Verdict] = {}
        """Transactions that end so in their next block before their fee and their sequence are
        taken, as on a chain whose proposers look at nothing."""

    # Before a transaction.

    def ante(self, ledger: Ledger, tx: Read, size: int, height: int, mode: Mode) -> Verdict:
        """Take its fee and its sequence, or say why not; then nothing was changed."""
        trial = ledger.above()
        try:
            verdict = self._ante(trial, tx, size, height, mode)
        except InvalidCosmos:
            return words.PARSE
        if verdict is OK:
            trial.settle()
        return verdict

    def _ante(self, ledger: Ledger, tx: Read, size: int, height: int, mode: Mode) -> Verdict:
        if self.rules.checks_messages and mode in (Mode.CHECK, Mode.SIMULATE):
            verdict = self._basic(tx)
            if verdict is not OK:
                return verdict
        timeout = tx.body.timeout_height
        if timeout and height > timeout:
            return words.timed_out(height, timeout)
        verdict = self._fee(ledger, tx, mode)
        if verdict is not OK:
            return verdict
        wanted = gas_wanted(tx)
        used = self.gas_used(tx, size)
        if mode is not Mode.SIMULATE and used > wanted and self.rules.gas_used is None:
            return words.out_of_gas(wanted, used)
        return self._signed(ledger, tx, mode)

    def _basic(self, tx: Read) -> Verdict:
        """Whether it can be carried out at all."""
        fee = tx.auth.fee
        if fee is not None and not is_valid(fee.amount):
            return words.bad_coins(told_coins(fee.amount))
        signer = bech32.encode(self.rules.prefix, raw_address(tx.public_key()))
        if fee is not None and fee.payer not in ("", signer):
            return words.not_signed(0, tx.sequence(), self.rules.chain_id)
        for message in tx.body.messages:
            verdict = self._basic_message(message, signer, tx)
            if verdict is not OK:
                return verdict
        return blob_verdict(tx, self.rules.prefix)

    def _basic_message(self, message: Any, signer: str, tx: Read) -> Verdict:
        match message.type_url:
            case MsgSend.url:
                sent = decode(MsgSend, message.value)
                self.raw_of(sent.to_address)
                if not sent.amount or not is_valid(sent.amount):
                    return words.bad_coins(told_coins(sent.amount))
                from_address = sent.from_address
            case MsgGrantAllowance.url:
                granted = decode(MsgGrantAllowance, message.value)
                self.raw_of(granted.grantee)
                allowance = granted.allowance
                if allowance is None or allowance.type_url != BasicAllowance.url:
                    return words.unknown_message("" if allowance is None else allowance.type_url)
                from_address = granted.granter
            case MsgPayForBlobs.url:
                return OK
            case url:
                return words.unknown_message(url)
        is_own = from_address == signer
        return OK if is_own else words.not_signed(0, tx.sequence(), self.rules.chain_id)

    def raw_of(self, address: str) -> bytes:
        """The bytes of an address of this chain; MalformedAddress else."""
        prefix, raw = bech32.decode(address)
        if prefix != self.rules.prefix or len(raw) != ADDRESS_BYTES:
            problem = f"it is none of {self.rules.prefix}"
            raise MalformedAddress(address=address, problem=problem)
        return raw

    def _fee(self, ledger: Ledger, tx: Read, mode: Mode) -> Verdict:
        rules, fee = self.rules, tx.auth.fee
        paid = 0 if fee is None else amount_of(fee.amount, rules.denom)
        if mode in (Mode.CHECK, Mode.RECHECK):
            required = -(-gas_wanted(tx) * self.price_micro // MICRO)
            if paid < required:
                return words.fee_too_low(f"{paid}{rules.denom}", f"{required}{rules.denom}")
        if rules.opens_accounts:
            return OK
        signer = raw_address(tx.public_key())
        payer = signer
        if fee is not None and fee.granter:
            payer = self.raw_of(fee.granter)
            verdict = self._granted(ledger, payer, signer, paid)
            if verdict is not OK:
                return verdict
        account = ledger.account(payer)
        if account is None:
            return words.no_account(bech32.encode(rules.prefix, payer))
        if account.balance < paid:
            return words.no_funds(f"{account.balance}{rules.denom}", f"{paid}{rules.denom}")
        ledger.change(payer, balance=account.balance - paid)
        return OK

    def _granted(self, ledger: Ledger, granter: bytes, grantee: bytes, paid: int) -> Verdict:
        grant = ledger.grant(granter, grantee)
        if grant is None:
            named = (bech32.encode(self.rules.prefix, one) for one in (granter, grantee))
            return words.no_grant(*named)
        if grant.left is not None:
            if grant.left < paid:
                return words.grant_spent()
            ledger.allow(granter, grantee, Grant(grant.left - paid))
        return OK

    def _signed(self, ledger: Ledger, tx: Read, mode: Mode) -> Verdict:
        """Sequence first, as the SDK does; the signature is not looked at twice."""
        rules, signer = self.rules, raw_address(tx.public_key())
        account = ledger.account(signer)
        if account is None:
            if not rules.opens_accounts:
                return words.no_account(bech32.encode(rules.prefix, signer))
            account = ledger.change(signer)
        if tx.sequence() != account.sequence:
            return words.wrong_sequence(account.sequence, tx.sequence())
        is_looked_at = rules.checks_signatures and mode in (Mode.CHECK, Mode.DELIVER)
        if is_looked_at and not is_signed(tx, rules.chain_id, account.number):
            return words.not_signed(account.number, account.sequence, rules.chain_id)
        key = tx.public_key()
        ledger.change(signer, sequence=account.sequence + 1, public_key=key)
        return OK

    # Its messages.

    def deliver(self, ledger: Ledger, tx: Read, size: int) -> Delivered:
        """After its ante: what its messages do, all of them or none."""
        trial = ledger.above()
        verdict = self.fails.get(tx.hash, OK)
        messages = tx.body.messages if self.rules.checks_messages else ()
        for place, message in enumerate(messages):
            if verdict is OK:
                verdict = self._execute(trial, message, place)
        if verdict is OK:
            trial.settle()
        return self.ended(tx, verdict, self.gas_used(tx, size))

    def ended(self, tx: Read, verdict: Verdict, used: int) -> Delivered:
        signer = raw_address(tx.public_key())
        rules = self.rules
        named = (
            bech32.encode(rules.prefix, signer)
            if rules.shows_address
            else (f"{rules.prefix}1{signer.hex()}")
        )
        return Delivered(verdict, gas_wanted(tx), used, (named,))

    def _execute(self, ledger: Ledger, message: Any, place: int) -> Verdict:
        """Of a message that was checked before it was let in."""
        if message.type_url == MsgSend.url:
            return self._send(ledger, decode(MsgSend, message.value), place)
        if message.type_url == MsgGrantAllowance.url:
            self._grant(ledger, decode(MsgGrantAllowance, message.value))
        return OK

    def _send(self, ledger: Ledger, message: MsgSend, place: int) -> Verdict:
        sender, receiver = self.raw_of(message.from_address), self.raw_of(message.to_address)
        account = ledger.account(sender)
        assert account is not None
        denom = self.rules.denom
        for coin in message.amount:
            has = account.balance if coin.denom == denom else 0
            if has < int(coin.amount):
                problem = f"failed to execute message; message index: {place}: spendable balance "
                funds = words.no_funds(f"{has}{coin.denom}", f"{coin.amount}{coin.denom}")
                return Verdict(funds.code, problem + funds.log, funds.codespace)
        spent = amount_of(message.amount, denom)
        ledger.change(sender, balance=account.balance - spent)
        found = ledger.account(receiver) or Account(0)
        ledger.change(receiver, balance=found.balance + spent)
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


def understood(raw: bytes) -> Read | Verdict:
    """The transaction, or why no node takes these bytes."""
    try:
        found = read(raw)
        found.public_key()
    except (InvalidCosmos, AssertionError):
        return words.PARSE
    return found


def blob_verdict(tx: Read, prefix: str) -> Verdict:
    """Whether its blobs are those that it pays for."""
    paying = [one for one in tx.body.messages if one.type_url == MsgPayForBlobs.url]
    if not tx.blobs:
        return words.bad_blob(11_131, "no blobs provided") if paying else OK
    if len(tx.body.messages) > 1:
        return words.bad_blob(11_129, "not yet supported: multiple sdk.Msgs found in BlobTx")
    if not paying:
        return words.bad_blob(11_126, "no MsgPayForBlobs found in blob transaction")
    try:
        return paid_for(tx, decode(MsgPayForBlobs, paying[0].value), prefix)
    except InvalidCosmos as error:
        return words.bad_blob(11_136, str(error))


def paid_for(tx: Read, message: MsgPayForBlobs, prefix: str) -> Verdict:
    blobs = [from_proto(one) for one in tx.blobs]
    signer = raw_address(tx.public_key())
    if message.signer != bech32.encode(prefix, signer):
        return words.bad_blob(11_140, "invalid blob signer")
    for blob in blobs:
        check_blob(blob)
        if blob.share_version and blob.signer != signer:
            return words.bad_blob(11_140, "invalid blob signer")
    told = (
        message.blob_sizes,
        message.namespaces,
        message.share_versions,
        message.share_commitments,
    )
    if any(len(one) != len(blobs) for one in told):
        return words.bad_blob(11_125, "number of PFBs or blobs mismatched")
    for blob, size, namespace, version, committed in zip(blobs, *told, strict=True):
        if size != len(blob.data):
            return words.bad_blob(11_113, "actual blob size differs from that specified in PFB")
        if (namespace, version) != (blob.namespace, blob.share_version):
            return words.bad_blob(
                11_127, "namespace of blob and its respective MsgPayForBlobs differ"
            )
        if committed != commitment(blob):
            return words.bad_blob(11_116, "invalid commitment for create share")
    return OK


def gas_wanted(tx: Read) -> int:
    return 0 if tx.auth.fee is None else tx.auth.fee.gas_limit


def amount_of(coins: Sequence[Coin], denom: str) -> int:
    return sum(int(one.amount) for one in coins if one.denom == denom and is_valid((one,)))


def is_valid(coins: Sequence[Coin]) -> bool:
    """Whole amounts above zero, each of a coin of its own."""
    denoms = [one.denom for one in coins]
    if len(dict.fromkeys(denoms)) < len(denoms) or "" in denoms:
        return False
    return all(AMOUNT.fullmatch(one.amount) for one in coins)


def told_coins(coins: Sequence[Coin]) -> str:
    return ",".join(f"{one.amount[:AMOUNT_DIGITS]}{one.denom}" for one in coins)
