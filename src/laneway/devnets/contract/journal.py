"""The blocks of an embedded devnet in a file, so that its chains outlive the process.

A queue that remembers block 7 waits for ever on a chain that begins anew at block 0. The file is
read when the chain is first asked for anything.
"""

import msgspec

from laneway.devnets.contract.model import ContractBlock, ContractChain, RoundEnded
from laneway.devnets.node.lines import LineFile

encode = msgspec.json.Encoder().encode
decode = msgspec.json.Decoder(ContractBlock).decode


class BlockJournal:
    """One block a line."""

    def __init__(self, path: str) -> None:
        self._lines = LineFile(path)

    def load(self, chain: ContractChain) -> None:
        """Restore in a fresh chain the blocks that were written."""

        def restore(line: bytes) -> bool:
            try:
                return chain.restore(decode(line))
            except msgspec.DecodeError:
                return False

        self._lines.open(restore)

    def write(self, chain: ContractChain, ended: list[RoundEnded]) -> None:
        """Durable before anyone is notified of them, as a node's blocks are."""
        lines = [encode(chain.block(e.contract, e.block)) for e in ended if e.block is not None]
        if lines:
            self._lines.append(*lines)

    def close(self) -> None:
        self._lines.close()
