"""How far the gas of a block goes, and who accumulates with it (Gray Paper 0.7.2, §§12.2 and 12.3).

A block accumulates in rounds. A round takes as many reports as their gas limits allow, and what
its services leave of the gas is there for the next. What a service does in a round, how much gas
it uses, and the transfers that it sends are not decided here.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Final

import msgspec

from laneway.jam.report import WorkReport
from laneway.jam.service.interface import Operand
from laneway.jam.spec import ACCUMULATE_GAS_MAX, FULL, TINY, ChainSpec

BLOCK_GAS: Final = {TINY.name: 20_000_000, FULL.name: 3_500_000_000}
"""G_T: what the blocks of a chain have for accumulation, by the chain's name."""


class ServiceTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One service's part in a round."""

    service_id: int
    gas: int
    """All it may use: the limits of its results, and what it may use for nothing."""
    operands: tuple[Operand, ...]
    """In the order of the reports, and of the results in each."""


def block_gas(spec: ChainSpec, free: Mapping[int, int]) -> int:
    """What the first round may hand out; `free` is the gas of the services that always accumulate.

    Every core may bring a report with all the gas of one, so a chain never has less than that."""
    cores = ACCUMULATE_GAS_MAX * spec.core_count + sum(free.values())
    return max(BLOCK_GAS.get(spec.name, 0), cores)


def accumulate_gas(report: WorkReport) -> int:
    return sum(result.accumulate_gas for result in report.results)


def round_count(reports: Sequence[WorkReport], gas: int) -> int:
    """How many of the reports a round takes: as many from the first on as their limits allow."""
    totals = accumulate(accumulate_gas(report) for report in reports)
    return sum(1 for _ in takewhile(lambda total: total <= gas, totals))


def turns(reports: Iterable[WorkReport], free: Mapping[int, int]) -> tuple[ServiceTurn, ...]:
    """The services that accumulate in a round of these reports, in ascending order.

    Only the first round has `free` gas in it: a service with some accumulates without a report."""
    operands: dict[int, list[Operand]] = {service: [] for service in free}
    for report in reports:
        for result in report.results:
            operands.setdefault(result.service_id, []).append(
                Operand(
                    package_hash=report.package_spec.hash,
                    exports_root=report.package_spec.exports_root,
                    authorizer_hash=report.authorizer_hash,
                    payload_hash=result.payload_hash,
                    gas=result.accumulate_gas,
                    result=result.result,
                    auth_trace=report.auth_output,
                )
            )
    return tuple(
        ServiceTurn(
            service_id=service,
            gas=free.get(service, 0) + sum(one.gas for one in operands[service]),
            operands=tuple(operands[service]),
        )
        for service in sorted(operands)
    )
