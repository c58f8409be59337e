"""Two answers to one case: what differs, and the case told so that a reader can follow it."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct, structs
from tests.differential.assembly import disassemble
from tests.differential.case import Answer, Case

from laneway.evm.secp256k1 import address as address_of_secret

SHOWN_MAX = 12
"""Lines of difference; the first few say which kind it is."""
CODE_LINES_MAX = 120
RESULTS = ("gas", "status", "output", "logs", "receipt")


class Difference(Struct, frozen=True):
    """One thing on which the engines do not agree."""

    kind: str
    where: str
    oracle: str
    core: str

    def text(self) -> str:
        return f"{self.where}: {self.kind} is {self.oracle} for the oracle, {self.core} for laneway"


def is_judged(oracle: Answer) -> bool:
    """Whether the oracle came to a result, and did not fall over itself."""
    return all(result.get("is_judged", True) for result in oracle["transactions"])


def differences(oracle: Answer, core: Answer, results: Sequence[str] = RESULTS) -> list[Difference]:
    """`results` are what is compared of each transaction."""
    theirs, ours = oracle["accounts"], core["accounts"]
    found = [
        *transaction_differences(oracle, core, results),
        *_of_accounts(without_empty(theirs), ours),
    ]
    if not found:
        found += _of_the_whole(oracle, core)
    return found[:SHOWN_MAX]


def without_empty(accounts: dict[str, Any]) -> dict[str, Any]:
    """EELS leaves an account that exists and is empty as it is where it is called without value,
    and EIP-161 deletes it. No chain has one, so they count as absent."""
    return {address: account for address, account in accounts.items() if not is_empty(account)}


def is_empty(account: dict[str, Any]) -> bool:
    return account == {"nonce": "0x0", "balance": "0x0", "code": "0x", "storage": {}}


def _of_the_whole(oracle: Answer, core: Answer) -> Iterator[Difference]:
    """What is compared where all else is equal."""
    has_empty = any(map(is_empty, oracle["accounts"].values()))
    if "root" in oracle and not has_empty and oracle["root"] != core["root"]:
        yield Difference("state root", "all accounts", oracle["root"], core["root"])
    for law in core["broken"]:
        yield Difference("law", "laneway alone", "kept", law)


def transaction_differences(
    oracle: Answer, core: Answer, results: Sequence[str]
) -> Iterator[Difference]:
    pairs = zip(oracle["transactions"], core["transactions"], strict=True)
    for index, (theirs, ours) in enumerate(pairs):
        where = f"transaction {index}"
        if ("excluded" in theirs) != ("excluded" in ours):
            yield Difference("verdict", where, _verdict(theirs), _verdict(ours))
            continue
        if "excluded" in theirs:
            continue
        for name in results:
            if theirs[name] != ours[name]:
                yield Difference(
                    name,
                    f"{where} ({_verdict(theirs)}, {_verdict(ours)})",
                    _short(theirs[name]),
                    _short(ours[name]),
                )


def _verdict(result: dict[str, Any]) -> str:
    if "excluded" in result:
        return f"excluded: {result['excluded']}"
    return str(result["error"] or "success")


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 400 else f"{text[:400]}… ({len(text)} characters)"


def _of_accounts(oracle: dict[str, Any], core: dict[str, Any]) -> Iterator[Difference]:
    core = without_empty(core)
    for address in sorted({*oracle, *core}):
        theirs, ours = oracle.get(address), core.get(address)
        if theirs is None or ours is None:
            yield Difference("account", address, _short(theirs), _short(ours))
            continue
        for name in ("nonce", "balance", "code"):
            if theirs.get(name) != ours.get(name):
                yield Difference(name, address, _short(theirs.get(name)), _short(ours.get(name)))
        keys = sorted({*theirs["storage"], *ours["storage"]}, key=lambda key: int(key, 16))
        for key in keys:
            old, new = theirs["storage"].get(key, "0x0"), ours["storage"].get(key, "0x0")
            if old != new:
                yield Difference(f"storage {key}", address, old, new)


def story(case: Case, found: list[Difference]) -> str:
    """Everything that is needed to see it by hand."""
    block = case.block
    lines = [f"case {case.name}, {case.fork}, block {block.number}"]
    lines += [f"  {one.text()}" for one in found]
    fields = {name: getattr(block, name) for name in block.__struct_fields__ if name != "hashes"}
    lines.append("  block: " + ", ".join(f"{name} {_plain(it)}" for name, it in fields.items()))
    for index, draft in enumerate(case.drafts):
        made = draft.transaction
        shown = {
            name: getattr(made, name)
            for name in made.__struct_fields__
            if name not in ("signature", "sidecar") and getattr(made, name) not in (b"", ())
        }
        lines.append(f"  transaction {index}, type {made.type}, damage {draft.damage}")
        lines.append(f"    from {_plain(address_of_secret(draft.secret))}")
        lines += [f"    {name} {_plain(value)}" for name, value in shown.items()]
    for address, account in case.accounts.items():
        code = account.code
        lines.append(
            f"  account {_plain(address)}: nonce {account.nonce}, balance {account.balance_wei},"
            f" {len(code)} bytes of code"
        )
        if account.storage:
            held = ", ".join(f"{key:#x}: {value:#x}" for key, value in account.storage.items())
            lines.append(f"    storage {held}")
        listing = [f"    {at:5}  {text}" for at, text in disassemble(code)]
        lines += listing[:CODE_LINES_MAX]
        if len(listing) > CODE_LINES_MAX:
            lines.append(f"    … {len(listing) - CODE_LINES_MAX} more")
    return "\n".join(lines)


def _plain(value: Any) -> str:
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, tuple):
        return "[" + ", ".join(_plain(one) for one in value) + "]"
    if isinstance(value, Struct):
        return "(" + ", ".join(f"{_plain(one)}" for one in structs.astuple(value)) + ")"
    return str(value)
