"""A configuration → the kinds of lanes it asks for, the engine on them, and what can be done with
them before a start: a rehearsal, and the adoption of a lane that another program ran.
"""

from collections.abc import Sequence
from typing import Any

from laneway.core.errors import BadRequest, CallerError, LanewayError
from laneway.core.ids import LaneId, lane_kind
from laneway.engine.heart import HeartPace, Retention
from laneway.engine.shell import Listener
from laneway.engine.system import SystemClock
from laneway.kinds.config import ConfigError
from laneway.kinds.registry import kinds
from laneway.kinds.served import Opening, Served
from laneway.ports import Clock
from laneway.wiring.config import Configuration
from laneway.wiring.embedded import Laneway
from laneway.wiring.keys import read_keys
from laneway.wiring.limits import RETENTION_DAYS_MAX
from laneway.wiring.process import run
from laneway.wiring.schema import RetentionSection
from laneway.wiring.store import check_store, open_store

DAY_MS = 86_400_000


def open_laneway(configuration: Configuration, listeners: Sequence[Listener] = ()) -> Laneway:
    """The engine that a configuration describes. Enter it to start it."""
    config = configuration.config
    clock = SystemClock()
    # Opened first: a mistake of theirs must not leave a store open.
    served = open_kinds(configuration, clock)
    return Laneway(
        open_store(config.store.path, clock, config.store.options()),
        served,
        clock,
        listeners,
        retention=retention_of(config.retention),
        pace=HeartPace(config.engine.heartbeat_ms, config.engine.lease_ms),
    )


def open_kinds(configuration: Configuration, clock: Clock) -> list[Served]:
    """Every kind of lane that is installed; nothing is connected yet."""
    opening = Opening(configuration.config, clock, configuration.origins)
    return [kind.open(opening) for kind in kinds().values()]


def retention_of(section: RetentionSection) -> Retention:
    return Retention(
        intents_ms=(section.intents_days or RETENTION_DAYS_MAX) * DAY_MS,
        feed_ms=(section.feed_days or RETENTION_DAYS_MAX) * DAY_MS,
    )


def check_here(configuration: Configuration) -> None:
    """Raise what `laneway up` would before it asks anyone; each is a CallerError, for the
    configuration is at fault.

    Files of secrets are read, signers are opened and extras are imported, as a start does it.
    Nothing is written, and nothing is asked over the network.
    """
    try:
        run(_check(configuration))
    except CallerError:
        raise
    except LanewayError as error:
        raise ConfigError(configuration.file or "laneway", str(error)) from error


async def _check(configuration: Configuration) -> None:
    config = configuration.config
    if config.server.keys_file is not None:
        read_keys(config.server.keys_file)
    check_store(config.store.path, config.store.options())
    for kind in open_kinds(configuration, SystemClock()):
        await kind.rehearse()


def adopt_lane(configuration: Configuration, lane: str, *, dry_run: bool) -> Any:
    """Take over a lane that another program ran; the report has `problems` and `lines()`."""
    return run(_adopt(configuration, lane, dry_run=dry_run))


async def _adopt(configuration: Configuration, lane: str, *, dry_run: bool) -> Any:
    config = configuration.config
    kind = kinds().get(lane_kind(LaneId(lane)))
    if kind is None:
        raise BadRequest("lane", f"there is no kind of lane for {lane}")
    store = open_store(config.store.path, SystemClock(), config.store.options())
    try:
        return await kind.adopt(config, store, lane, dry_run=dry_run)
    finally:
        await store.close()
