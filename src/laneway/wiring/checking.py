"""Whether a configuration can be used here: what a start would refuse before it asks anyone.

Files of secrets are read, signers are opened and extras are imported, as a start does it. Nothing
is written, and nobody is asked over the network.
"""

from laneway.core.errors import CallerError, LanewayError
from laneway.wiring.config import ConfigError, Configuration
from laneway.wiring.contract import open_accounts, open_cosmos, open_host, open_rollups
from laneway.wiring.keys import read_keys
from laneway.wiring.process import run
from laneway.wiring.schema import Config
from laneway.wiring.store import check_store
from laneway.wiring.system import SystemClock
from laneway.wiring.webhooks import read_webhooks


def check_here(configuration: Configuration) -> None:
    """Raise what `laneway up` would; each is a CallerError, for the configuration is at fault."""
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
    read_webhooks(config.webhooks)
    await open_host(configuration).close()
    check_store(config.store.path, config.store.options())
    await _check_lanes(config)


async def _check_lanes(config: Config) -> None:
    clock = SystemClock()
    for accounts in (open_accounts(config, clock), open_cosmos(config, clock)):
        if accounts is not None:
            await accounts.open()
            await accounts.close()
    if open_rollups(config, clock) is not None:
        from laneway.wiring.rollup import open_chain, places_of

        for section in config.rollup:
            if not section.is_embedded():
                await open_chain(section, places_of(section), clock).aclose()
