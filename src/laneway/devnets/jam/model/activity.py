"""What the chain counts of its validators, cores and services (Gray Paper 0.7.2, section 13)."""

from collections.abc import Iterable, Mapping, Sequence

from laneway.jam.extrinsic import Extrinsic
from laneway.jam.report import WorkReport
from laneway.jam.rules.activity import CountAndSum, core_activity, service_activity
from laneway.jam.spec import ChainSpec
from laneway.jam.state import Hashes, ServiceEntry, Statistics, ValidatorActivity


def statistics_after(
    before: Statistics,
    extrinsic: Extrinsic,
    *,
    is_new_epoch: bool,
    author: int,
    keys: Hashes,
    reporters: Iterable[bytes],
    available: Sequence[WorkReport],
    accumulated: Mapping[int, CountAndSum],
    spec: ChainSpec,
) -> Statistics:
    """π′. `keys` are those of the active validators, `reporters` of all who signed a guarantee."""
    idle = (ValidatorActivity(),) * spec.validator_count
    current = idle if is_new_epoch else before.current
    reports = [one.report for one in extrinsic.guarantees]
    signed = frozenset(reporters)
    guarantors = frozenset(place for place, key in enumerate(keys) if key in signed)
    services = service_activity(reports, _provided(extrinsic), accumulated)
    return Statistics(
        current=_active(current, extrinsic, author, guarantors),
        previous=before.current if is_new_epoch else before.previous,
        cores=core_activity(reports, available, extrinsic.assurances, spec),
        services=tuple(ServiceEntry(service, entry) for service, entry in services.items()),
    )


def _active(
    current: tuple[ValidatorActivity, ...],
    extrinsic: Extrinsic,
    author: int,
    guarantors: frozenset[int],
) -> tuple[ValidatorActivity, ...]:
    """Each validator's numbers after the block; one that did nothing keeps its own."""
    assurers = frozenset(one.validator_index for one in extrinsic.assurances)
    after = list(current)
    for place in sorted({author, *guarantors, *assurers}):
        one, preimages = current[place], extrinsic.preimages if place == author else ()
        after[place] = ValidatorActivity(
            one.blocks + (place == author),
            one.tickets,
            one.preimages + len(preimages),
            one.preimages_size + sum(len(preimage.blob) for preimage in preimages),
            one.guarantees + (place in guarantors),
            one.assurances + (place in assurers),
        )
    return tuple(after)


def _provided(extrinsic: Extrinsic) -> dict[int, CountAndSum]:
    found: dict[int, CountAndSum] = {}
    for preimage in extrinsic.preimages:
        old = found.get(preimage.requester, CountAndSum(0, 0))
        found[preimage.requester] = CountAndSum(old.count + 1, old.amount + len(preimage.blob))
    return found
