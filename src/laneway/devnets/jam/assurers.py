"""The assurers: validators that say which reports of the parent block they hold shards of."""

from collections.abc import Callable, Collection

from laneway.devnets.jam.faults import Fault, Faults
from laneway.devnets.jam.transition import Draft
from laneway.jam.extrinsic import AvailAssurance, bitfield
from laneway.jam.rules.assuring import assurance_message


def assurances(
    draft: Draft,
    faults: Faults,
    has_member: Callable[[int], bool],
    unassured_cores: Collection[int] = (),
) -> tuple[AvailAssurance, ...]:
    """What the reachable validators say, in the order of their places; one that would vouch for
    nothing says nothing."""
    engaged = [core for core, report in enumerate(draft.before.pending) if report is not None]
    faults.bit(Fault.UNAVAILABLE, sum(1 for core in engaged if core in faults.unavailable_cores))
    dark = {*faults.unavailable_cores, *unassured_cores}
    cores = tuple(core for core in engaged if core not in dark)
    if not cores:
        return ()
    world, bits = draft.world, bitfield(cores, draft.world.spec)
    message = assurance_message(draft.parent, bits)
    made: list[AvailAssurance] = []
    for place, key in enumerate(draft.before.era.active_keys):
        validator = world.keyring.number(key)
        if not has_member(validator):
            faults.bit(Fault.PARTITION)
        elif validator in faults.silent_assurers:
            faults.bit(Fault.SILENT_ASSURER)
        else:
            made.append(
                AvailAssurance(
                    anchor=draft.parent,
                    bitfield=bits,
                    validator_index=place,
                    signature=world.keyring.sign_as(validator, message),
                )
            )
    return tuple(made)
