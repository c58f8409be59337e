"""Layer S3 of account lanes: the shell and the real performer, killed after any callback."""

from msgspec.structs import replace

from laneway.core.ids import LaneId
from laneway.core.outcome import Status
from laneway.core.rows import Result
from laneway.core.units import amount
from laneway.evm.envelope import decode
from laneway.evm.keccak import keccak
from laneway.ports import EvmRequest
from laneway.sim.eoa.calls import SHOP, WALL, encode_request
from laneway.sim.eoa.network import data_of
from laneway.sim.eoa.plan import GAS, EoaPlan
from laneway.sim.eoa.port import EvmGround
from laneway.sim.shell_world import ShellWorld
from laneway.sim.world import LawBroken


class EoaShell(EvmGround, ShellWorld):
    """The chain outlives every process."""

    callbacks_life_max = 700
    endings = {"!": Status.REFUSED, "~": Status.REVERTED}  # noqa: RUF012

    def __init__(self, plan: EoaPlan) -> None:
        # Nobody is there to raise a cap, and nobody else uses the accounts.
        settings = replace(plan.settings, fee_wei_max=None, cost_wei_max=None, spend_wei_max=None)
        absent = dict.fromkeys(("foreign", "fee_lie", "refuse", "condemn"), 0.0)
        super().__init__(
            replace(plan, settings=settings, poor=False, caps_fees=False, slow=1.0, **absent)
        )
        self.keeps_order = settings.recycled == "returned"
        self.wishes = [
            (self.lanes[n % plan.accounts], self._data(n)) for n in range(min(plan.intents, 9))
        ]

    def _data(self, number: int) -> str:
        """Some revert when they are estimated, some when they are mined."""
        return self._dice.choice(("", "", "", "", "!", "~")) + f"d{number}"

    def sending(self, raw: bytes) -> None:
        self.ask_law(self._check_recorded, raw)

    def _check_recorded(self, raw: bytes) -> None:
        """Bytes are durable before any node receives them; an intent's have an index."""
        if data_of(decode(raw)) and self.book.find("hash", keccak(raw).hex()) is None:
            raise LawBroken("never twice: bytes were sent unrecorded")

    def named(self, digest: bytes) -> tuple[str, str]:
        return "", f"0x{digest.hex()[:8]}"

    # One life.

    def payload(self, _lane: LaneId, data: str) -> bytes:
        to = WALL if data.startswith("~") else SHOP
        gas = None if data.startswith("!") or not self.plan.prompt else GAS
        return encode_request(EvmRequest(to, amount(1), data.encode(), gas))

    # The laws.

    def judge(self, data: str, result: Result) -> None:
        super().judge(data, result)
        if result.hash is not None and result.hash not in self.network.mined():
            raise LawBroken(f"{data} is {result.status}, and not on the chain")

    def landed(self, lane: LaneId) -> list[str]:
        address = self.network.accounts[self.account(lane)]
        made = [self.network.chain.sent(digest) for digest in self.network.mined()]
        return [
            data for one in made if one.sender == address and (data := data_of(one.transaction))
        ]
