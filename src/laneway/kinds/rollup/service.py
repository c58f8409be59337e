"""What a chain says of a rollup's service: whether it is one, and how far its blocks are."""

from laneway.builder.packages import Authorizer
from laneway.core.errors import ChainError, ChainUnreadable
from laneway.core.jam import Parameters
from laneway.jam.authorizers import SIGNED_AUTHORIZER
from laneway.jam.ed25519 import HeldEd25519Key
from laneway.jam.errors import InvalidJam
from laneway.jam.service.commitment import AUTHORIZERS_KEY, HEAD_KEY, block_key
from laneway.jam.service.values import BLOCK_RECORD, HEAD, ServiceHead
from laneway.kinds.config import ConfigError
from laneway.kinds.rollup.arrivals import octets_of
from laneway.kinds.rollup.registry import rollup_kinds
from laneway.kinds.rollup.section import AuthorizerSection, RollupSection
from laneway.lanes.bundle.rows import Tip
from laneway.ports import JamChain
from laneway.rollups.authorizers import authorizer_problem
from laneway.signers.authorizer import open_package_key
from laneway.signers.place import SignerUnusable

UNSIGNABLE = (
    "its authorizer lets pass only what is signed with the key in its `config`, and no key is "
    "named; set `signer` to file:PATH or env:NAME, and leave `authorization` out"
)


async def rollup_head(
    chain: JamChain, section: RollupSection, authorizer: Authorizer | None = None
) -> ServiceHead | str:
    """The newest block of a rollup; or why its service is of another kind, or refuses whatever
    this rollup would send by its authorizer, which is that of its table unless another is named."""
    service, kind = section.service, rollup_kinds()[section.kind]
    at = (await chain.head()).best.header_hash
    if await chain.service_account(at, service) is None:
        return f"there is no service {service} on its chain"
    raw = await chain.service_value(at, service, HEAD_KEY)
    if raw is None or await chain.service_value(at, service, kind.genesis_key) is None:
        return f"service {service} is no {kind.name}: it holds no genesis record"
    try:
        head = HEAD.decode(raw, "head")
    except InvalidJam as error:
        return f"service {service} is no {kind.name}: {error}"
    chosen = authorizer or authorizer_of(section)
    try:
        listed = await chain.service_value(at, service, AUTHORIZERS_KEY)
    except ChainUnreadable:
        listed = None  # Most services have no list, and the lane halts where one refuses it.
    return authorizer_problem(listed, chosen.code_hash, chosen.config) or head


def authorizer_of(section: RollupSection) -> Authorizer:
    """By whom a rollup's packages are let pass, with the key that signs them. ConfigError says what
    a person must fix; it shows no key."""
    chosen = section.authorizer
    if chosen is None:
        return Authorizer(host=section.service)
    host = section.service if chosen.host is None else chosen.host
    if chosen.signer is not None:
        return signing(host, signing_key(section, chosen, chosen.signer))
    code_hash = octets_of(chosen.code_hash or "")
    if code_hash == SIGNED_AUTHORIZER:
        raise unfit(section, UNSIGNABLE)
    return Authorizer(
        host=host,
        code_hash=code_hash,
        config=octets_of(chosen.config),
        authorization=octets_of(chosen.authorization),
    )


def signing(host: int, key: HeldEd25519Key) -> Authorizer:
    """The authorizer that lets pass what this key signed."""
    return Authorizer(host=host, code_hash=SIGNED_AUTHORIZER, config=key.public_key, key=key)


def signing_key(section: RollupSection, chosen: AuthorizerSection, signer: str) -> HeldEd25519Key:
    """The key that the table names, which must be the one that the rest of the table is for."""
    try:
        key = open_package_key(signer)
    except SignerUnusable as error:
        raise unfit(section, str(error)) from None
    if chosen.code_hash is not None and octets_of(chosen.code_hash) != SIGNED_AUTHORIZER:
        problem = f"`signer` signs for the authorizer with the code {SIGNED_AUTHORIZER.hex()} alone"
        raise unfit(section, f"{problem}; leave `code_hash` out, or `signer`")
    if chosen.config and octets_of(chosen.config) != key.public_key:
        problem = f"the key of `signer` is {key.public_key.hex()}, and `config` is another one"
        raise unfit(section, f"{problem}; leave `config` out, or name the key of that one")
    return key


def unfit(section: RollupSection, problem: str) -> ConfigError:
    return ConfigError("laneway", f"{section.name}: {problem} - at `$.rollup.authorizer`")


async def applied_block(chain: JamChain, service: int, number: int) -> bytes | None:
    """The hash of the block that had its effect under this number."""
    at = (await chain.head()).best.header_hash
    raw = await chain.service_value(at, service, block_key(number))
    if raw is None:
        return None
    try:
        return BLOCK_RECORD.decode(raw, "block record").block
    except InvalidJam as error:
        raise ChainUnreadable(", ".join(chain.nodes), str(error)) from error


async def foreign_line(chain: JamChain, service: int, tip: Tip) -> str:
    """How the service's blocks contradict the newest block that a lane saw final; empty where it
    does not, or where the nodes are still catching up. On a chain that began anew, as a devnet
    does, the lane would wait for ever."""
    if not tip.block:
        return ""
    found = await applied_block(chain, service, tip.number)
    if found == tip.block or (found is None and await is_behind(chain)):
        return ""
    problem = "has none" if found is None else "has another one"
    return (
        f"the database saw block {tip.number} of rollup:{service} final, and its chain {problem}: "
        "it is another chain, or began anew"
    )


async def is_behind(chain: JamChain) -> bool:
    """Whether the node that is ahead has yet to catch up; one that does not say so has not."""
    try:
        return not (await chain.sync_state()).is_complete
    except ChainError:
        return False


def unfit_cores(section: RollupSection, sizes: Parameters) -> str:
    """Empty: the chain has all that are named."""
    beyond = [core for core in section.cores if core >= sizes.core_count]
    if not beyond:
        return ""
    return f"{section.name}: the chain has cores 0 to {sizes.core_count - 1}, and not {beyond[0]}"
