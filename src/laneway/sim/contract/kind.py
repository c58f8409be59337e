"""Worlds of contract lanes, as the simulator's table holds them."""

from laneway.sim.bugs import BUGS_SEEN, PERFORMERS_SEEN
from laneway.sim.contract.laws import ContractLaws
from laneway.sim.contract.plan import contract_plan
from laneway.sim.contract.shell import ContractShell
from laneway.sim.contract.world import ContractWorld
from laneway.sim.kinds import WorldKind, states

SOMETIMES = {
    "s1": states(
        """
        commit answer lost; conflict; crash:inside a commit; crash:after a commit; crash:before
        perform; crash:before answer; declared dead; lane released; fault:crash;
        fault:double_second_told; fault:lost; foreign writer; found on the chain; frozen; group
        of lanes; halted; host restarted; host unreachable; lane full; operator:cancel;
        operator:drain; operator:pause; owned by another; replayed; result:cancelled;
        result:confirmed; result:dead; result:expired; result:refused; second try; store busy;
        submit answer lost; not sent: the lease may be over; zombie refused
        """
    ),
    "s2": states(
        """
        commit answer lost; crash:inside a commit; crash:after a commit; found on the chain;
        second try; result:confirmed
        """
    ),
    "s3": states(
        """
        commit answer lost; killed; lived to the end; store busy; submit answer lost
        """
    ),
    "s1 bugs": (*BUGS_SEEN, *PERFORMERS_SEEN),
}

KIND = WorldKind(
    name="contract",
    plan=contract_plan,
    world=ContractWorld,
    laws=ContractLaws,
    shell=ContractShell,
    sometimes=SOMETIMES,
)
