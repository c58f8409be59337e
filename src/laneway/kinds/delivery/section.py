"""The configuration of webhooks: a table `[[webhooks]]` for each endpoint."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from laneway.kinds.config import ConfigPart, Conflict, FreeTexts, Text, is_node_url


class WebhookSection(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One endpoint that is notified of what happens."""

    id: Annotated[str, Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
    """Its name; the deliveries are in the lane `delivery:ID`."""
    url: Text
    """Where its messages are posted: http or https."""
    secret_file: Text
    """A file that only its owner may read: `whsec_` and base64, one a line. While secrets rotate
    every one of them signs."""
    events: tuple[Text, ...] = ("*",)
    """Globs of event types: `transaction.*`, `lane.halted`."""
    lanes: tuple[Text, ...] = ("*",)
    """Globs of lanes: `contract:Qm*`."""
    allow_private: bool = False
    """Whether it may be at a private, local or reserved address."""


def webhook_conflicts(webhooks: Sequence[WebhookSection]) -> Iterator[Conflict]:
    for place, webhook in enumerate(webhooks):
        if not is_node_url(webhook.url):
            problem = f"{webhook.id}: a webhook needs an address like https://example.org/hook"
            yield "webhooks", "webhooks", f"{problem}, as `url` of table {place + 1}"
        if webhook.id in [other.id for other in webhooks[:place]]:
            yield "webhooks", "webhooks", f"two webhooks have the id {webhook.id}"


class WebhookConfig(ConfigPart):
    tables = {"webhooks": WebhookSection}
    free_texts = FreeTexts(
        addresses=frozenset(("webhooks.url",)),
        harmless=frozenset(("webhooks.secret_file", "webhooks.events", "webhooks.lanes")),
    )

    def conflicts(self, config: Any) -> Iterator[Conflict]:
        return webhook_conflicts(config.webhooks)
