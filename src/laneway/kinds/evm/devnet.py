"""An EVM chain inside this process, for trying out account lanes: what it is called, and what it
says. It is forgotten with the process, and so is what was sent to it."""

from laneway.devnets.evm.devnet import EvmDevnet
from laneway.kinds.evm.section import DEV_BLOCK_MS, EvmSection, dev_index
from laneway.kinds.served import SERVER_DEFAULT
from laneway.signers.local import LocalSigner
from laneway.wire.hex import octets

NODE_NAME = "dev"
"""It is committed with what is offered, so it stays."""


def open_devnet(section: EvmSection) -> EvmDevnet:
    """Its node is at any free port of this machine."""
    block_ms = section.block_ms if isinstance(section.block_ms, int) else DEV_BLOCK_MS
    return EvmDevnet(block_ms=block_ms, chain_id=section.chain_id)


def dev_signer(devnet: EvmDevnet, place: str) -> LocalSigner:
    """The signer `dev:N` of a known account."""
    return LocalSigner(place, devnet.accounts[dev_index(place)].secret)


def devnet_lines(devnet: EvmDevnet, section: EvmSection, server: str) -> list[str]:
    """What a person needs to try it out."""
    who, whom = section.accounts[0], devnet.accounts[-1]
    lines = [
        f"EVM node    {devnet.url} (chain {devnet.chain_id} in this process)",
        "accounts    and their keys, which everybody knows; 10,000 ether each:",
    ]
    for account in section.accounts:
        known = devnet.accounts[dev_index(account.signer)]
        lane = f"evm:{section.name}:{account.name}"
        lines.append(f"  {lane}  {octets(known.address)}  {octets(known.secret)}")
    lane, to = f"evm:{section.name}:{who.name}", octets(whom.address)
    where = "" if server == SERVER_DEFAULT else f" --url {server}"
    body = f'{{"lane": "{lane}", "payload": {{"to": "{to}", "value": "1000000000"}}}}'
    return [
        *lines,
        f"try         laneway send {lane} --to {to} --value 1gwei --wait{where}",
        f"or          curl {server}/v1/transactions -H 'content-type: application/json' "
        f"-d '{body}'",
    ]
