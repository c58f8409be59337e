"""Worlds of rollup lanes, as the simulator's table holds them."""

from laneway.sim.bugs import BUGS_SEEN
from laneway.sim.bundle.laws import RollupLaws
from laneway.sim.bundle.plan import rollup_plan
from laneway.sim.bundle.shell import RollupShell
from laneway.sim.bundle.world import RollupWorld
from laneway.sim.kinds import WorldKind, states

SOMETIMES = {
    "s1": states(
        """
        a false death was believed; a line was not confirmed; a node showed a line of the service
        that is not; a node showed no final block; a node showed no parents of older blocks; a node
        showed no records of services; a node showed no states of older blocks; a node showed that
        packages failed; abandoned build finished; an old fork is back; an old version wins; answer
        lost; block dropped; block not built; block shrunk; block unmade; build given up in time;
        build too long; builder busy; builder mended; builder needs help; builder slow; builder
        waits for finality; bytes doubled; bytes late; cascade; clock jumped back; clock jumped
        forward; clock jumped while offering; clock set back; clock skewed; commit answer lost;
        condemned: bad_context; copy put back; crash while building; crash while offering;
        crash:after a commit; crash:before answer; crash:before perform; crash:inside a commit;
        dead: anchor_not_recent; dead: prerequisite; dead: unavailable; declared dead; discarded:
        its anchor grew too old before it was submitted; duplicate_accumulate; duplicate_guarantee;
        foreign block final; frozen; held by the service; hopeless; lane released; last commit lost;
        line moved by others; look failed; mode:halted; node unreachable; not sent: the lease may be
        over; nothing called expired yet; overdue; own block final above a foreign one; own block
        final below a foreign one; owned by another; package swallowed; recognised by the line;
        refused by all; refused by whim; refused:cancel; reorg took back accumulated; reorg took
        back dead; reorg took back reported; replayed; requeued; restored; resubmitted on another
        fork; result:cancelled; result:confirmed; result:expired; result:refused; result:reverted;
        returned transactions in a block; revived; same bytes resubmitted; second deployment builds
        on its own open block; second deployment's block final; sent again after a copy; settled by
        a foreign block's receipt; store busy; submitted in its window; taken over in flight; the
        builder did not hear; the user did not hear; told twice; undecided; v1 final beside v2; v1
        wins; v2 built; v2 final; v2 wins; v3 built; version not built; version_cancelled; window
        closed; zombie refused
        """
    ),
    "s2": states(
        """
        commit answer lost; crash while offering; crash:after a commit; crash:inside a commit; reorg
        took back reported; requeued; result:confirmed; same bytes resubmitted; taken over in
        flight; v2 wins
        """
    ),
    "s3": states(
        """
        abandoned build finished; answer lost; build given up in time; builder slow; bytes
        late; clock set back; commit answer lost; killed; lived to the end; reorg took back
        reported; requeued; same bytes resubmitted; store busy; the user did not hear; told
        twice; v2 wins; version not built
        """
    ),
    "s1 bugs": BUGS_SEEN,
}

KIND = WorldKind(
    name="rollup",
    plan=rollup_plan,
    world=RollupWorld,
    laws=RollupLaws,
    shell=RollupShell,
    sometimes=SOMETIMES,
)
