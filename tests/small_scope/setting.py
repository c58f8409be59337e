"""What all states of one search have in common."""

from hashlib import blake2b

from tests.small_scope.ledgers import Ledgers
from tests.small_scope.likeness import encode
from tests.small_scope.parts import CONTRACT, LANE, ScopeParts
from tests.small_scope.rounds import ScopeRounds
from tests.small_scope.turns import Turns

from laneway.core.ids import intent_id
from laneway.core.intent import Arrival
from laneway.engine.run import Windows
from laneway.lanes.contract import ContractSettings, contract_kind
from laneway.ports import ContractCall


class Scope:
    """What all states of one search have in common."""

    def __init__(
        self,
        settings: ContractSettings,
        data: tuple[str, ...],
        windows: Windows,
        *,
        lazy: bool,
    ) -> None:
        self.settings = settings
        self.kind = contract_kind(settings)
        self.arrivals = tuple(arrival(number, datum) for number, datum in enumerate(data, 1))
        self.wanted = {datum: each.id for datum, each in zip(data, self.arrivals, strict=True)}
        """Which intent wants which data, in order."""
        self.parts = ScopeParts()
        self.turns = Turns(self.parts, self.kind, windows, lazy=lazy)
        self.ledgers = Ledgers(self.parts, self.kind)
        self.rounds = ScopeRounds(self.parts, takes_parent=settings.takes_parent)


def arrival(number: int, datum: str) -> Arrival:
    payload = encode(ContractCall(CONTRACT, "did:scope", datum))
    return Arrival(
        id=intent_id(number, bytes(10)),
        lane=LANE,
        payload=payload,
        digest=blake2b(payload, digest_size=16).digest(),
        accepted_ms=0,
        key=f"k{number}",
        fresh=True,
    )
