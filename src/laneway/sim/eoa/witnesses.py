"""What the nodes of a world say: the chain model's truth, and the lies of the one that lies.

A lie is drawn anew with every block. A lie is consistent while it lasts, as those of a node that
means to deceive would be.
"""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from laneway.core.facts import (
    AccountAtBlock,
    BlockRef,
    BlockSeen,
    Estimated,
    NodeReceipts,
    NonceClaim,
    NotEstimated,
    ReceiptSeen,
    Reverted,
    SendKind,
)
from laneway.core.majority import Estimate
from laneway.devnets.evm.limits import BLOCK_GAS_MAX
from laneway.devnets.evm.model.block import EvmBlock
from laneway.evm.keccak import keccak
from laneway.lanes.eoa.fees import EvmFee
from laneway.ports import EvmCall, EvmRequest
from laneway.sim.eoa.calls import SHOP, key_of, signed
from laneway.sim.eoa.plan import GAS, GWEI

if TYPE_CHECKING:
    from laneway.sim.eoa.port import EvmGround

LIAR = 0
"""The first that is asked, where one is asked before the others."""

LIES = ("head", "branch", "count", "owner", "receipt", "absent", "inclusion", "network", "gas")

FAR = 50
"""Blocks by which a node that lies is ahead of the others."""

STRANGER = 200
"""The number of a key that no account of a world has."""


REVERTING = b"!"
"""How the content begins of what reverts when it is estimated."""


class Witnesses:
    def __init__(self, world: "EvmGround") -> None:
        self._world = world
        self._chain = world.network.chain
        self._dice = world.plan.rng("lies")
        self._drawn_at = -1
        self._lies: tuple[str, ...] = ()
        self.names = world.plan.settings.nodes

    def lies(self, node: int, lie: str) -> bool:
        """Whether this node lies so now."""
        if node != LIAR or not self._world.plan.lying or not self._world.is_faulty:
            return False
        newest = self._chain.newest().number
        if newest != self._drawn_at:
            self._drawn_at = newest
            count = self._dice.choice((0, 2, 3, 4, len(LIES)))
            self._lies = tuple(self._dice.sample(LIES, count))
        if lie not in self._lies:
            return False
        self._world.seen[f"lie:{lie}"] += 1
        return True

    # What is there now.

    def head(self, node: int) -> BlockRef:
        head = self._chain.head(node)
        if self.lies(node, "head"):
            return BlockRef(head.number + FAR, invented(head.hash, FAR))
        if self.lies(node, "branch") or self.lies(node, "network"):
            return BlockRef(head.number, invented(head.hash, 0))
        return BlockRef(head.number, head.hash)

    def account(self, node: int, address: bytes) -> AccountAtBlock:
        count = self._chain.count(node, address, "latest")
        balance = self._chain.balance(node, address)
        if self.lies(node, "count"):
            count = self._dice.choice((count + 1, count + 3, 0, 2**40))
        if self.lies(node, "network"):
            count, balance = 0, 0
        return AccountAtBlock(count, count, balance, self.head(node), self.names[node])

    def estimate(self, node: int, call: EvmCall) -> Estimate:
        """What a call needs; some revert, and nobody can hand over what they do not have."""
        if self.lies(node, "gas"):
            return self._dice.choice((Estimated(1), Estimated(BLOCK_GAS_MAX), Reverted("a lie")))
        if call.input.startswith(REVERTING):
            return Reverted("it reverts")
        if call.value_wei > self._chain.balance(node, call.sender):
            return NotEstimated(SendKind.INSUFFICIENT_FUNDS, "insufficient funds for transfer")
        return Estimated(GAS)

    # What is in blocks.

    def block(self, node: int, number: int) -> BlockSeen | None:
        block = self._chain.block(node, number)
        head = self._chain.head(node)
        if self.lies(node, "head") and head.number < number <= head.number + FAR:
            return self._invented_block(head, number)
        if block is None:
            return None
        if number == head.number and self.head(node).hash != head.hash:
            fake = self.head(node)
            return BlockSeen(BlockRef(number, fake.hash), block.parent, self._waiting(node))
        hashes = block.transactions
        if self.lies(node, "inclusion"):
            hashes = (*hashes, *self._waiting(node))
        if self.lies(node, "absent"):
            hashes = ()
        return BlockSeen(BlockRef(number, block.hash), block.parent, hashes)

    def _invented_block(self, head: EvmBlock, number: int) -> BlockSeen:
        ahead = number - head.number
        parent = head.hash if ahead == 1 else invented(head.hash, ahead - 1)
        held = self._waiting(LIAR) if ahead == 1 else ()
        return BlockSeen(BlockRef(number, invented(head.hash, ahead)), parent, held)

    def _waiting(self, node: int) -> tuple[bytes, ...]:
        """What nobody mined yet."""
        return tuple(sent.hash for sent in self._chain.pool(node)[0])

    def receipt(self, node: int, digest: bytes) -> ReceiptSeen | None:
        if self.lies(node, "absent") or self.lies(node, "network"):
            return None
        mined = self._chain.receipt(node, digest)
        if mined is None:
            return self._forged(node, digest)
        receipt = ReceiptSeen(
            hash=mined.hash,
            succeeded=mined.succeeded,
            block=BlockRef(mined.number, mined.block),
            gas_used=mined.gas_used,
            effective_gas_price_wei=mined.price_wei,
            node=self.names[node],
        )
        if self.lies(node, "receipt"):
            return replace(receipt, succeeded=not receipt.succeeded)
        return receipt

    def _forged(self, node: int, digest: bytes) -> ReceiptSeen | None:
        """A receipt of what was never mined: in a block that stands and is old, or in one that the
        node invented."""
        head = self._chain.head(node)
        if self.lies(node, "head"):
            block = BlockRef(head.number + 1, invented(head.hash, 1))
        elif self.lies(node, "receipt") or self.lies(node, "inclusion"):
            old = self._chain.block(node, max(0, head.number - self._dice.randint(0, 5)))
            assert old is not None
            block = BlockRef(old.number, old.hash)
        else:
            return None
        return ReceiptSeen(digest, True, block, GAS, GWEI, self.names[node])

    def node_receipts(self, node: int, hashes: tuple[bytes, ...]) -> NodeReceipts:
        head = self.head(node).number
        shown = tuple([self.receipt(node, digest) for digest in hashes])
        return NodeReceipts(self.names[node], head, shown)

    # Who used a number.

    def claim(self, node: int, address: bytes, nonce: int) -> NonceClaim:
        count = self.account(node, address).count
        if self.lies(node, "owner"):
            return self._invented_owner(node, nonce)
        found = self._chain.transaction_at(node, address, nonce)
        if found is None or found.block is None:
            return NonceClaim(self.names[node], count)
        return NonceClaim(self.names[node], count, found.sent.hash, found.sent.raw)

    def _invented_owner(self, node: int, nonce: int) -> NonceClaim:
        """A transaction that somebody else signed for this number."""
        call = EvmRequest(SHOP, input=b"invented")
        sealed = signed(key_of(STRANGER), nonce, call, EvmFee(9 * GWEI, GWEI), GAS)
        return NonceClaim(self.names[node], nonce + 1, sealed.hash, sealed.raw)


def invented(hash_: bytes, ahead: int) -> bytes:
    """The hash of a block that stands nowhere."""
    return keccak(b"invented" + hash_ + ahead.to_bytes(4, "big"))
