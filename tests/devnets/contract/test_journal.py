"""A devnet's chains outlive the process, and what a crash tore is cut away."""

import asyncio
from pathlib import Path

import pytest

from laneway.devnets.contract.journal import BlockJournal
from laneway.devnets.contract.model import ContractBlock, ContractChain
from laneway.devnets.contract.node.host import EmbeddedHost
from laneway.ports import ContractCall


def grown(path: Path, *calls: tuple[str, str]) -> dict[str, tuple[ContractBlock, ...]]:
    """Another life of the host: what it executes, and all chains at its end."""
    chain = ContractChain(round_ms=1)

    async def main() -> None:
        host = EmbeddedHost(chain, journal=BlockJournal(str(path)))
        for contract, data in calls:
            parent = await host.latest_block(contract)
            await host.execute(ContractCall(contract, "did:1", data), parent)
        await host.latest_block("A")
        await host.close()

    asyncio.run(main())
    return {contract: chain.history(contract) for contract in sorted(chain.contracts())}


def test_the_next_life_goes_on_behind_the_last_block(tmp_path: Path) -> None:
    file = tmp_path / "db-devnet"
    first = grown(file, ("A", "1"), ("B", "1"), ("A", "2"))
    assert grown(file) == first
    second = grown(file, ("A", "3"))
    assert second["A"][:3] == first["A"]
    assert [block.number for block in second["A"]] == [0, 1, 2, 3]
    assert second["A"][3].round == 4
    assert second["B"] == first["B"]


@pytest.mark.parametrize(
    "tail", [b'{"number":3', b"\x00\x00\x00\n", b'{"number":3,"parent":2}\n', b"x"]
)
def test_a_torn_end_is_cut_away(tmp_path: Path, tail: bytes) -> None:
    file = tmp_path / "db-devnet"
    first = grown(file, ("A", "1"), ("A", "2"))
    file.write_bytes(file.read_bytes() + tail)
    assert grown(file) == first
    assert [block.data for block in grown(file, ("A", "3"))["A"]] == ["", "1", "2", "3"]
    assert len(grown(file)["A"]) == 4


def test_a_block_that_does_not_follow_ends_the_chain_there(tmp_path: Path) -> None:
    file = tmp_path / "db-devnet"
    grown(file, ("A", "1"), ("A", "2"), ("A", "3"))
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + lines[2])
    assert len(grown(file)["A"]) == 2


def test_nothing_is_read_or_written_before_the_chain_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "db-devnet"

    async def main() -> None:
        host = EmbeddedHost(ContractChain(), journal=BlockJournal(str(file)))
        await host.close()

    asyncio.run(main())
    assert not file.exists()
