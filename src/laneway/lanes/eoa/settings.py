"""How an account's lane behaves. Seed 002's own numbers are the defaults where they are safe."""

from typing import Literal

from msgspec import Struct

INFLIGHT_MIN = 16
INFLIGHT_MAX = 4_096
"""Nonces in flight: below 16 a slow chain starves, above 4,096 a node's pool drops the rest."""


class EoaSettings(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    nodes: tuple[str, ...] = ("node",)
    """Whom every attempt is offered to; committed with it."""
    inflight: int | None = None
    """Nonces in flight, if not by the formula; 1 for an account that EIP-7702 delegates, of which
    geth's pool takes no second one."""
    target_tps: int = 50
    block_ms: int = 12_000
    confirm_delay_ms: int = 2_000
    finality_depth_blocks: int = 12
    """A block with this many above it is final. A nonce that someone else's transaction took,
    or a no-op, is given up at this depth too: 0 is for chains whose blocks are never taken back."""
    bump_after_ms: int = 60_000
    """The lowest nonce stands still for this long, and its last attempt is as old (seed 002)."""
    recycled_max: int = 50
    """With more free nonces than this no new ones are given out, and operators are notified."""
    recycled: Literal["returned", "any"] = "returned"
    """Who may take a free nonce below others that were offered. `returned`: only an intent that
    had one before, for any other would overtake; a no-op fills what is left. `any`: the seed's."""
    fee_wei_max: int | None = None
    """Of one unit of gas. An attempt that would have to pay more is parked, not sent."""
    fee_wei_source: str = "fee_wei_max"
    """Where `fee_wei_max` comes from, for messages to people."""
    fee_by_base: bool = False
    """Whether fees that nodes name are bounded by the base fee too: where nobody set a ceiling."""
    cost_wei_max: int | None = None
    """Of one attempt's gas in all."""
    spend_wei_max: int | None = None
    """Of the gas of all attempts in flight together, bumps and replacements included. Nothing is
    signed beyond it: what is too dear is parked, and those above it wait."""
    poll_ms: int = 1_000
    """Between looks at the chain while something is out."""
    resend_ms: int = 10_000
    """The same bytes again, to a node that did not say or was busy; each further time in a row
    twice as late, up to `2 ** RESEND_GROWTH_MAX` times."""
    look_ms_min: int = 100
    """Between looks at the chain when its blocks come quicker."""
    rest_ms: int = 5_000
    """A lane with nothing out reads its account again before the next number, if what it knows is
    older: others may have used it."""
    make_retry_ms: int = 1_000
    make_tries_max: int = 3
    """Of making an attempt; the seed's preparation retries."""
    funds_check_ms: int = 300_000
    """How long an account counts as out of funds at most: then it tries again, whatever balance
    was read. A node may lag behind a deposit, and what was too dear may have gone."""
    funds_retry_ms: int = 60_000
    """Between looks while the account is out of funds, and between tries while its balance seems
    to be enough for what a node says it cannot pay."""

    def inflight_max(self) -> int:
        if self.inflight is not None:
            return self.inflight
        wanted = self.target_tps * (self.block_ms + self.confirm_delay_ms) // 1_000
        return max(INFLIGHT_MIN, min(INFLIGHT_MAX, wanted))
