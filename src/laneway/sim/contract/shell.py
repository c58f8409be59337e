"""Layer S3 of contract lanes: the shell and its performer, killed after any callback."""

from msgspec.structs import replace

from laneway.core.ids import LaneId, lane_key
from laneway.devnets.contract.model import ContractChain
from laneway.ports import ContractCall
from laneway.sim.contract.host import ContractGround
from laneway.sim.contract.plan import ContractPlan
from laneway.sim.contract.world import encode
from laneway.sim.shell_world import ShellWorld


class ContractShell(ContractGround, ShellWorld):
    def __init__(self, plan: ContractPlan) -> None:
        settings = replace(
            plan.settings,
            takes_parent=True,
            count_max=None,
            stale_retries_max=1_000,
            breaker_failures=max(3, plan.settings.breaker_failures),
        )
        super().__init__(replace(plan, settings=settings))
        self.chain = ContractChain(round_ms=plan.round_ms, slow_factor=4)
        self.wishes = [(self.lanes[n % plan.contracts], f"d{n}") for n in range(plan.intents)]

    def payload(self, lane: LaneId, data: str) -> bytes:
        return encode(ContractCall(lane_key(lane), "did:sim", data))

    def landed(self, lane: LaneId) -> list[str]:
        return [block.data for block in self.chain.history(lane_key(lane))[1:]]
