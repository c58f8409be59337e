"""Tables of chains with accounts, EVM's and Cosmos': what contradicts itself in them, and which
environment variables their signers read."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from laneway.kinds.config import Conflict, is_node_url
from laneway.signers.place import SignerUnusable, split

if TYPE_CHECKING:
    from laneway.kinds.cosmos.section import CosmosSection
    from laneway.kinds.evm.section import EvmSection

    ChainTable: TypeAlias = CosmosSection | EvmSection

ENVIRONMENT = "env:"
"""How the place of a signer begins whose key is in an environment variable."""


def account_conflicts(
    path: str, chains: "Sequence[ChainTable]", schemes: tuple[str, ...], port: int
) -> Iterator[Conflict]:
    """What contradicts itself in the tables at `path`: `schemes` are those of their signers, and
    `port` is one that such a node has."""
    problems = [*signer_problems(chains, schemes)]
    for place, chain in enumerate(chains):
        urls = [node if isinstance(node, str) else node.url for node in chain.nodes]
        for other in chains[:place]:
            if other.name == chain.name or other.chain_id == chain.chain_id:
                problem = f"{other.name} and {chain.name} are one chain"
                problems.append(f"{problem}; give it all nodes in one table")
        if not all(is_node_url(url) for url in urls):
            problems.append(f"{chain.name}: a node needs an address like http://127.0.0.1:{port}")
        names = [account.name for account in chain.accounts]
        problems += [
            f"{chain.name}: two accounts are called {name}"
            for name in names
            if names.count(name) > 1
        ]
    return ((path, path, problem) for problem in problems)


def signer_problems(chains: "Sequence[ChainTable]", schemes: tuple[str, ...]) -> Iterator[str]:
    """Accounts whose signer is none, or a key itself."""
    for chain in chains:
        for account in chain.accounts:
            try:
                split(account.signer, schemes)
            except SignerUnusable as error:
                yield f"{chain.name}: the signer of {account.name}: {error.problem}"


def signer_variables(chains: "Sequence[ChainTable]") -> Iterator[str]:
    """The environment variables that hold keys."""
    for chain in chains:
        for account in chain.accounts:
            if account.signer.startswith(ENVIRONMENT):
                yield account.signer.removeprefix(ENVIRONMENT)
