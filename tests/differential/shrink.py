"""Makes a case smaller while the engines still differ on it."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct, structs
from tests.differential.case import Case, CaseAccount
from tests.differential.world import account as address_of

Differs = Callable[[Case], bool]
TRIES_MAX = 1_500
"""Each try runs both engines; after as many the case is as small as it gets in a minute."""


class Shrinker(Struct):
    differs: Differs
    tries: int = 0

    def shrink(self, case: Case) -> Case:
        """The smallest case found."""
        while True:
            smaller = next(
                (one for one in candidates(case) if self._is_good(one)),
                None,
            )
            if smaller is None:
                return case
            case = smaller

    def _is_good(self, case: Case) -> bool:
        if self.tries >= TRIES_MAX:
            return False
        self.tries += 1
        return self.differs(case)


def without(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Shorter tuples: without a half, a quarter, … and at last without one item."""
    size = len(items)
    step = size
    while step:
        for begin in range(0, size, step):
            yield items[:begin] + items[begin + step :]
        step //= 2


def candidates(case: Case) -> Iterator[Case]:
    for drafts in without(case.drafts):
        if drafts:
            yield structs.replace(case, drafts=drafts)
    addresses = tuple(case.accounts)
    senders = {address_of(draft.secret) for draft in case.drafts}
    for kept in without(addresses):
        if senders & {*addresses} <= {*kept}:
            accounts = {address: case.accounts[address] for address in kept}
            yield structs.replace(case, accounts=accounts)
    for address, account in case.accounts.items():
        for smaller in smaller_accounts(account):
            if smaller.storage and not (smaller.nonce or smaller.balance_wei or smaller.code):
                # No chain has an account that is empty and stores something.
                continue
            yield structs.replace(case, accounts={**case.accounts, address: smaller})
    for index, draft in enumerate(case.drafts):
        for made in smaller_transactions(draft.transaction):
            changed = list(case.drafts)
            changed[index] = structs.replace(draft, transaction=made)
            yield structs.replace(case, drafts=tuple(changed))


def smaller_accounts(account: CaseAccount) -> Iterator[CaseAccount]:
    for program in without(account.program):
        yield structs.replace(account, program=program)
    for key in account.storage:
        fewer = {other: value for other, value in account.storage.items() if other != key}
        yield structs.replace(account, storage=fewer)
    for place, snippet in enumerate(account.program):
        for words in without(snippet):
            shorter = (*account.program[:place], words, *account.program[place + 1 :])
            yield structs.replace(account, program=shorter)
        for at, word in enumerate(snippet):
            if isinstance(word, bytes) and len(word) > 1:
                for fewer_bytes in without(tuple(word)):
                    words = (*snippet[:at], bytes(fewer_bytes), *snippet[at + 1 :])
                    shorter = (*account.program[:place], words, *account.program[place + 1 :])
                    yield structs.replace(account, program=shorter)


def smaller_transactions(made: Any) -> Iterator[Any]:
    if made.data:
        yield structs.replace(made, data=b"")
        for data in without(tuple(made.data)) if len(made.data) < 200 else ():
            yield structs.replace(made, data=bytes(data))
    if made.value_wei:
        yield structs.replace(made, value_wei=0)
    for name in ("access_list", "authorizations", "blob_hashes"):
        for fewer in without(getattr(made, name, ())):
            yield structs.replace(made, **{name: fewer})
