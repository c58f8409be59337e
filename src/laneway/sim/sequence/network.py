"""The chain of a world: blocks at their time, and what befalls blocks, mempools and nodes."""

from collections import Counter
from typing import TYPE_CHECKING

from laneway.core.cosmos import CommittedAccount
from laneway.cosmos.tx import read
from laneway.devnets.cosmos.limits import GAS_PRICE_MICRO
from laneway.devnets.cosmos.model.app import CosmosRules
from laneway.devnets.cosmos.model.chain import Committed, CosmosModel, MempoolRefused
from laneway.devnets.cosmos.model.verdicts import AppVerdict, no_funds
from laneway.sim.sequence.calls import (
    CHAIN_ID,
    FOREIGN,
    PREFIX,
    address_of,
    foreign,
    raw_of,
)

if TYPE_CHECKING:
    from laneway.sim.sequence.port import CosmosGround

RICH = 10**12
POOR = 1_200
"""Enough for two transactions."""


class CosmosNetwork:
    """One chain, and nodes with mempools of their own. It remembers every account at each block."""

    def __init__(self, world: "CosmosGround") -> None:
        plan = world.plan
        self._world = world
        self.names = plan.names
        self._dice = plan.rng("network")
        self.accounts = [raw_of(number) for number in range(plan.accounts)]
        self._names = {address_of(number): raw_of(number) for number in range(plan.accounts)}
        amount = POOR if plan.poor else RICH
        self.chain = CosmosModel(
            {} if plan.absent else dict.fromkeys(self.accounts, amount),
            rules=CosmosRules(CHAIN_ID, PREFIX, checks_signatures=plan.checks_signatures),
            nodes=[plan.mempool] * len(self.names),
        )
        self.prices = [GAS_PRICE_MICRO] * len(self.names)
        self.lags = [0] * len(self.names)
        self.blind = [False] * len(self.names)
        self.foreign: dict[bytes, int] = dict.fromkeys(self.accounts, 0)
        """How many transactions of others each account was used for."""
        self.landed: list[Committed] = []
        """All that is in blocks, in its order."""
        self.users: dict[tuple[bytes, int], Committed] = {}
        """Who used each number of our accounts."""
        self._shown: list[tuple[CommittedAccount | None, ...]] = []
        self._remember()
        self._held_until = 0
        self._down: dict[int, int] = {}
        self._away: dict[int, int] = {}
        """Nodes that cannot be reached from here, each up to a block."""
        self.travelling: Counter[bytes] = Counter()
        """Bytes on their way to a node."""
        self.hashes: dict[bytes, bytes] = {}
        """Of bytes that were offered."""
        self.withheld: dict[tuple[str, int], None] = {}
        """Numbers of an address whose user was asked for and not shown by a majority of honest
        nodes."""

    def start(self) -> None:
        self._world.after(self._world.plan.block_ms, "block", self._block)

    def is_hit(self, chance: float) -> bool:
        return self._world.is_faulty and chance > 0 and self._dice.random() < chance

    def is_up(self, node: int) -> bool:
        return self.chain.nodes[node].is_up

    def is_near(self, node: int) -> bool:
        """Whether it is up and can be reached."""
        return self.is_up(node) and self.chain.height >= self._away.get(node, 0)

    # Blocks.

    def _block(self) -> None:
        world, plan = self._world, self._world.plan
        world.after(plan.block_ms, "block", self._block)
        if world.is_faulty:
            for node, name in enumerate(self.names):
                self._befall(node, name)
            self._hold()
            self._part()
        proposer = self._dice.randrange(len(self.names))
        self.chain.app.price_micro = self.prices[proposer]
        self._fail(proposer)
        block = self.chain.produce(world.now_ms, proposer=proposer)
        for hash_ in block.hashes:
            found = self.chain.committed(hash_)
            assert found is not None
            self._land(found)
        self._remember()
        if block.hashes:
            held = ", ".join(self.named(hash_) for hash_ in block.hashes)
            world.note(f"block {block.height} of {self.names[proposer]} holds {held}")

    def _fail(self, proposer: int) -> None:
        """One of what is proposed next may fail before its fee and its number are taken."""
        held = list(self.chain.nodes[proposer].mempool.in_order())
        fails = self.chain.app.ante_fails
        fails.clear()
        if held and self.is_hit(self._world.plan.ante):
            fails[held[0].hash] = no_funds("0utia", "1utia")

    def _land(self, found: Committed) -> None:
        if not found.is_used:
            self._world.seen["failed before its number was taken"] += 1
            return
        self.landed.append(found)
        self.users[self.signer(found), found.tx.sequence()] = found

    def signer(self, found: Committed) -> bytes:
        return self._names[found.delivered.signers[0]]

    def named(self, hash_: bytes) -> str:
        found = self.chain.committed(hash_)
        assert found is not None
        who = self.accounts.index(self.signer(found))
        failed = (
            f" with code {found.delivered.verdict.code}" if found.delivered.verdict.code else ""
        )
        return f"{found.tx.body.memo or 'a filler'} of a{who}/{found.tx.sequence()}{failed}"

    def _remember(self) -> None:
        found = [self.chain.account(address) for address in self.accounts]
        shown = [
            None if one is None else CommittedAccount(one.number, one.sequence) for one in found
        ]
        self._shown.append(tuple(shown))

    def height(self, node: int) -> int:
        """As the node shows it."""
        return max(0, self.chain.height - self.lags[node])

    def account_at(self, account: int, height: int) -> CommittedAccount | None:
        return self._shown[height][account]

    # What goes wrong.

    def _hold(self) -> None:
        world, chain = self._world, self.chain
        if chain.is_held and chain.height >= self._held_until:
            chain.is_held = False
        elif self.is_hit(world.plan.faults.hold):
            world.seen["proposals held"] += 1
            world.note("proposers leave everything out")
            chain.is_held = True
            self._held_until = chain.height + self._dice.randint(2, 12)

    def _part(self) -> None:
        """The honest nodes come back one after the other, when all that is signed now is too
        late."""
        world, chain = self._world, self.chain
        is_whole = all(map(self.is_near, range(len(self.names))))
        if not is_whole or not self.is_hit(world.plan.apart):
            return
        world.seen["honest nodes out of reach"] += 1
        world.note("only the liar can be reached")
        last = chain.height + world.plan.settings.timeout_blocks
        for node, name in enumerate(self.names):
            if name != world.plan.liar:
                self._away[node] = last + self._dice.randint(2, 20)

    def _befall(self, node: int, name: str) -> None:
        world, chances, chain = self._world, self._world.plan.faults, self.chain
        if node in self._down:
            if chain.height >= self._down[node]:
                self._restart(node)
            return
        if self.is_hit(chances.restart):
            world.seen["mempool lost on restart"] += len(chain.nodes[node].mempool) > 0
            self._restart(node)
        if self.is_hit(chances.stop):
            world.seen["node stopped"] += 1
            world.note(f"{name} is down")
            chain.stop(node)
            self._down[node] = chain.height + self._dice.randint(1, 10)
            return
        if self.is_hit(chances.evict):
            held = list(chain.nodes[node].mempool.in_order())
            if held:
                one = self._dice.choice(held)
                world.seen["evicted by a mempool"] += 1
                world.note(f"{name} drops sequence {one.tx.sequence()}")
                chain.evict(node, one.hash)
        if self.is_hit(chances.cut):
            chain.nodes[node].is_cut_off = self._dice.random() < 0.5
        if self.is_hit(chances.lag):
            self.lags[node] = self._dice.choice((0, 1, 4))
        if self.is_hit(chances.blind):
            self.blind[node] = self._dice.random() < 0.6
        if self.is_hit(chances.storm):
            self.prices[node] = self._dice.choice((1, 1, 2, 5)) * GAS_PRICE_MICRO
            world.note(f"{name} wants {self.prices[node]} for a million of gas")

    def _restart(self, node: int) -> None:
        self._world.note(f"{self.names[node]} restarts without its mempool")
        self._down.pop(node, None)
        self.chain.restart(node)

    def calm(self) -> None:
        """The faults are over: nodes are up and speak to each other, accounts have money."""
        self.chain.is_held = False
        self._away.clear()
        for node in range(len(self.names)):
            if node in self._down:
                self._restart(node)
            self.chain.nodes[node].is_cut_off = False
            self.prices[node] = GAS_PRICE_MICRO
            self.lags[node] = 0
            self.blind[node] = False
        self.pay()

    def pay(self) -> None:
        for address in self.accounts:
            self.chain.state.change(address, balance=RICH)

    # Transactions.

    def offer(self, node: int, raw: bytes) -> AppVerdict | str:
        """The verdict of a node's application, or the message of its mempool's refusal."""
        self.chain.app.price_micro = self.prices[node]
        try:
            _, verdict = self.chain.broadcast(node, raw)
        except MempoolRefused as error:
            return str(error)
        return verdict

    def hash_of(self, raw: bytes) -> bytes:
        found = self.hashes.get(raw)
        if found is None:
            found = self.hashes[raw] = read(raw).hash
        return found

    def use_foreign(self, account: int) -> None:
        """Someone else has the key as well, and uses a number that a node calls free."""
        world, chain = self._world, self.chain
        node = self._dice.randrange(len(self.names))
        address = self.accounts[account]
        ledger = self._dice.choice((chain.state, chain.nodes[node].checked))
        found = ledger.account(address)
        if found is None or not self.is_up(node):
            return
        made = foreign(
            account,
            f"{FOREIGN}{world.steps}",
            number=found.number,
            sequence=found.sequence,
            price_micro=self._dice.choice((1, 6)) * GAS_PRICE_MICRO,
        )
        self.foreign[address] += 1
        world.seen["foreign transaction"] += 1
        world.note(f"someone else offers a{account}/{found.sequence} to {self.names[node]}")
        self.offer(node, made.raw)

    def is_held(self, hash_: bytes) -> bool:
        """Whether some mempool has it."""
        return any(node.mempool.get(hash_) is not None for node in self.chain.nodes)
