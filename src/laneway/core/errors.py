"""What can go wrong, by whose fault it is.

LanewayError
├── CallerError   your request; an unchanged retry cannot help
│   ├── BadRequest (IntentFinal) · IntentConflict · IntentNotFound
│   ├── LaneNotFound (AccountNotFound) · WebhookNotFound · BundleNotFound · HeldElsewhere
│   ├── CommandUnfit · RetryUnfit · LaneFull · NoRoom · Draining
│   └── InvalidValue, of the codecs of each chain
├── ChainError    node or network; check before acting again
│   ├── ChainUnreachable · ChainUnreadable · RollupBehind
├── SignerError   who holds the key; nothing was signed
│   ├── SignerRefused · SignerUnreachable
├── StoreError    nothing changed: StoreBusy, StoreFull, LeaseLost, StoreRefused
│   │             unknown: StoreUnknown, StoreCorrupt, StoreClosed
└── Bug           an invariant is broken; the lane stops

Every error answers three questions: whose fault (its class), did anything durable change
(`changed`), may I retry (`retry`). `code` is a stable string that interfaces show.
"""

from typing import ClassVar, Literal

Retry = Literal["never", "later", "after_check"]


class LanewayError(Exception):
    """The root. `code` is stable, the message is built from the operands."""

    code: ClassVar[str] = "laneway_error"
    retry: ClassVar[Retry] = "never"
    changed: ClassVar[bool | None] = False
    """Whether anything durable changed; None means nobody knows yet."""


class CallerError(LanewayError):
    code = "caller_error"


class InvalidValue(CallerError):
    """Something that breaks a rule of its chain; a class's message names its operands."""

    code = "value_invalid"
    message: ClassVar[str]

    def __init__(self, **operands: int | str) -> None:
        self.operands = operands
        super().__init__(self.message.format(**operands))


class BadRequest(CallerError):
    code = "bad_request"

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        self.problem = problem
        super().__init__(f"{field}: {problem}")


class IntentConflict(CallerError):
    code = "idempotency_conflict"

    def __init__(self, key: str, intent: str) -> None:
        self.key = key
        self.intent = intent
        super().__init__(
            f"the key {key!r} belongs to intent {intent} with another body; "
            "send the same body or use a new key"
        )


class IntentNotFound(CallerError):
    code = "intent_not_found"

    def __init__(self, intent: str) -> None:
        self.intent = intent
        super().__init__(f"there is no intent {intent}")


class IntentFinal(BadRequest):
    """The intent has its final answer, which nothing changes."""

    code = "intent_final"

    def __init__(self, intent: str, status: str) -> None:
        self.intent = intent
        self.status = status
        super().__init__("intent", f"it is final already: {status}")


class RetryUnfit(CallerError):
    """A new intent in its place could do a second time what the first one did, or may still do."""

    code = "retry_refused"

    def __init__(self, intent: str, reason: str) -> None:
        self.intent = intent
        self.reason = reason
        super().__init__(f"{intent} cannot be retried: {reason}")


class LaneNotFound(CallerError):
    code = "lane_not_found"

    def __init__(self, lane: str) -> None:
        self.lane = lane
        super().__init__(f"nothing was ever queued for {lane}")


class AccountNotFound(LaneNotFound):
    """An account's lane is there before anything was queued, if its account is configured."""

    def __init__(self, lane: str, what: str = "account", form: str = "evm:CHAIN:ACCOUNT") -> None:
        """`form` says how lanes of this kind are named."""
        super().__init__(lane)
        self.args = (f"no {what} {lane} is configured here; say {form}",)


class BundleNotFound(CallerError):
    """A block that neither the rollup's builder nor the lane keeps."""

    code = "bundle_not_found"

    def __init__(self, lane: str, name: str) -> None:
        self.lane = lane
        self.name = name
        super().__init__(f"{lane} has no {name}, or keeps it no longer")


class HeldElsewhere(CallerError):
    """Only another process can answer: the one that holds the lane."""

    code = "held_elsewhere"
    retry = "later"

    def __init__(self, lane: str, name: str) -> None:
        self.lane = lane
        self.name = name
        super().__init__(
            f"{name} of {lane} is known to the process that holds the lane, and not to this one; "
            "ask that one"
        )


class WebhookNotFound(CallerError):
    code = "webhook_not_found"

    def __init__(self, webhook: str) -> None:
        self.webhook = webhook
        super().__init__(f"no webhook {webhook} is configured")


class CommandUnfit(CallerError):
    """An operator's command that the lane cannot carry out as it stands."""

    code = "command_refused"

    def __init__(self, lane: str, verb: str, reason: str) -> None:
        self.lane = lane
        self.verb = verb
        self.reason = reason
        super().__init__(f"{lane} cannot {verb}: {reason}")


class LaneFull(CallerError):
    code = "lane_full"
    retry = "later"

    def __init__(self, lane: str, *, bound: str, limit: int, retry_after_s: int) -> None:
        self.lane = lane
        self.bound = bound
        self.limit = limit
        self.retry_after_s = retry_after_s
        super().__init__(
            f"{lane} is full: its limit of {limit} {bound} is reached; "
            f"try again in {retry_after_s} s or raise the limit"
        )


class NoRoom(CallerError):
    """The bytes that this process holds did not become fewer in time. Nothing was written."""

    code = "no_room"
    retry = "later"

    def __init__(self, bound: str, limit: int, waited_s: float) -> None:
        self.bound = bound
        self.limit = limit
        super().__init__(
            f"{bound} is {limit} bytes, and nothing was settled for {waited_s:g} s to make room; "
            "submit again, or allow more"
        )


class Draining(CallerError):
    code = "draining"
    retry = "later"

    def __init__(self) -> None:
        super().__init__("this process is shutting down and accepts nothing more; send it again")


class ChainError(LanewayError):
    code = "chain_error"
    retry: ClassVar[Retry] = "after_check"
    changed: ClassVar[bool | None] = None


class ChainUnreachable(ChainError):
    """Nothing was sent: the connection was never made."""

    code = "chain_unreachable"
    retry = "later"
    changed = False

    def __init__(self, endpoint: str, problem: str) -> None:
        self.endpoint = endpoint
        self.problem = problem
        super().__init__(f"{endpoint} cannot be reached: {problem}")


class ChainUnreadable(ChainError):
    """The node answered with something that no decoder understands."""

    code = "chain_unreadable"

    def __init__(self, endpoint: str, answer: str) -> None:
        self.endpoint = endpoint
        self.answer = answer
        super().__init__(f"{endpoint} answered with something unreadable: {answer[:200]}")


class RollupBehind(ChainError):
    """Blocks are final that this process has not read yet, so its answer would be an old one."""

    code = "rollup_behind"
    retry = "later"
    changed = False

    def __init__(self, lane: str, problem: str) -> None:
        self.lane = lane
        self.problem = problem
        super().__init__(
            f"the builder of {lane} in this process is behind its chain: {problem}; ask again, or "
            "ask the process that holds the lane"
        )


class BuildFailed(LanewayError):
    """A rollup's builder could not make a block or a package."""

    code = "build_failed"
    REMEDY: ClassVar[str] = "if it stays, delete the builder's file and start this process again"
    """For what a sound builder never answers; the file is made anew from the chain."""

    def __init__(self, problem: str, *, final: bool = False, needs_help: bool = False) -> None:
        self.final = final
        """Whether it never will: the order itself is at fault."""
        self.needs_help = needs_help
        """Whether time alone does not fix it: the problem says what an operator can do. With
        `final` less may be carried out, and the least that cannot is for the operator."""
        super().__init__(problem)


class SignerError(LanewayError):
    """No signature came back. One that was made and lost is no harm: nobody else can send it."""

    code = "signer_error"


class SignerRefused(SignerError):
    """This request gets no signature, now or later; another request may."""

    code = "signer_refused"

    def __init__(self, signer: str, problem: str) -> None:
        self.signer = signer
        self.problem = problem
        super().__init__(f"{signer} refused to sign: {problem}")


class SignerUnreachable(SignerError):
    """The same request may get its signature later, once the signer or a person is back."""

    code = "signer_unreachable"
    retry = "later"

    def __init__(self, signer: str, problem: str) -> None:
        self.signer = signer
        self.problem = problem
        super().__init__(f"{signer} gave no signature: {problem}; ask again later")


class StoreError(LanewayError):
    code = "store_error"


class StoreBusy(StoreError):
    """Nothing changed; the same write may be tried again."""

    code = "store_busy"
    retry = "later"

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(
            f"the store is busy: {problem}; nothing changed, and it may be tried again"
        )


class StoreFull(StoreBusy):
    code = "store_full"

    def __init__(self, path: str, problem: str = "") -> None:
        self.path = path
        full = f"{path}: {problem}" if problem else f"the disk that holds {path} is full"
        super().__init__(full if problem else f"{full}; free some space")


class StoreRefused(StoreError):
    """The store cannot be opened or written as it is; a person must act."""

    code = "store_refused"

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"{path}: {problem}")


class LeaseLost(StoreError):
    """Another owner holds the lane, or the write is not the next one; nothing changed."""

    code = "lease_lost"

    def __init__(self, lane: str, fence: int, version: int) -> None:
        self.lane = lane
        self.fence = fence
        self.version = version
        super().__init__(f"the lease of {lane} (fence {fence}, version {version}) is lost")


class DeclaredDead(StoreError):
    """Others took this process's lanes: it must not act, and starts again under a new name."""

    code = "declared_dead"
    retry = "later"

    def __init__(self, owner: str) -> None:
        self.owner = owner
        super().__init__(
            f"{owner} was silent for longer than its lease, and others took its lanes; nothing was "
            "written, send it again, to another process or when this one has started again"
        )


class StoreUnknown(StoreError):
    """The write may or may not be there: load the lane again before anything else."""

    code = "store_unknown"
    retry = "after_check"
    changed = None

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"nobody knows whether the last write is durable: {problem}")


class StoreCorrupt(StoreError):
    code = "store_corrupt"
    changed = None

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(
            f"{path} is damaged: {problem}; stop, keep a copy, and restore a backup or run "
            "'sqlite3 FILE .recover' on the copy"
        )


class StoreClosed(StoreUnknown):
    """A sync failed, so what the disk holds is unknown; the database was closed."""

    code = "store_closed"

    def __init__(self, path: str, problem: str) -> None:
        self.path = path
        super().__init__(f"{path} was closed after a failed sync ({problem}); restart to recover")


class Bug(LanewayError):
    """An invariant is broken. Never caught inside a lane: the lane stops and says why."""

    code = "bug"
