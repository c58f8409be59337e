"""What the nodes and validators of a chain model answer; nothing is changed by asking.

Reads are those of a node, at a block that the node has seen. Unavailable names what it has not.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from laneway.devnets.jam.model.faults import Faults
from laneway.devnets.jam.model.genesis import begun
from laneway.devnets.jam.model.keyring import Keyring
from laneway.devnets.jam.model.network import Network, NetworkNode
from laneway.devnets.jam.model.parameters import parameters
from laneway.devnets.jam.model.shards import ShardStore
from laneway.devnets.jam.model.tree import BlockTree, TreeEntry
from laneway.devnets.jam.model.values import (
    BlockUnavailable,
    Descriptor,
    ModelSetup,
    ReportUnavailable,
    ShardUnavailable,
    StateProof,
    Status,
    StepReport,
)
from laneway.devnets.jam.model.voters import Voters
from laneway.jam import state_keys
from laneway.jam.availability import Holding
from laneway.jam.header import block_codec, header_codec, header_hash
from laneway.jam.package import RefineContext
from laneway.jam.report import WORK_REPORT, WorkReport
from laneway.jam.state import REQUEST
from laneway.jam.validators import ValidatorSets, genesis_sets
from laneway.jam.votes import Fragment, Justification


class ChainAnswers:
    """A chain at its genesis, and all that can be asked of it."""

    def __init__(self, setup: ModelSetup) -> None:
        self.setup = setup
        self.spec = setup.spec
        self.faults = Faults()
        self.slot = setup.genesis_slot
        """The newest slot that something happened in: what time it is."""
        self._keyring = Keyring(setup.spec, setup.validator_pool_count, signs=setup.signs)
        block, state = begun(setup, self._keyring)
        self.genesis = header_hash(block.header, setup.spec)
        """The hash of the genesis header."""
        made = StepReport(
            slot=setup.genesis_slot,
            made=Descriptor(self.genesis, setup.genesis_slot),
            pending=(None,) * setup.spec.core_count,
        )
        first = TreeEntry(block, self.genesis, state, made)
        self._tree = BlockTree(first, setup.spec.lookup_anchor_slots_max)
        self._network = Network(self._tree, first, setup.nodes, self.faults)
        mark = block.header.epoch_mark
        assert mark is not None
        sets = replace(genesis_sets(mark), slot=setup.genesis_slot)
        self._voters = Voters(self._tree, self._keyring, self.faults, sets)
        self._shards = ShardStore(setup.spec, codes=setup.codes_shards)
        self._reports: dict[bytes, tuple[WorkReport, dict[bytes, None]]] = {}
        """By their hashes, with the blocks that report them."""

    # Where the chain stands.

    def clock(self, node: int) -> int:
        """The slot that the node takes for the present one."""
        return self.slot + self.faults.skew_slots.get(node, 0)

    def best(self, node: int) -> Descriptor:
        return self._node(node).view.best.descriptor

    def finalized(self, node: int) -> Descriptor:
        return self._node(node).view.final.descriptor

    def has_seen(self, node: int, block: bytes) -> bool:
        return block in self._node(node).view.seen

    def number(self, node: int, block: bytes) -> int:
        """Its height above the genesis."""
        return self._entry(node, block).number

    def parent(self, node: int, block: bytes) -> Descriptor:
        """BlockUnavailable for the parent of the genesis and of the oldest known blocks."""
        return self._entry(node, self._entry(node, block).parent).descriptor

    def header(self, node: int, block: bytes) -> bytes:
        return header_codec(self.spec).encode(self._entry(node, block).block.header)

    def block(self, node: int, block: bytes) -> bytes:
        return block_codec(self.spec).encode(self._entry(node, block).block)

    def made(self, node: int, block: bytes) -> StepReport:
        """What the block did when it was made."""
        return self._entry(node, block).made

    def parameters(self) -> Mapping[str, int]:
        """The numbers of JIP-2's `parameters`, version 1."""
        return parameters(self.spec)

    def refine_context(self, node: int, prerequisites: Sequence[bytes] = ()) -> RefineContext:
        """The freshest that builders use: anchored at the parent of the best block, looked up at
        the parent of the final one; at the genesis, at itself."""
        view = self._node(node).view
        anchor = self._tree.get(view.best.parent) or view.best
        lookup = self._tree.get(view.final.parent) or view.final
        return RefineContext(
            anchor=anchor.hash,
            state_root=anchor.state.trie.root,
            beefy_root=anchor.state.history.blocks[-1].beefy_root,
            lookup_anchor=lookup.hash,
            lookup_anchor_slot=lookup.slot,
            prerequisites=tuple(prerequisites),
        )

    # The state after a block.

    def state_root(self, node: int, block: bytes) -> bytes:
        """After the block; the next header has it."""
        return self._entry(node, block).state.trie.root

    def beefy_root(self, node: int, block: bytes) -> bytes:
        return self._entry(node, block).state.history.blocks[-1].beefy_root

    def state_value(self, node: int, block: bytes, key: bytes) -> bytes | None:
        """What stands under one of the 31-byte keys of `state_keys`."""
        return self._entry(node, block).state.trie.get(key)

    def state_proof(self, node: int, block: bytes, key: bytes) -> StateProof:
        trie = self._entry(node, block).state.trie
        return StateProof(trie.get(key), trie.proof(key))

    def state(self, node: int, block: bytes) -> Mapping[bytes, bytes]:
        """All keys and values; for tests."""
        return dict(self._entry(node, block).state.trie.items())

    def statistics(self, node: int, block: bytes) -> bytes:
        found = self.state_value(node, block, state_keys.STATISTICS)
        assert found is not None
        return found

    def services(self, node: int, block: bytes) -> tuple[int, ...]:
        return tuple(sorted(self._entry(node, block).state.accounts))

    def service_data(self, node: int, block: bytes, service: int) -> bytes | None:
        return self.state_value(node, block, state_keys.account_key(service))

    def service_value(self, node: int, block: bytes, service: int, key: bytes) -> bytes | None:
        return self.state_value(node, block, state_keys.storage_key(service, key))

    def service_preimage(
        self, node: int, block: bytes, service: int, hashed: bytes
    ) -> bytes | None:
        return self.state_value(node, block, state_keys.preimage_key(service, hashed))

    def service_request(
        self, node: int, block: bytes, service: int, hashed: bytes, length: int
    ) -> tuple[int, ...] | None:
        """The slots at which it was provided, forgotten and provided again, if it was requested."""
        found = self.state_value(node, block, state_keys.request_key(service, hashed, length))
        return None if found is None else REQUEST.decode(found, "request")

    # Packages and reports.

    def status(self, node: int, block: bytes, package: bytes, anchor: bytes) -> Status:
        """What a package with this anchor is on the fork of the block, after it."""
        return self._tree.status(self._entry(node, block), package, self._entry(node, anchor))

    def is_accumulated(self, node: int, block: bytes, package: bytes) -> bool:
        """Whether the accumulation history after the block names it."""
        history = self._entry(node, block).state.queue.accumulated
        return any(package in packages for packages in history)

    def work_report(self, node: int, report: bytes) -> bytes:
        """ReportUnavailable unless a block that the node has seen reports it."""
        seen = self._node(node).view.seen
        known = self._reports.get(report)
        if known is None or not any(block in seen for block in known[1]):
            raise ReportUnavailable(report)
        return WORK_REPORT.encode(known[0])

    # Finality.

    def justification(self, node: int, block: bytes) -> Justification | None:
        """Why the block is final; None while the node does not know it to be. The genesis is final
        without a vote."""
        entry = self._entry(node, block)
        if entry.number > self._node(node).view.final.number:
            return None
        return self._voters.justification(entry)

    def fragments(self, set_id: int) -> tuple[Fragment, ...]:
        """The changes of the voters' set from this one on, each with its proof (CE 153)."""
        return self._voters.fragments(set_id)

    def voters(self) -> ValidatorSets:
        """Who votes, and how far finality has come."""
        return self._voters.sets

    # What validators keep of packages.

    def holding(self, validator: int, erasure_root: bytes) -> Holding:
        """All that the validator in this place keeps of a package, with its proof."""
        kept = self._shards.get(erasure_root)
        if kept is not None and kept.core in self.faults.unavailable_cores:
            raise ShardUnavailable(erasure_root)
        return self._shards.holding(validator, erasure_root)

    def shard(self, validator: int, erasure_root: bytes, index: int) -> Holding:
        """ShardUnavailable unless the validator in this place keeps the shard of this index."""
        found = self.holding(validator, erasure_root)
        if found.index != index:
            raise ShardUnavailable(erasure_root)
        return found

    def segments(self, root: bytes, indices: Sequence[int]) -> tuple[bytes, ...]:
        """Exported segments, by their root or by their package's hash; SegmentUnavailable if one
        of them is not kept."""
        return self._shards.segments(root, indices)

    def _node(self, node: int) -> NetworkNode:
        return self._network.follow(node, self.slot)

    def _entry(self, node: int, block: bytes) -> TreeEntry:
        entry = self._tree.get(block)
        if entry is None or block not in self._node(node).view.seen:
            raise BlockUnavailable(block)
        return entry
