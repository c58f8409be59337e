"""How a sequence lane behaves."""

from msgspec import Struct


class SequenceSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    nodes: tuple[str, ...] = ("node",)
    """Whom every transaction is offered to."""
    inflight: int = 100
    """Sequences with bytes that may land: what is not taken yet is not signed."""
    timeout_blocks: int = 30
    """Bytes are valid in this many blocks after they were made, and never again: what makes an end
    final. It is below the 36 blocks after which celestia-app's mempool forgets an account."""
    attempts_max: int = 3
    """How often an intent is signed: again only when the bytes before can land no more."""
    poll_ms: int = 1_000
    """Between looks at a node while something is out."""
    statuses: int = 100
    """Transactions asked for in one look: the lowest ones always, the others in turn."""
    retry_ms: int = 500
    """Before a node that did not answer is offered anything again; each further time in a row
    twice as late, up to `2 ** RETRY_GROWTH_MAX` times."""
    make_retry_ms: int = 500
    make_tries_max: int = 3
    """Attempts to make bytes for what the chain says would fail, before the intent is refused."""
    rest_ms: int = 5_000
    """A lane with nothing out reads its account again before the next number, if what it knows is
    older: others may have used it."""
    account_ms: int = 10_000
    """Between looks for an account that does not exist yet."""
    conflict_blocks: int = 10
    """A number is used, and no node shows by whom: after this many blocks its intent is answered as
    indeterminate."""
    watch_blocks: int = 1_000
    """How long it is looked for after that."""
    block_ms: int = 500
    """Blocks come no faster: heights that climb quicker end no bytes before that time is over. On a
    chain that is faster an end is only reported later."""
