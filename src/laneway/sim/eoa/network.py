"""The chain of a world: blocks at their time, and what befalls blocks, pools and nodes."""

from collections import Counter
from typing import TYPE_CHECKING

from laneway.core.facts import BlockRef, SendKind
from laneway.devnets.evm.model.block import EvmBlock
from laneway.devnets.evm.model.chain import EvmModel, Tag
from laneway.evm.transaction import Transaction
from laneway.lanes.eoa.fees import EvmFee
from laneway.ports import EvmRequest
from laneway.sim.eoa.calls import CHAIN_ID, FOREIGN, SHOP, WALL, key_of, signed
from laneway.sim.eoa.plan import GAS, GWEI
from laneway.sim.link import Reply

if TYPE_CHECKING:
    from laneway.sim.eoa.port import EvmGround

RICH_WEI = 10**20
"""More than an integer of msgpack holds."""
POOR_WEI = 4 * 3 * GWEI * GAS
"""Enough for four attempts in a calm market."""


class EvmNetwork:
    """One chain, two or three nodes with pools of their own. Every block is remembered by hash."""

    def __init__(self, world: "EvmGround") -> None:
        plan = world.plan
        self._world = world
        self._dice = plan.rng("network")
        self._storm = 0
        wei = POOR_WEI if plan.poor else RICH_WEI
        self.names = plan.settings.nodes
        self.accounts = [key_of(number).address for number in range(plan.accounts)]
        self.chain = EvmModel(
            dict.fromkeys(self.accounts, wei),
            chain_id=CHAIN_ID,
            nodes=len(self.names),
            rules=plan.rules,
        )
        self.chain.gossips = False
        self.chain.reverts[WALL] = None
        first = self.chain.history()[0]
        self.blocks: dict[bytes, EvmBlock] = {first.hash: first}
        self.version = 0
        """Rises whenever what stands on the chain changes."""
        self._mined: dict[bytes, bool] | None = None
        self.foreign: dict[bytes, int] = dict.fromkeys(self.accounts, 0)
        """How many transactions of others each account was offered."""
        self.travelling: Counter[bytes] = Counter()
        """Bytes on their way to a node."""
        self.received: dict[bytes, None] = {}
        """Bytes that reached a node, whatever it said."""
        self.condemned: dict[bytes, SendKind | None] = {}
        """Why every node refuses these bytes for good; None where they do not."""
        self.misjudged = ""
        """What a node said of bytes that were made with a wrong amount of gas."""
        self.followers: list[Reply] = []
        """Processes that wait for the next block."""
        self.dark_until_ms = 0
        """Until then no node can be reached."""

    def start(self) -> None:
        self._world.after(self._world.plan.block_ms, "block", self._block)

    def is_hit(self, chance: float) -> bool:
        return self._world.is_faulty and chance > 0 and self._dice.random() < chance

    def _block(self) -> None:
        world, plan = self._world, self._world.plan
        world.after(plan.block_ms, "block", self._block)
        self._befall_nodes()
        self._make_room()
        if self._storm and world.is_faulty:
            self._storm -= 1
            self.chain.base_fee_next_wei = self._dice.randint(2, 9) * GWEI
        elif self.is_hit(plan.faults.storm):
            world.seen["fee storm"] += 1
            world.note("the base fee jumps")
            self._storm = self._dice.randint(1, 12)
        if len(self.blocks) > 1 and self.is_hit(plan.faults.reorg):
            self._reorg()
        skips = (lambda _: self.is_hit(plan.faults.skip)) if plan.faults.skip else None
        made = self.chain.mine(
            world.now_ms, node=self._dice.randrange(len(self.names)), skips=skips
        )
        self.remember(made)
        if self.is_hit(plan.watch):
            followers, self.followers = self.followers, []
            for reply in followers:
                reply(BlockRef(made.number, made.hash))

    def _make_room(self) -> None:
        """A full pool forgets what waits for a nonce before it, as every node's does in the end:
        otherwise numbers above a gap would keep out the one that fills it."""
        bound = self._world.plan.rules.pool_count_max
        for node in range(len(self.names)):
            ready, waiting = self.chain.pool(node)
            if bound is not None and len(ready) + len(waiting) >= bound and waiting:
                self._world.seen["pool made room"] += 1
                self.chain.drop(waiting[-1].hash, node)

    def remember(self, *blocks: EvmBlock) -> None:
        for block in blocks:
            self.blocks[block.hash] = block
            if block.transactions:
                self._changed()
                held = ", ".join(self.named(digest) for digest in block.transactions)
                self._world.note(f"block {block.number} holds {held}")

    def named(self, digest: bytes) -> str:
        made = self.chain.sent(digest)
        who = self.accounts.index(made.sender)
        return f"{data_of(made.transaction) or 'a no-op'} of a{who}/{made.transaction.nonce}"

    def _reorg(self) -> None:
        """Never deeper than what the lanes take for final."""
        world = self._world
        height = len(self.chain.history()) - 1
        depth = self._dice.randint(1, min(height, world.plan.settings.finality_depth_blocks))
        world.seen["reorg"] += 1
        world.note(f"a reorg takes {depth} blocks back")
        self.chain.reorg(depth, world.now_ms, returns=self._dice.random() < 0.5)
        self._changed()
        self.remember(*self.chain.history()[-depth:])

    def _befall_nodes(self) -> None:
        world, chances = self._world, self._world.plan.faults
        if not world.is_faulty:
            return
        for node, name in enumerate(self.names):
            if self.is_hit(chances.restart):
                if len(self.chain.pool(node)[0]):
                    world.seen["pool lost on restart"] += 1
                world.note(f"{name} restarts without its pool")
                self.chain.restart(node)
            if self.is_hit(chances.drop):
                held = [sent for part in self.chain.pool(node) for sent in part]
                if held:
                    world.seen["dropped by a pool"] += 1
                    self.chain.drop(self._dice.choice(held).hash, node)
            if self.is_hit(chances.trail):
                world.seen["node trails"] += 1
                if self._dice.random() < 0.5:
                    self.chain.freeze(node, self._dice.random() < 0.5)
                else:
                    self.chain.lag(node, self._dice.choice((0, 1, 3)))
            if self.is_hit(chances.gossip):
                self.chain.spread(node)

    def calm(self) -> None:
        """The faults are over: nodes catch up and speak to each other, accounts have money."""
        self.chain.gossips = True
        for node in range(len(self.names)):
            self.chain.freeze(node, False)
            self.chain.lag(node, 0)
            self.chain.spread(node)
        # In every other world no more than accounts had before: that must be enough to go on.
        self.pay(RICH_WEI if self._world.plan.seed % 2 else 2 * RICH_WEI)

    def pay(self, wei: int) -> None:
        for account in self.accounts:
            self.chain.set_account(account, balance_wei=wei)

    def deposit(self) -> None:
        """Someone pays; a node that stands still goes on saying that there is too little."""
        if self._world.is_faulty:
            self._world.seen["deposit"] += 1
            self._world.note("someone pays, and a node lags behind that")
            self.chain.freeze(self._dice.randrange(len(self.names)), True)
        self.pay(RICH_WEI)

    def use_foreign(self, account: int) -> None:
        """Someone else has the key as well, and uses the first number that a node calls free."""
        world = self._world
        node = self._dice.randrange(len(self.names))
        address = self.accounts[account]
        tag: Tag = self._dice.choice(("latest", "pending"))
        nonce = self.chain.count(node, address, tag)
        fee = EvmFee(*self._dice.choice(((4 * GWEI, 2 * GWEI), (60 * GWEI, 50 * GWEI))))
        call = EvmRequest(SHOP, input=FOREIGN + str(world.steps).encode())
        sealed = signed(key_of(account), nonce, call, fee, GAS)
        self.foreign[address] += 1
        world.seen["foreign transaction"] += 1
        world.note(f"someone else offers a{account}/{nonce} to {self.names[node]}")
        self.chain.send(node, sealed.raw)

    def _changed(self) -> None:
        self.version += 1
        self._mined = None

    def mined(self) -> dict[bytes, bool]:
        """All that stands on the chain as it is now, in its order, and whether it succeeded."""
        if self._mined is None:
            self._mined = {
                digest: self.chain.sent(digest).transaction.to != WALL
                for block in self.chain.history()
                for digest in block.transactions
            }
        return self._mined

    def is_pooled(self, digest: bytes) -> bool:
        for node in range(len(self.names)):
            found = self.chain.transaction(node, digest)
            if found is not None and found.block is None:
                return True
        return False


def data_of(made: Transaction) -> str:
    return made.data.decode().rstrip()
