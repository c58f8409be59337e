"""Layer S3 of rollup lanes: the shell and the real performer, killed after any callback."""

from msgspec.structs import replace

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.engine.bundle.rollup import KIND
from laneway.sim.bundle.durable import Durable
from laneway.sim.bundle.maker import PoolRequest, encode_request
from laneway.sim.bundle.plan import RollupPlan
from laneway.sim.bundle.port import JamGround
from laneway.sim.shell_world import ShellWorld
from laneway.sim.world import LawBroken

INTENTS_MAX = 6

WAYS = {"!": "refuse", "~": "revert", "=": "later"}


class RollupShell(JamGround, ShellWorld):
    """The chain outlives every process."""

    callbacks_life_max = 400
    endings = {"!": Status.REFUSED, "~": Status.REVERTED}  # noqa: RUF012

    def __init__(self, plan: RollupPlan) -> None:
        # Nobody is there to wake a lane that has halted.
        settings = replace(plan.settings, drops_max=1_000)
        # And nobody else builds: what its laws read is what this lane made.
        faults = replace(plan.faults, stranger=0.0, second=0.0)
        # Nor does it say that a transaction is refused for how long it takes.
        chances = {"hopeless": 0.0, "overlong": 0.0, "help": 0.0}
        super().__init__(replace(plan, settings=settings, faults=faults, **chances))
        self._place = 0
        self._durable = Durable(
            self.lanes[0], self.plan.settings, self.network, self.maker, self.seen
        )
        self._statuses: dict[str, str] = {}
        """The final status of each wish."""
        self.wishes = [
            (self.lanes[0], self._data(n)) for n in range(min(plan.intents, INTENTS_MAX))
        ]

    def _data(self, number: int) -> str:
        """Some are in no block, some fail in theirs, some wait for the next."""
        return self._dice.choice(("", "", "", "", "!", "~", "=")) + f"d{number}"

    def sending(self, package: bytes) -> None:
        self.ask_law(self._check_submission, package)

    def _check_submission(self, package: bytes) -> None:
        self._read()
        self._durable.check_submission(package)

    def _read(self) -> None:
        """All that was committed since, under the laws of what is durable."""
        found = self.book.entries[self._place :]
        self._place += len(found)
        for entry in found:
            self._durable.take(self.kinds[KIND].decode(entry.records))

    def payload(self, _lane: LaneId, data: str) -> bytes:
        return encode_request(PoolRequest(data, WAYS.get(data[0], "send")))

    # The laws.

    def judge(self, data: str, result: Result) -> None:
        # What is put off too often, or with too many others, is refused in the end.
        if not data.startswith("=") or result.status != Status.REFUSED.value:
            super().judge(data, result)
        self._statuses[data] = result.status

    def check_chain(self) -> None:
        self._read()
        if problem := self.user_log.problem or self.builder_log.problem:
            raise LawBroken(problem)
        self._durable.check_line(self.network.best().header_hash)

    def landed(self, _lane: LaneId) -> list[str]:
        final = self.network.line(self.network.final().header_hash)
        inside = [one for record in final for one in self.maker.blocks[record.block].inside]
        return [request.data for request in inside]

    def check_results(self) -> None:
        data = self.landed(self.lanes[0])
        for _, wish in self.wishes:
            if (wish in data) == (self._statuses[wish] == Status.REFUSED.value):
                raise LawBroken(f"never lost: {wish}, and on the chain is {data}")
