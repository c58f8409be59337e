"""Layer S3 of sequence lanes: the shell and the real performer, killed after any callback."""

from collections.abc import Sequence

from msgspec.structs import replace

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.cosmos.tx import read
from laneway.engine.sequence.drafts import encode_request
from laneway.sim.sequence.calls import GAS, UNMADE, address_of, request_of
from laneway.sim.sequence.plan import CosmosPlan
from laneway.sim.sequence.port import CosmosGround
from laneway.sim.shell_world import ShellWorld
from laneway.sim.world import LawBroken

INTENTS_MAX = 9
TIMEOUT_BLOCKS = 40
"""Nobody is killed for as long as bytes are valid: the other worlds show what happens then."""


class CosmosShell(CosmosGround, ShellWorld):
    """The chain outlives every process."""

    callbacks_life_max = 700
    endings = {UNMADE: Status.REFUSED, "~": Status.REVERTED}  # noqa: RUF012

    def __init__(self, plan: CosmosPlan) -> None:
        # Nobody else uses the accounts, and everyone can pay.
        settings = replace(
            plan.settings, nodes=plan.names, timeout_blocks=TIMEOUT_BLOCKS, attempts_max=8
        )
        # What only other worlds can judge is left to them.
        faults = replace(plan.faults, storm=0.0, blind=0.0)
        absent = dict.fromkeys(("foreign", "refuse", "mumble"), 0.0)
        never = dict.fromkeys(("poor", "absent", "untold"), False)
        super().__init__(
            replace(
                plan, settings=settings, faults=faults, proofs=True, slow=1.0, **absent, **never
            )
        )
        self.wishes = [
            (self.lanes[n % plan.accounts], self._data(n))
            for n in range(min(plan.intents, INTENTS_MAX))
        ]

    def _data(self, number: int) -> str:
        """Some can be no transaction, some fail in their block."""
        return self._dice.choice(("", "", "", "", UNMADE, "~")) + f"d{number}"

    def sending(self, _port: object, _node: str, raws: Sequence[bytes]) -> None:
        self.ask_law(self._check_recorded, raws)

    def _check_recorded(self, raws: Sequence[bytes]) -> None:
        """Bytes are durable before any node receives them; an intent's have an index."""
        for raw in raws:
            tx = read(raw)
            if tx.body.memo and self.book.find("hash", tx.hash.hex()) is None:
                raise LawBroken("never twice: bytes were sent unrecorded")

    def payload(self, lane: LaneId, data: str) -> bytes:
        way = {UNMADE: "hopeless", "~": "overspend"}.get(data[0], "send")
        gas = GAS if self.plan.prompt or way == "overspend" else None
        return encode_request(request_of(address_of(self.account(lane)), data, way, gas=gas))

    # The laws.

    def judge(self, data: str, result: Result) -> None:
        if result.status == Status.INDETERMINATE.value and self._is_withheld(data, result):
            return
        super().judge(data, result)
        if result.hash is not None and self.network.chain.committed(result.hash) is None:
            raise LawBroken(f"{data} is {result.status}, and not on the chain")

    def _is_withheld(self, data: str, result: Result) -> bool:
        """Whether too few honest nodes answered who used the number of this intent."""
        (lane,) = [lane for lane, wished in self.wishes if wished == data]
        place = (address_of(self.account(lane)), result.number)
        return place in self.network.withheld

    def landed(self, lane: LaneId) -> list[str]:
        own = address_of(self.account(lane))
        return [
            found.tx.body.memo
            for found in self.network.landed
            if found.delivered.signers[0] == own and found.tx.body.memo
        ]
