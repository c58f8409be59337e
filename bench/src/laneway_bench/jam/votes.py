"""What a justification of a full chain costs beside its signatures: 683 precommits of 1,023 keys.

Ours is the whole way of a light client: bytes are decoded, the header is hashed, votes are counted
and linked, signatures are checked. The other side is a loop over PyNaCl's `crypto_sign_open` with
keys and messages laid ready. Both are timed in turn in one process, by CPU time, so that both see
the same minutes.
"""

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

from nacl.bindings import crypto_sign_open

from laneway.jam.dev_keys import dev_keys
from laneway.jam.header import Header, header_hash
from laneway.jam.spec import FULL
from laneway.jam.votes import (
    Justification,
    Target,
    Vote,
    VoteKind,
    justification_codec,
    precommit,
    threshold,
    verify_justification,
    vote_message,
)
from laneway_bench.contestant import answer_all

ROUND, SET = 12, 34
SLOT = 5_678
GOAL = "verify_683_votes_vs_bare_pynacl"


class VotesStage:
    """A final block, and a justification with as many votes as are needed and no more."""

    def __init__(self) -> None:
        held = dev_keys(FULL.validator_count)
        self.keys = tuple(key.public_key for key in held)
        self.header = Header(
            parent=b"p" * 32,
            parent_state_root=b"q" * 32,
            extrinsic_hash=b"x" * 32,
            slot=SLOT,
            author_index=0,
            entropy_source=bytes(96),
            seal=bytes(96),
        )
        final = Vote(Target(header_hash(self.header, FULL), b"r" * 32), SLOT)
        voters = held[: threshold(FULL.validator_count)]
        precommits = tuple(precommit(key, final, ROUND, SET) for key in voters)
        self.raw = justification_codec(FULL).encode(
            Justification(round_number=ROUND, set_id=SET, final=final, precommits=precommits)
        )
        message = vote_message(VoteKind.PRECOMMIT, final, ROUND, SET)
        self.signed = [(one.signature + message, one.key) for one in precommits]

    def verify(self) -> None:
        justification = justification_codec(FULL).decode(self.raw)
        verify_justification(justification, self.header, set_id=SET, keys=self.keys, spec=FULL)

    def verify_bare(self) -> None:
        for signed, key in self.signed:
            crypto_sign_open(signed, key)


def measure(rounds: int) -> dict[str, Any]:
    """CPU milliseconds of both in each round, and the middle of their ratios."""
    stage = VotesStage()
    stage.verify()
    stage.verify_bare()
    gc.collect()
    ours: list[float] = []
    bare: list[float] = []
    for _ in range(rounds):
        bare.append(spent_ms(stage.verify_bare))
        ours.append(spent_ms(stage.verify))
    ratios = [one / other for one, other in zip(ours, bare, strict=True)]
    return {
        "votes": len(stage.signed),
        "justification_bytes": len(stage.raw),
        "laneway_ms": ours,
        "pynacl_ms": bare,
        GOAL: statistics.median(ratios),
    }


def spent_ms(work: Callable[[], None]) -> float:
    begun_ns = time.process_time_ns()
    work()
    return (time.process_time_ns() - begun_ns) / 1e6


def main() -> None:
    answer_all(lambda question: measure(**question))


if __name__ == "__main__":
    main()
