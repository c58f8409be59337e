"""One account on one chain, and what is needed to act for it."""

import asyncio

from laneway.core.ids import LaneId, lane_id
from laneway.engine.eoa.view import ChainView
from laneway.engine.limits import MADE_KEPT_MAX
from laneway.ports import PromptSigner, Signer

KIND = "evm"


def account_lane(chain_id: int, address: bytes) -> LaneId:
    return lane_id(KIND, f"{chain_id}:0x{address.hex()}")


class EvmAccount:
    def __init__(
        self,
        chain_id: int,
        view: ChainView,
        signer: Signer,
        *,
        gas_percent: int = 120,
        streams: int = 1,
    ) -> None:
        self.chain_id = chain_id
        self.address = signer.address
        self.lane = account_lane(chain_id, signer.address)
        self.view = view
        self.signer = signer
        self.sign_now = signer.sign_now if isinstance(signer, PromptSigner) else None
        self.gas_percent = gas_percent
        """What is asked for of an estimate: the state may change until the call is mined."""
        self.stream = asyncio.Semaphore(streams)
        """Streams of senders, first come first served. With more than one stream numbers may
        arrive out of order, which some pools forget and some never promote."""
        self._made: set[bytes] = set()
        self._made_before: set[bytes] = set()

    def note(self, hash_: bytes) -> None:
        """Bytes were made, which a look that was ordered before does not know of."""
        if len(self._made) < MADE_KEPT_MAX:
            self._made.add(hash_)

    def begin_look(self) -> None:
        """What was made before the last look began is in its order, or will be in the next."""
        self._made_before = self._made
        self._made = set()

    def is_ours(self, hash_: bytes) -> bool:
        """Whether it was made here since the last look but one."""
        return hash_ in self._made or hash_ in self._made_before
