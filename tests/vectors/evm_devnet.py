"""The EVM devnet where hive's chain goes on: from the state before block 45, with the blocks after
it imported."""

from tests.vectors.block_replay import FIRST, chain, listed, schedule, state

from laneway.devnets.evm.model.continued import ChainOrigin, ContinuedModel
from laneway.devnets.evm.model.rules import GETH
from laneway.devnets.evm.model.states import ExecutedState
from laneway.evm.header import hash_of


def continued() -> ContinuedModel:
    """Before the first import."""
    before = state("pre_state_block45.json")
    blocks = [block for _, block in chain()]
    origin = ChainOrigin(
        header=blocks[FIRST - 2].header,
        state=ExecutedState(before.trie(), before.codes),
        schedule=schedule()[::-1],
        hashes={block.header.number: hash_of(block.header) for block in blocks[: FIRST - 2]},
    )
    chain_id = listed("tests", "genesis.json")["config"]["chainId"]
    return ContinuedModel(origin, chain_id=chain_id, rules=GETH)


def imported() -> ContinuedModel:
    model = continued()
    for _, block in chain()[FIRST - 1 :]:
        model.import_block(block)
    return model
