"""Worlds of sequence lanes, as the simulator's table holds them."""

from laneway.sim.bugs import BUGS_SEEN
from laneway.sim.kinds import WorldKind, states
from laneway.sim.sequence.laws import SequenceLaws
from laneway.sim.sequence.plan import cosmos_plan
from laneway.sim.sequence.shell import CosmosShell
from laneway.sim.sequence.world import CosmosWorld

SOMETIMES = {
    "s1": states(
        """
        account missing; answer lost; bytes doubled; bytes late; casualty landed behind a
        filler; commit answer lost; conflict refused; corrected; crash:after a commit;
        crash:before answer; crash:before perform; crash:inside a commit; declared dead;
        doubted; evicted by a mempool; fell out; filler landed; filler made; foreign
        transaction; forgotten; frozen; gate opened; gate:mempool_full; gate:no_funds;
        gate:wrong_sequence; indeterminate; lane released; making delayed; mempool lost on
        restart; node remembered; node says fee_too_low; node says in_mempool; node says
        timed_out; node says too_large; node says unauthorized; node says bad_blob; node
        stopped; nodes rewired; owned by another; proposals held; recovery entered; recovery
        left; refused:cancel; renumbered; replayed; result:cancelled; result:confirmed;
        result:expired; result:indeterminate; result:refused; result:reverted;
        retry:rate_limited; retry:silent; retry:unreachable; sequence set; set back:evicted; set
        back:rejected; set back:unknown; signed again after its timeout; signed again, refused;
        store busy; not sent: the lease may be over; unsure; zombie refused
        """
    ),
    "s1 lying": states(
        """
        honest nodes out of reach; lie that mattered:address; lie that mattered:expiry; lie that
        mattered:height; lie that mattered:inclusion; lie that mattered:missing; lie that
        mattered:network; lie that mattered:number; lie that mattered:offer; lie that
        mattered:origin; lie that mattered:proof; lie that mattered:sequence; failed before its
        number was taken; result:confirmed; result:expired; result:refused; shown; signed again
        after its timeout
        """
    ),
    "s2": states(
        """
        commit answer lost; crash:inside a commit; crash:after a commit; fell out; filler made;
        result:confirmed; set back:unknown; signed again after its timeout
        """
    ),
    "s3": states(
        """
        answer lost; bytes late; commit answer lost; evicted by a mempool; killed; lived to the
        end; mempool lost on restart; node says mempool_full; node says wrong_sequence; store
        busy
        """
    ),
    "s1 bugs": BUGS_SEEN,
}

KIND = WorldKind(
    name="cosmos",
    plan=cosmos_plan,
    world=CosmosWorld,
    laws=SequenceLaws,
    shell=CosmosShell,
    has_liars=True,
    sometimes=SOMETIMES,
)
