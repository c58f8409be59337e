"""EVM chains and accounts: a configuration → what their lanes need to act."""

from collections.abc import Sequence

from msgspec import Struct

from laneway.chains.evm.chain import RpcChain
from laneway.chains.evm.endpoint import Place
from laneway.chains.evm.words import read_rows
from laneway.core.errors import LaneNotFound
from laneway.core.ids import LaneId
from laneway.engine.eoa import ChainView, EoaPerformer, EvmAccount
from laneway.engine.eoa.account import KIND
from laneway.lanes.eoa.machine import eoa_kind
from laneway.lanes.eoa.settings import EoaSettings
from laneway.lanes.kind import LaneKind
from laneway.ports import Clock, EvmChain, Signer
from laneway.signers.opening import open_signer
from laneway.signers.place import shown_signer
from laneway.wiring.config import ConfigError
from laneway.wiring.schema_evm import (
    AccountSection,
    EoaSection,
    EvmSection,
    nodes_of,
    settings_of,
)


class AccountShown(Struct, frozen=True):
    """One account as people know it."""

    lane: LaneId
    name: str
    address: bytes
    chain_id: int
    chain_name: str
    settings: EoaSettings


class EvmLanes:
    """The accounts of this process. Opened before the engine starts, for a lane is named by its
    account's address, which only the signer knows."""

    kind_name = KIND

    def __init__(self, chains: Sequence[EvmSection], eoa: EoaSection, clock: Clock) -> None:
        self._sections = chains
        self._eoa = eoa
        self._clock = clock
        self.settings: dict[LaneId, EoaSettings] = {}
        self.accounts: dict[LaneId, EvmAccount] = {}
        self._shown: dict[LaneId, AccountShown] = {}
        self._names: dict[tuple[str, str], LaneId] = {}
        self.chains: dict[str, EvmChain] = {}
        self._opened: list[RpcChain | Signer] = []
        self.performer = EoaPerformer(self.accounts, clock)

    def kind(self) -> LaneKind:
        return eoa_kind(self.settings)

    # What others ask.

    def lanes(self) -> list[LaneId]:
        return list(self._shown)

    def account(self, lane: LaneId) -> AccountShown:
        found = self._shown.get(lane)
        if found is None:
            raise LaneNotFound(lane)
        return found

    def lane(self, text: str) -> LaneId:
        """`evm:CHAIN:ACCOUNT`, each by its name or its number, in any case of letters."""
        kind, _, rest = text.partition(":")
        chain, _, account = rest.partition(":")
        found = self._names.get((chain.lower(), account.lower())) if kind == KIND else None
        if found is None:
            raise LaneNotFound(text)
        return found

    # Its life.

    async def open(self) -> None:
        try:
            for section in self._sections:
                await self._open_chain(section)
        except BaseException:
            await self.close()
            raise

    async def _open_chain(self, section: EvmSection) -> None:
        chain = open_chain(section, self._poll_ms(section))
        self._opened.append(chain)
        view = ChainView(chain, self._clock)
        self.chains[section.name] = chain
        for account in section.accounts:
            signer = await open_signer(account.signer, password_file=account.password_file)
            self._opened.append(signer)
            opened = EvmAccount(
                section.chain_id,
                view,
                signer,
                gas_percent=self._eoa.gas_percent,
                streams=self._eoa.streams,
            )
            settings = settings_of(self._eoa, section, account, chain.nodes)
            self.add(section, account, opened, settings)

    def _poll_ms(self, section: EvmSection) -> int:
        return self._eoa.poll_ms if not isinstance(section.poll_ms, int) else section.poll_ms

    def add(
        self,
        section: EvmSection,
        account: AccountSection,
        opened: EvmAccount,
        settings: EoaSettings,
    ) -> None:
        lane = opened.lane
        if lane in self._shown:
            twin = self._shown[lane].name
            raise ConfigError(
                shown_signer(account.signer),
                f"{account.name} and {twin} are one account on {section.name}",
            )
        self.accounts[lane], self.settings[lane] = opened, settings
        self._shown[lane] = AccountShown(
            lane, account.name, opened.address, section.chain_id, section.name, settings
        )
        for chain in (section.name, str(section.chain_id)):
            for name in (account.name, f"0x{opened.address.hex()}"):
                self._names[chain, name] = lane

    async def close(self) -> None:
        while self._opened:
            await self._opened.pop().close()


def open_chain(section: EvmSection, poll_ms: int) -> RpcChain:
    places = [
        Place(
            url=node.url,
            name=node.name,
            ws_url=node.ws_url,
            calls_per_s=node.calls_per_s,
            client=node.client,
        )
        for node in nodes_of(section)
    ]
    return RpcChain(
        places,
        chain_id=section.chain_id,
        preconfirmed=section.flashblocks,
        words=read_rows(section.words, f"evm.{section.name}.words"),
        poll_ms=poll_ms,
    )
