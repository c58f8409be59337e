from collections.abc import Mapping

from msgspec.structs import replace
from tests.devnets.jam.stage import ECHO, Echo, setup
from tests.jam.rules.stage import report

from laneway.devnets.jam.model.accumulation import AccumulationResult, accumulate
from laneway.devnets.jam.model.genesis import begun
from laneway.devnets.jam.model.keyring import Keyring
from laneway.devnets.jam.model.state import ChainState
from laneway.devnets.jam.model.values import ServiceSetup
from laneway.jam.report import Ok, WorkError, WorkReport
from laneway.jam.rules.activity import CountAndSum
from laneway.jam.service.interface import Accumulation, Operand, StorageView
from laneway.jam.spec import TINY
from laneway.jam.state_keys import storage_key

OTHER = 9
COUNT, LAST = storage_key(ECHO, b"count"), storage_key(ECHO, b"last")


def first(storage: Mapping[bytes, bytes] | None = None) -> ChainState:
    services = {
        ECHO: ServiceSetup(service=Echo(), storage=storage or {}),
        OTHER: ServiceSetup(service=Echo()),
    }
    _, state = begun(setup(services=services), Keyring(TINY, 0, signs=False))
    return state


def work(name: str, *services: int, gas: int = 1_000, panics: bool = False) -> WorkReport:
    made = report(name)
    outcome = WorkError.PANIC if panics else Ok(name.encode())
    results = tuple(
        replace(made.results[0], service_id=service, accumulate_gas=gas, result=outcome)
        for service in services
    )
    return replace(made, results=results)


def run(before: ChainState, *reports: WorkReport) -> AccumulationResult:
    return accumulate(before, reports, 5, {ECHO: Echo(), OTHER: Echo()}, TINY)


def test_services_accumulate_in_their_order_what_the_reports_bring_them() -> None:
    done = run(first(), work("1", OTHER, ECHO), work("2", ECHO))
    assert done.count == 2
    assert [output.service_id for output in done.outputs] == [ECHO, OTHER]
    assert done.storage[COUNT] == bytes([2, 0, 0, 0])
    assert done.storage[LAST] == b"2"
    assert done.storage[storage_key(OTHER, b"last")] == b"1"
    assert done.counted == {ECHO: CountAndSum(2, 100), OTHER: CountAndSum(1, 100)}
    assert done.accounts[ECHO].last_accumulation_slot == 5


def test_a_block_without_reports_changes_nothing() -> None:
    before = first()
    done = run(before)
    assert (done.count, done.outputs, done.storage, done.counted) == (0, (), {}, {})
    assert done.accounts is before.accounts


def test_an_account_counts_what_is_in_its_storage() -> None:
    before = first({b"count": b"\x01", b"last": b"before"})
    assert (before.accounts[ECHO].items, before.accounts[ECHO].octets) == (2, 2 * 34 + 9 + 7)
    done = run(before, work("said", ECHO))
    assert (done.accounts[ECHO].items, done.accounts[ECHO].octets) == (2, 2 * 34 + 9 + 8)
    gone = run(before, work("said", ECHO, panics=True))
    assert gone.storage[LAST] is None
    assert (gone.accounts[ECHO].items, gone.accounts[ECHO].octets) == (1, 34 + 9)
    assert gone.outputs == ()


def test_what_one_round_leaves_of_the_gas_is_there_for_the_next() -> None:
    big = [work(name, ECHO, gas=10_000_000) for name in ("1", "2", "3")]
    done = run(first(), *big)
    assert done.count == 3
    assert done.storage[COUNT] == bytes([3, 0, 0, 0])
    assert [output.service_id for output in done.outputs] == [ECHO, ECHO]
    assert done.counted == {ECHO: CountAndSum(3, 200)}


class Glutton(Echo):
    """It uses all that it has, and says that it used more."""

    def accumulate(
        self, view: StorageView, operands: tuple[Operand, ...], slot: int, /
    ) -> Accumulation:
        return Accumulation(gas_used=1 << 40)


def test_reports_wait_when_the_gas_is_used_up_and_no_service_uses_more_than_it_has() -> None:
    big = [work(name, ECHO, gas=10_000_000) for name in ("1", "2", "3")]
    done = accumulate(first(), big, 5, {ECHO: Glutton()}, TINY)
    assert done.count == 2
    assert done.counted == {ECHO: CountAndSum(2, 20_000_000)}
