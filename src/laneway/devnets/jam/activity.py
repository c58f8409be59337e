"""What the chain counts of its validators, cores and services (Gray Paper 0.7.2, section 13)."""

from collections.abc import Iterable, Mapping, Sequence

from laneway.jam.extrinsic import Extrinsic
from laneway.jam.report import WorkReport
from laneway.jam.rules.activity import Counted, core_activity, service_activity
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
    accumulated: Mapping[int, Counted],
    spec: ChainSpec,
) -> Statistics:
    """π′. `keys` are those of the active validators, `reporters` of all who signed a guarantee."""
    idle = (ValidatorActivity(),) * spec.validator_count
    current = idle if is_new_epoch else before.current
    reports = [one.report for one in extrinsic.guarantees]
    services = service_activity(reports, _provided(extrinsic), accumulated)
    return Statistics(
        current=_active(current, extrinsic, author, _places(keys, reporters)),
        previous=before.current if is_new_epoch else before.previous,
        cores=core_activity(reports, available, extrinsic.assurances, spec),
        services=tuple(ServiceEntry(service, entry) for service, entry in services.items()),
    )


def _places(keys: Hashes, reporters: Iterable[bytes]) -> frozenset[int]:
    signed = frozenset(reporters)
    return frozenset(place for place, key in enumerate(keys) if key in signed)


def _active(
    current: tuple[ValidatorActivity, ...],
    extrinsic: Extrinsic,
    author: int,
    guarantors: frozenset[int],
) -> tuple[ValidatorActivity, ...]:
    """Each validator's numbers after the block; who did nothing keeps its own."""
    assurers = frozenset(one.validator_index for one in extrinsic.assurances)
    return tuple(
        _did(
            one,
            extrinsic,
            is_author=place == author,
            guaranteed=place in guarantors,
            assured=place in assurers,
        )
        if place == author or place in guarantors or place in assurers
        else one
        for place, one in enumerate(current)
    )


def _did(
    one: ValidatorActivity,
    extrinsic: Extrinsic,
    *,
    is_author: bool,
    guaranteed: bool,
    assured: bool,
) -> ValidatorActivity:
    preimages = extrinsic.preimages if is_author else ()
    return ValidatorActivity(
        one.blocks + is_author,
        one.tickets,
        one.preimages + len(preimages),
        one.preimages_size + sum(len(preimage.blob) for preimage in preimages),
        one.guarantees + guaranteed,
        one.assurances + assured,
    )


def _provided(extrinsic: Extrinsic) -> dict[int, Counted]:
    found: dict[int, Counted] = {}
    for preimage in extrinsic.preimages:
        old = found.get(preimage.requester, Counted(0, 0))
        counted = Counted(old.count + 1, old.amount + len(preimage.blob))
        found[preimage.requester] = counted
    return found
