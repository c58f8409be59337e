"""One node of three that says what is not so, as long as there are faults."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from laneway.core.cosmos import (
    CommittedAccount,
    CosmosLook,
    OfferAnswer,
    OfferKind,
    TxSeen,
    TxStanding,
)
from laneway.core.ids import LaneId
from laneway.core.outcome import Outcome
from laneway.sim.sequence.plan import EXPIRY

if TYPE_CHECKING:
    from laneway.sim.sequence.port import CosmosGround

CLIMB_BLOCKS = 200
"""By which its heights rise with every answer."""
REFUSALS = (
    OfferKind.REFUSED,
    OfferKind.FEE_TOO_LOW,
    OfferKind.WRONG_SEQUENCE,
    OfferKind.TIMED_OUT,
    OfferKind.UNAUTHORIZED,
    OfferKind.MALFORMED,
)
CODES = (0, 5, 11)


class SignedBytes(Struct, frozen=True):
    """What was signed once, for the laws: whose bytes a hash is."""

    lane: LaneId
    sequence: int
    data: str
    """Empty for a filler."""
    timeout_height: int


class Liar:
    """Changes what one node says; what it did stays as it is."""

    def __init__(self, world: "CosmosGround", made: Mapping[bytes, SignedBytes]) -> None:
        self._world = world
        self._made = made
        self._dice = world.plan.rng("liar")
        self._climbed = 0
        self._counted: dict[str, int] = {}
        """Accounts as they were when it first called what it took too late."""

    def _lies(self, node: str, about: str) -> bool:
        world, plan = self._world, self._world.plan
        if not world.is_faulty or node != plan.liar or about not in plan.lies:
            return False
        if self._dice.random() >= plan.lie:
            return False
        world.seen[f"lie:{about}"] += 1
        return True

    def _denies(self, node: str) -> bool:
        """Whether it takes bytes, calls them too late and never counts them; it does so always."""
        plan = self._world.plan
        return self._world.is_faulty and node == plan.liar and EXPIRY in plan.lies

    def _mattered(self, about: str, *, is_so: bool) -> None:
        """A lie that would have changed something, had it been believed."""
        self._world.seen[f"lie that mattered:{about}"] += is_so

    # What it shows.

    def look(self, look: CosmosLook) -> CosmosLook:
        node = look.node
        if self._lies(node, "height"):
            look = self._climbing(look)
        if look.account is not None and self._lies(node, "sequence"):
            look = self._counting(look, look.account)
        if look.account is not None and self._lies(node, "number"):
            look = replace(look, account=replace(look.account, number=look.account.number + 1))
            self._mattered("number", is_so=True)
        if self._lies(node, "missing"):
            self._mattered("missing", is_so=look.account is not None)
            look = replace(look, account=None, address="")
        if self._lies(node, "network"):
            look = replace(look, network="another", account=CommittedAccount(0, 500))
            self._mattered("network", is_so=True)
        if self._lies(node, "address"):
            look = replace(look, address="celestia1other", account=CommittedAccount(3, 500))
            self._mattered("address", is_so=True)
        if self._lies(node, "origin"):
            look = replace(look, origin=self._dice.randbytes(32))
            self._mattered("origin", is_so=True)
        if look.account is not None and self._denies(node):
            sequence = self._counted.setdefault(look.address, look.account.sequence)
            unseen = tuple([TxSeen(one.hash, TxStanding.UNKNOWN) for one in look.txs])
            account = replace(look.account, sequence=sequence)
            self._mattered(EXPIRY, is_so=sequence < look.account.sequence)
            look = replace(look, account=account, txs=unseen)
        txs = [self._landed(one) if self._lies(node, "inclusion") else one for one in look.txs]
        if node == self._world.plan.liar:
            view = f"{look.account} of {look.address} on {look.network}"
            self._world.note(f"{node} shows {view} at block {look.height}")
        return replace(look, txs=tuple(txs))

    def _climbing(self, look: CosmosLook) -> CosmosLook:
        """Ever higher, or back at the beginning."""
        if self._dice.random() < 0.1:
            return replace(look, height=0)
        self._climbed += CLIMB_BLOCKS
        height = look.height + self._climbed
        made = [self._made[one.hash] for one in look.txs if one.hash in self._made]
        is_alive = any(look.height <= one.timeout_height < height for one in made)
        self._mattered("height", is_so=is_alive)
        return replace(look, height=height)

    def _counting(self, look: CosmosLook, account: CommittedAccount) -> CosmosLook:
        wrong = max(0, account.sequence + self._dice.choice((-3, -1, 1, 2, 500)))
        self._mattered("sequence", is_so=wrong != account.sequence and bool(look.txs))
        return replace(look, account=replace(account, sequence=wrong))

    def _landed(self, seen: TxSeen) -> TxSeen:
        """In a block in which it is not, or in none."""
        self._mattered("inclusion", is_so=True)
        if seen.standing is TxStanding.COMMITTED and self._dice.random() < 0.5:
            return TxSeen(seen.hash, self._dice.choice((TxStanding.UNKNOWN, TxStanding.REJECTED)))
        height = self._dice.randint(1, self._world.network.chain.height + 2)
        code = self._dice.choice(CODES)
        return TxSeen(seen.hash, TxStanding.COMMITTED, height, code, "sdk" if code else "")

    # What it answers.

    def drops(self, node: str) -> bool:
        """Whether it says that it took what it throws away."""
        return self._dice.random() < 0.5 and self._lies(node, "offer")

    def answer(self, answer: OfferAnswer) -> OfferAnswer:
        """A no to what it took."""
        is_taken = answer.kind.outcome() is Outcome.ACCEPTED
        if is_taken and self._denies(answer.node):
            return OfferAnswer(answer.node, OfferKind.TIMED_OUT, 30, "sdk", "a lie")
        if not is_taken or not self._lies(answer.node, "offer"):
            return answer
        self._mattered("offer", is_so=True)
        kind = self._dice.choice(REFUSALS)
        wanted = self._dice.randrange(20) if kind is OfferKind.WRONG_SEQUENCE else None
        return OfferAnswer(answer.node, kind, 1, "x", "a lie", wanted)

    def proof(self, node: str, seen: TxSeen | None) -> TxSeen | None:
        """Someone else used the number, or one of our own transactions did."""
        if not self._lies(node, "proof"):
            return seen
        self._mattered("proof", is_so=True)
        hash_ = self._dice.choice([self._dice.randbytes(32), *list(self._made)[-3:]])
        return TxSeen(hash_, TxStanding.COMMITTED, self._world.network.chain.height, 0)
