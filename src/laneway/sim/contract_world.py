"""A world of contract lanes: their machine, the contract devnet's model, and who uses them."""

from laneway.core.ids import lane_id
from laneway.devnets.contract.model import ContractChain
from laneway.lanes.contract import contract_kind
from laneway.ports import ContractCall
from laneway.sim.clients import Client
from laneway.sim.hosts import Host
from laneway.sim.operator import Operator
from laneway.sim.plan import Plan
from laneway.sim.world import Observer, Shelf, World


class ContractWorld(World):
    plan: Plan
    host: Host
    client: Client
    operator: Operator

    def __init__(self, plan: Plan, shelf: Shelf, observers: "list[Observer] | None" = None) -> None:
        super().__init__(plan, shelf, observers)
        self.chain = ContractChain(round_ms=plan.round_ms, slow_factor=6, refuses=refuses)
        self.kinds = {"contract": contract_kind(plan.settings)}
        self.lanes = [lane_id("contract", f"T{n}") for n in range(plan.contracts)]
        self.host = Host(self)
        self.client = Client(self)
        self.operator = Operator(self)


def refuses(call: ContractCall) -> str | None:
    """The contract's own rule in every world: data that begin with a bang are refused."""
    return "the contract refuses it" if call.data.startswith("!") else None
