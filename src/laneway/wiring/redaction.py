"""Which settings may hold a secret, and how each of them is printed."""

from typing import Any

from laneway.core.urls import REDACTED, shown_url
from laneway.signers.place import shown_signer

SECRETS = frozenset(("host.password",))
"""Never shown, and not taken from the command line or the file."""
SIGNERS = frozenset(("evm.accounts.signer", "cosmos.accounts.signer"))
ADDRESSES = frozenset(
    (
        "store.path",
        "host.url",
        "webhooks.url",
        "evm.nodes",
        "evm.nodes.url",
        "evm.nodes.ws_url",
        "cosmos.nodes",
        "cosmos.nodes.url",
        "rollup.nodes",
        "rollup.nodes.url",
    )
)
"""Each may carry a password or a key. A text of any other setting is printed by the same function,
which leaves alone what is no address."""
HARMLESS = frozenset(
    (
        "host.callable",
        "host.password_file",
        "server.listen",
        "server.keys_file",
        "webhooks.secret_file",
        "webhooks.events",
        "webhooks.lanes",
        "evm.words",
        "evm.nodes.client",
        "evm.accounts.password_file",
        "cosmos.words",
        "cosmos.accounts.password_file",
        "cosmos.accounts.granter",
        "rollup.words",
        "rollup.nodes.client",
        "rollup.builder",
    )
)
"""Free texts that hold no secret: names of files, patterns, public addresses. A new setting with
free text must stand in one of these lists."""


def shown_setting(path: str, value: Any) -> Any:
    """The value of a setting as it may be printed; of a table every value in it."""
    if isinstance(value, dict):
        return {key: shown_setting(f"{path}.{key}", inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [shown_setting(path, inner) for inner in value]
    if not isinstance(value, str):
        return value
    if path in SECRETS:
        return REDACTED
    return shown_signer(value) if path in SIGNERS else shown_url(value)
