"""What the engine asks of a contract host, and the calls that it executes."""

from typing import Protocol, runtime_checkable

from msgspec import Struct

from laneway.core.outcome import Outcome


class ContractCall(Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """One execution of a contract, as its caller asked for it (seed 004 §9)."""

    contract: str
    executor: str
    data: str
    quorum_type: int = 2
    comment: str = ""


class TracedCall(ContractCall, frozen=True, array_like=True, forbid_unknown_fields=True):
    """A call with a trace; a type of its own, so that calls without one carry nothing for it."""

    trace: str = ""
    """A W3C traceparent."""


class HostTraits(Struct, frozen=True):
    """What a host promises; the contract machine's caution depends on it."""

    takes_parent: bool
    """`execute` names the parent block, so a second try on the same parent cannot land twice."""
    has_chain: bool = True
    """Heights are read from a chain that others may write too. False for a plain callable."""


class Execution(Struct, frozen=True):
    """What an execution's answer proves."""

    outcome: Outcome
    block: int | None = None
    """The block it made, when accepted."""
    final: bool = False
    """A refusal that no retry can change."""
    stale: bool = False
    """A refusal because the parent was no longer the latest block."""
    reason: str = ""


class ChainFinding(Struct, frozen=True):
    """What a look at the chain proves. Absence proves nothing about a round still running."""

    latest: int
    block: int | None
    """The block with our executor and data after the parent, if it is there."""


@runtime_checkable
class PromptHost(Protocol):
    """A ContractHost that answers an execution at once: there is nothing to wait for or cancel."""

    def execute_now(self, call: ContractCall, parent: int) -> Execution: ...


class ContractHost(Protocol):
    """Runs contract executions. `ChainUnreachable` from any call proves nothing was sent."""

    traits: HostTraits

    async def latest_block(self, contract: str) -> int: ...
    async def execute(self, call: ContractCall, parent: int) -> Execution: ...
    async def find(self, call: ContractCall, parent: int) -> ChainFinding:
        """Height and block from one view of the chain, no older than the host's own answers."""

    async def close(self) -> None: ...
