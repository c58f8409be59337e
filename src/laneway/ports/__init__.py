"""What the engine asks of the world. Adapters on the left implement these; nothing here acts."""

from laneway.ports.contract import (
    ContractCall,
    ContractHost,
    Execution,
    Finding,
    HostTraits,
    PromptHost,
    TracedCall,
)
from laneway.ports.cosmos import (
    CosmosBlob,
    CosmosChain,
    CosmosRequest,
    CosmosSigner,
    PromptCosmosSigner,
)
from laneway.ports.delivery import (
    Message,
    Posted,
    Sender,
)
from laneway.ports.evm import (
    Delegation,
    EvmAuthorization,
    EvmBlobs,
    EvmCall,
    EvmChain,
    EvmRequest,
    PromptSigner,
    Signer,
)
from laneway.ports.jam import JamChain
from laneway.ports.rollup import ExecutedBlock, MadePackage, RollupBuilder
from laneway.ports.store import (
    Alive,
    Cautious,
    Commit,
    Durability,
    Ended,
    FeedEnd,
    IntentView,
    Lost,
    News,
    Store,
    Woken,
)
from laneway.ports.world import (
    Clock,
    Entropy,
)

__all__ = [
    "Alive",
    "Cautious",
    "Clock",
    "Commit",
    "ContractCall",
    "ContractHost",
    "CosmosBlob",
    "CosmosChain",
    "CosmosRequest",
    "CosmosSigner",
    "Delegation",
    "Durability",
    "Ended",
    "Entropy",
    "EvmAuthorization",
    "EvmBlobs",
    "EvmCall",
    "EvmChain",
    "EvmRequest",
    "ExecutedBlock",
    "Execution",
    "FeedEnd",
    "Finding",
    "HostTraits",
    "IntentView",
    "JamChain",
    "Lost",
    "MadePackage",
    "Message",
    "News",
    "Posted",
    "PromptCosmosSigner",
    "PromptHost",
    "PromptSigner",
    "RollupBuilder",
    "Sender",
    "Signer",
    "Store",
    "TracedCall",
    "Woken",
]
