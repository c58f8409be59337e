"""Accumulating the reports of a block: rounds of gas, and what the services make of their operands.

What can be accumulated, and how far a round's gas goes, is decided by `laneway.jam.rules`; here the
services are called. They send no transfers to one another and change nothing but their storage.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from laneway.devnets.jam.model.state import ChainState
from laneway.jam.report import WorkReport
from laneway.jam.rules.activity import CountAndSum, accumulated_counts
from laneway.jam.rules.queueing import ServiceTurn, block_gas, round_count, turns
from laneway.jam.service.interface import Service
from laneway.jam.spec import ChainSpec
from laneway.jam.state import AccumulationOutput, ServiceAccount
from laneway.jam.state_keys import storage_key
from laneway.jam.trie import Trie

STORAGE_ITEM_OCTETS = 34
"""What an entry of a storage counts for, besides its name and value (Gray Paper 0.7.2, §9.3)."""


class AccumulationResult(Struct, frozen=True, kw_only=True):
    count: int
    """Of the reports, from the first on, that there was gas for."""
    outputs: tuple[AccumulationOutput, ...]
    """In the order of the rounds, and of the services in each."""
    storage: Mapping[bytes, bytes | None]
    """By the keys of the state."""
    accounts: Mapping[int, ServiceAccount]
    counted: Mapping[int, CountAndSum]
    """Results and gas, by service."""


def accumulate(
    before: ChainState,
    reports: Sequence[WorkReport],
    slot: int,
    services: Mapping[int, Service],
    spec: ChainSpec,
) -> AccumulationResult:
    """As many of the reports as gas allows, in rounds."""
    block = _Block(before, slot, services)
    count, gas = 0, block_gas(spec, {})
    while taken := round_count(reports[count:], gas):
        for turn in turns(reports[count : count + taken], {}):
            gas -= block.take(turn)
        count += taken
    counts = accumulated_counts(reports[:count])
    return AccumulationResult(
        count=count,
        outputs=tuple(block.outputs),
        storage=block.storage,
        accounts=block.accounts,
        counted={
            service: CountAndSum(number, block.gas_used.get(service, 0))
            for service, number in counts.items()
        },
    )


class _Block:
    """One block's accumulation under way."""

    def __init__(self, before: ChainState, slot: int, services: Mapping[int, Service]) -> None:
        self._trie = before.trie
        self._slot = slot
        self._services = services
        self.accounts = before.accounts
        self.storage: dict[bytes, bytes | None] = {}
        self.outputs: list[AccumulationOutput] = []
        self.gas_used: dict[int, int] = {}

    def take(self, turn: ServiceTurn) -> int:
        """Let one service have its turn; the gas that it used."""
        service = turn.service_id
        view = _View(service, self._trie, self.storage)
        done = self._services[service].accumulate(view, turn.operands, self._slot)
        account = replace(self.accounts[service], last_accumulation_slot=self._slot)
        for name, value in done.writes:
            account = _counting(account, name, view.read(name), value)
            self.storage[storage_key(service, name)] = value
        self.accounts = {**self.accounts, service: account}
        if done.yield_hash is not None:
            self.outputs.append(AccumulationOutput(service, done.yield_hash))
        gas_used = min(done.gas_used, turn.gas)
        self.gas_used[service] = self.gas_used.get(service, 0) + gas_used
        return gas_used


class _View:
    """A service's storage, with what earlier rounds wrote."""

    def __init__(self, service: int, trie: Trie, written: Mapping[bytes, bytes | None]) -> None:
        self._service = service
        self._trie = trie
        self._written = written

    def read(self, key: bytes, /) -> bytes | None:
        place = storage_key(self._service, key)
        if place in self._written:
            return self._written[place]
        return self._trie.get(place)


def _counting(
    account: ServiceAccount, name: bytes, old: bytes | None, new: bytes | None
) -> ServiceAccount:
    """The account with what an entry counts for now in place of what it counted for."""
    items, octets = account.items, account.octets
    if old is not None:
        items, octets = items - 1, octets - storage_octets(name, old)
    if new is not None:
        items, octets = items + 1, octets + storage_octets(name, new)
    return replace(account, items=items, octets=octets)


def storage_octets(name: bytes, value: bytes) -> int:
    return STORAGE_ITEM_OCTETS + len(name) + len(value)
