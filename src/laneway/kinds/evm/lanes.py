"""EVM chains and accounts: a configuration → what their lanes need to act."""

from collections.abc import Sequence

from msgspec import convert

from laneway.chains.evm.chain import RpcChain
from laneway.chains.evm.endpoint import EvmPlace
from laneway.chains.evm.phrases import read_rows
from laneway.core.ids import LaneId
from laneway.devnets.evm.devnet import EvmDevnet
from laneway.engine.eoa import ChainView, EoaPerformer, EvmAccount
from laneway.engine.eoa.account import KIND
from laneway.kinds.common.lanes import AccountLanes, account_names, check_twins
from laneway.kinds.evm.devnet import NODE_NAME, dev_signer, devnet_lines, open_devnet
from laneway.kinds.evm.section import (
    AccountSection,
    EoaSection,
    EvmSection,
    nodes_of,
    settings_of,
)
from laneway.kinds.evm.views import ConfiguredEvmAccount
from laneway.lanes.eoa.machine import eoa_kind
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.kind import LaneKind
from laneway.ports import Clock, Signer
from laneway.signers.opening import open_signer


class EvmLanes(AccountLanes[EvmSection, ConfiguredEvmAccount]):
    """The EVM accounts of this process; a lane is named by its account's address, which only the
    signer knows."""

    kind_name = KIND

    def __init__(self, chains: Sequence[EvmSection], eoa: EoaSection, clock: Clock) -> None:
        super().__init__(chains)
        self._eoa = eoa
        self._clock = clock
        self.devnet: EvmDevnet | None = None
        """The chain inside this process, where there is one."""
        self.settings: dict[LaneId, EoaSettings] = {}
        self.accounts: dict[LaneId, EvmAccount] = {}
        self.performer = EoaPerformer(self.accounts, clock)

    def machine(self) -> LaneKind:
        return eoa_kind(self.settings)

    def spelled(self, name: str) -> str:
        """In any case of letters."""
        return name.lower()

    async def _open_table(self, section: EvmSection) -> None:
        poll_ms = section.poll_ms if isinstance(section.poll_ms, int) else self._eoa.poll_ms
        places = convert(nodes_of(section), list[EvmPlace], from_attributes=True)
        if section.is_embedded():
            self.devnet = open_devnet(section)
            self._closing.append(self.devnet.close)
            await self.devnet.start()
            places = [EvmPlace(self.devnet.url, name=NODE_NAME, ws_url=self.devnet.ws_url)]
        chain = open_chain(section, poll_ms, places)
        self._closing.append(chain.close)
        view = ChainView(chain, self._clock)
        self.chains[section.name] = chain
        for account in section.accounts:
            signer = await self._open_signer(section, account)
            self._closing.append(signer.close)
            opened = EvmAccount(
                section.chain_id,
                view,
                signer,
                gas_percent=self._eoa.gas_percent,
                streams=self._eoa.streams,
            )
            lane, settings = opened.lane, settings_of(self._eoa, section, account, chain.nodes)
            check_twins(section, account, self.configured.get(lane))
            self.accounts[lane], self.settings[lane] = opened, settings
            configured = ConfiguredEvmAccount(
                lane, account.name, opened.address, section.chain_id, section.name, settings
            )
            self.enter(
                lane, configured, account_names(section, account, f"0x{opened.address.hex()}")
            )

    async def _open_signer(self, section: EvmSection, account: AccountSection) -> Signer:
        if self.devnet is not None and section.is_embedded():
            return dev_signer(self.devnet, account.signer)
        return await open_signer(account.signer, password_file=account.password_file)

    def lines(self, server: str) -> list[str]:
        """What a start says of a chain of one's own."""
        own = [section for section in self.sections if section.is_embedded()]
        return [] if self.devnet is None else devnet_lines(self.devnet, own[0], server)


def open_chain(
    section: EvmSection, poll_ms: int, places: Sequence[EvmPlace] | None = None
) -> RpcChain:
    """The nodes of a table, unless others are named."""
    return RpcChain(
        places or convert(nodes_of(section), list[EvmPlace], from_attributes=True),
        chain_id=section.chain_id,
        preconfirmed=section.flashblocks,
        words=read_rows(section.words, f"evm.{section.name}.words"),
        poll_ms=poll_ms,
    )
