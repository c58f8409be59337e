"""Cosmos chains and accounts: a configuration → what their lanes need to act."""

from collections.abc import Sequence

from msgspec import UNSET, Struct
from msgspec.structs import replace

from laneway.chains.cosmos.chain import CometChain
from laneway.chains.cosmos.words import read_rows
from laneway.chains.endpoint import NodePlace
from laneway.core.errors import LaneNotFound
from laneway.core.ids import LaneId
from laneway.engine.sequence import CosmosAccount, CosmosView, SequencePerformer
from laneway.engine.sequence.account import KIND
from laneway.lanes.kind import LaneKind
from laneway.lanes.sequence import SequenceSettings, sequence_kind
from laneway.ports import Clock, CosmosChain, CosmosSigner
from laneway.signers.cosmos import open_cosmos_signer
from laneway.signers.place import shown_signer
from laneway.wiring.config import ConfigError
from laneway.wiring.schema_cosmos import (
    CosmosAccountSection,
    CosmosSection,
    SequenceSection,
    cosmos_nodes,
    micro,
    price_micro_max,
    sequence_settings,
)


class CosmosShown(Struct, frozen=True):
    """One account as people know it."""

    lane: LaneId
    name: str
    address: str
    chain_id: str
    chain_name: str
    settings: SequenceSettings
    prefix: str = ""
    denom: str = ""
    worker_of: LaneId | None = None
    """Of a worker account: the lane whose account pays its fees."""


class CosmosLanes:
    """The Cosmos accounts of this process. Opened before the engine starts, for a lane is named by
    its account's address, which only the signer knows."""

    kind_name = KIND

    def __init__(
        self, chains: Sequence[CosmosSection], section: SequenceSection, clock: Clock
    ) -> None:
        self._sections = chains
        self.section = section
        self._clock = clock
        self.settings: dict[LaneId, SequenceSettings] = {}
        self.accounts: dict[LaneId, CosmosAccount] = {}
        self._shown: dict[LaneId, CosmosShown] = {}
        self._names: dict[tuple[str, str], LaneId] = {}
        self.chains: dict[str, CosmosChain] = {}
        self._opened: list[CosmosChain | CosmosSigner] = []
        self.performer = SequencePerformer(
            self.accounts,
            clock,
            offers_at_once=section.offers_at_once,
            looks_at_once=section.looks_at_once,
        )

    def kind(self) -> LaneKind:
        return sequence_kind(self.settings)

    # What others ask.

    def lanes(self) -> list[LaneId]:
        return list(self._shown)

    def account(self, lane: LaneId) -> CosmosShown:
        found = self._shown.get(lane)
        if found is None:
            raise LaneNotFound(lane)
        return found

    def lane(self, text: str) -> LaneId:
        """`cosmos:CHAIN:ACCOUNT`, each by its name or by what it stands for; `cosmos:CHAIN` where
        the chain has one account."""
        kind, _, rest = text.partition(":")
        chain, _, account = rest.partition(":")
        if kind == KIND and not account:
            own = {
                lane
                for (named, _), lane in self._names.items()
                if named == chain and self._shown[lane].worker_of is None
            }
            if len(own) == 1:
                return own.pop()
        found = self._names.get((chain, account)) if kind == KIND else None
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

    async def _open_chain(self, section: CosmosSection) -> None:
        chain = open_chain(section)
        self._opened.append(chain)
        self.chains[section.name] = chain
        view = view_of(chain, section, self._clock)
        for account in section.accounts:
            signer = await open_cosmos_signer(account.signer, password_file=account.password_file)
            self._opened.append(signer)
            main = self.add(section, account, view, signer)
            for number in range(1, account.workers + 1):
                worker = replace(
                    account, name=f"{account.name}-{number}", granter=self._shown[main].address
                )
                self.add(section, worker, view, signer.worker(number), worker_of=main)

    def workers(self, lane: LaneId) -> list[LaneId]:
        """The lanes that submit in the name of this one's account."""
        return [one.lane for one in self._shown.values() if one.worker_of == lane]

    def add(
        self,
        section: CosmosSection,
        account: CosmosAccountSection,
        view: CosmosView,
        signer: CosmosSigner,
        *,
        worker_of: LaneId | None = None,
    ) -> LaneId:
        settings = sequence_settings(self.section, section, account, view.chain.nodes)
        opened = CosmosAccount(
            view,
            signer,
            timeout_blocks=settings.timeout_blocks,
            gas_percent=self.section.gas_percent,
            gas_default=self.section.gas_default,
            fee_max=None if account.fee_max is UNSET else account.fee_max,
            granter=account.granter,
        )
        lane = opened.lane
        if lane in self._shown:
            twin = self._shown[lane].name
            raise ConfigError(
                shown_signer(account.signer),
                f"{account.name} and {twin} are one account on {section.name}",
            )
        self.accounts[lane], self.settings[lane] = opened, settings
        self._shown[lane] = CosmosShown(
            lane,
            account.name,
            opened.address,
            section.chain_id,
            section.name,
            settings,
            section.prefix,
            section.denom,
            worker_of,
        )
        for chain in (section.name, section.chain_id):
            for name in (account.name, opened.address):
                self._names[chain, name] = lane
        return lane

    async def close(self) -> None:
        while self._opened:
            await self._opened.pop().close()


def view_of(chain: CosmosChain, section: CosmosSection, clock: Clock) -> CosmosView:
    return CosmosView(
        chain,
        clock,
        chain_id=section.chain_id,
        prefix=section.prefix,
        denom=section.denom,
        price_micro=None if section.gas_price is None else micro(section.gas_price),
        price_micro_min=micro(section.gas_price_min),
        price_micro_max=price_micro_max(section),
    )


def open_chain(section: CosmosSection) -> CometChain:
    places = [
        NodePlace(url=node.url, name=node.name, calls_per_s=node.calls_per_s)
        for node in cosmos_nodes(section)
    ]
    rows = read_rows(section.words, f"cosmos.{section.name}.words")
    return CometChain(places, section.chain_id, rows)
