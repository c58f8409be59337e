"""What can still become of a package on a fork, by the chain's own rules and the service's records.

It knows nothing of lanes. What it calls dead can never have an effect behind that block.
"""

from collections.abc import Callable

from laneway.devnets.jam.values import BlockUnavailable, Failed, Ready, Reportable
from laneway.jam.service.standing import Stand, Standing, standing_of
from laneway.jam.spec import TINY
from laneway.sim.bundle.maker import SERVICE, Maker, Packed
from laneway.sim.bundle.shown import Storage
from laneway.sim.bundle.sky import Sky


class Truth:
    def __init__(self, sky: Sky, maker: Maker, is_out: Callable[[bytes], bool]) -> None:
        self._sky = sky
        self._maker = maker
        self._is_out = is_out
        """Whether a guarantor has a package, or may have it soon."""

    def may_land(self, package: bytes, at: bytes) -> bool:
        """Whether its block had its effect by it up to this block, or may have it behind."""
        if not self._is_out(package):
            return False
        stand = self._standing(package, at).stand
        if stand is Stand.UNKNOWN:
            return self._may_accumulate(package, at)
        return stand is not Stand.REFUSED

    def _standing(self, package: bytes, at: bytes) -> Standing:
        model, node = self._sky.model, self._sky.eye(at)
        number = self._maker.blocks[self._maker.packages[package].block].number
        slot = model.made(node, at).slot
        return standing_of(Storage(model, node, at, SERVICE), package, number=number, slot=slot)

    def _may_accumulate(self, package: bytes, at: bytes) -> bool:
        """Whether the service was given it up to this block, or may be behind."""
        if self._standing(package, at).stand is not Stand.UNKNOWN:
            return True
        model, node = self._sky.model, self._sky.eye(at)
        if model.is_accumulated(node, at, package):
            return True
        packed = self._maker.packages[package]
        if not self._is_out(package) or not self._is_on_its_way(package, packed, at):
            return False
        return all(self._may_accumulate(one, at) for one in packed.prerequisites)

    def _is_on_its_way(self, package: bytes, packed: Packed, at: bytes) -> bool:
        model, node = self._sky.model, self._sky.eye(at)
        made = model.made(node, at)
        try:
            status = model.status(node, at, package, packed.anchor.header_hash)
        except BlockUnavailable:
            return False  # Its anchor is on no fork of this block, or long forgotten.
        if isinstance(status, Reportable):
            age = made.slot + 1 - packed.lookup_anchor.slot
            return age <= TINY.lookup_anchor_slots_max
        if isinstance(status, Ready):
            return package in made.queued  # Or it vanished without a word.
        return not isinstance(status, Failed)
