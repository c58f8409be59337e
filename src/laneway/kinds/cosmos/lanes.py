"""Cosmos chains and accounts: a configuration → what their lanes need to act."""

from collections.abc import Sequence

from msgspec import UNSET, convert
from msgspec.structs import replace

from laneway.chains.cosmos.chain import CometChain
from laneway.chains.cosmos.phrases import read_rows
from laneway.chains.endpoint import NodePlace
from laneway.core.ids import LaneId
from laneway.engine.sequence import CosmosAccount, CosmosView, SequencePerformer
from laneway.engine.sequence.account import KIND
from laneway.kinds.common.lanes import AccountLanes, account_names, check_twins
from laneway.kinds.cosmos.section import (
    CosmosAccountSection,
    CosmosSection,
    SequenceSection,
    cosmos_nodes,
    micro,
    price_micro_max,
    sequence_settings,
)
from laneway.kinds.cosmos.views import ConfiguredCosmosAccount
from laneway.lanes.kind import LaneKind
from laneway.lanes.sequence import SequenceSettings, sequence_kind
from laneway.ports import Clock, CosmosChain, CosmosSigner
from laneway.signers.cosmos import open_cosmos_signer


class CosmosLanes(AccountLanes[CosmosSection, ConfiguredCosmosAccount]):
    """The Cosmos accounts of this process; a lane is named by its account's address, which only
    the signer knows."""

    kind_name = KIND

    def __init__(
        self, chains: Sequence[CosmosSection], section: SequenceSection, clock: Clock
    ) -> None:
        super().__init__(chains)
        self.section = section
        self._clock = clock
        self.settings: dict[LaneId, SequenceSettings] = {}
        self.accounts: dict[LaneId, CosmosAccount] = {}
        self.performer = SequencePerformer(
            self.accounts,
            clock,
            offers_at_once=section.offers_at_once,
            looks_at_once=section.looks_at_once,
        )

    def machine(self) -> LaneKind:
        return sequence_kind(self.settings)

    def lane(self, text: str) -> LaneId:
        """`cosmos:CHAIN` names the account of a chain that has one, beside its workers."""
        kind, _, name = text.partition(":")
        own = [
            one.lane
            for one in self.configured.values()
            if one.worker_of is None and name.removesuffix(":") in (one.chain_name, one.chain_id)
        ]
        return own[0] if kind == KIND and len(own) == 1 else super().lane(text)

    async def _open_table(self, section: CosmosSection) -> None:
        chain = open_chain(section)
        self._closing.append(chain.close)
        self.chains[section.name] = chain
        view = view_of(chain, section, self._clock)
        for account in section.accounts:
            signer = await open_cosmos_signer(account.signer, password_file=account.password_file)
            self._closing.append(signer.close)
            main = self.add(section, account, view, signer)
            for number in range(1, account.workers + 1):
                worker = replace(
                    account, name=f"{account.name}-{number}", granter=self.configured[main].address
                )
                self.add(section, worker, view, signer.worker(number), worker_of=main)

    def workers(self, lane: LaneId) -> list[LaneId]:
        """The lanes that submit in the name of this one's account."""
        return [one.lane for one in self.configured.values() if one.worker_of == lane]

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
        check_twins(section, account, self.configured.get(lane))
        self.accounts[lane], self.settings[lane] = opened, settings
        configured = ConfiguredCosmosAccount(
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
        return self.enter(lane, configured, account_names(section, account, opened.address))


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
    places = convert(cosmos_nodes(section), list[NodePlace], from_attributes=True)
    rows = read_rows(section.words, f"cosmos.{section.name}.words")
    return CometChain(places, section.chain_id, rows)
