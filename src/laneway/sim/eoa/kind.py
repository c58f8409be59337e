"""Worlds of account lanes, as the simulator's table holds them."""

from laneway.sim.bugs import BUGS_SEEN
from laneway.sim.eoa.laws import EoaLaws
from laneway.sim.eoa.plan import eoa_plan
from laneway.sim.eoa.shell import EoaShell
from laneway.sim.eoa.world import EoaWorld
from laneway.sim.kinds import WorldKind, states

SOMETIMES = {
    "s1": states(
        """
        answer lost; bump; bytes doubled; bytes late; cancel lost; cancel won; caps raised;
        commit answer lost; crash:after a commit; crash:before answer; crash:before perform;
        crash:inside a commit; declared dead; dropped by a pool; fee lie; fee storm; fell out;
        foreign replaced; fork seen; frozen; funds are back; gap filled; lane released; no-op
        filled; node behind; node says insufficient_funds; node says oversized; node says
        pool_full; node says replacement_underpriced; number freed; offered before its time was
        over; outage; out of funds; owned by another; parked by cap; poison ended; pool lost on
        restart; recycled nonce reused; reorg took back included; replayed; reset;
        result:cancelled; result:confirmed; result:expired; result:refused; result:reverted;
        returned intent claimed; signed under a cap on spending; store busy; taken in a row; not
        sent: the lease may be over; zombie refused
        """
    ),
    "s1 lying": states(
        """
        count outvoted; foreign replaced; inclusion denied; lie:absent; lie:branch; lie:count;
        lie:head; lie:inclusion; lie:network; lie:owner; lie:receipt; lie:refusal; receipt
        outvoted; result:confirmed; result:reverted
        """
    ),
    "s2": states(
        """
        bump; commit answer lost; crash:inside a commit; crash:after a commit; number freed;
        reorg took back included; result:confirmed
        """
    ),
    "s3": states(
        """
        commit answer lost; killed; lived to the end; reorg; store busy
        """
    ),
    "s1 bugs": BUGS_SEEN,
}

KIND = WorldKind(
    name="eoa",
    plan=eoa_plan,
    world=EoaWorld,
    laws=EoaLaws,
    shell=EoaShell,
    has_liars=True,
    sometimes=SOMETIMES,
)
