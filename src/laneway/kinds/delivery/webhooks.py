"""Webhooks: a configuration → endpoints with their secrets."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from laneway.engine.delivery import NoSender
from laneway.feeds.courier import EventSubscription
from laneway.feeds.sender import WebhookEndpoint
from laneway.feeds.signature import read_secret
from laneway.kinds.config import ConfigError
from laneway.kinds.delivery.section import WebhookSection
from laneway.kinds.limits import SECRETS_MAX
from laneway.ports import Clock, Sender


class ConfiguredWebhook(Struct, frozen=True):
    """One endpoint, ready for use. Its secrets are in no text of it."""

    section: WebhookSection
    secrets: tuple[bytes, ...]

    def __repr__(self) -> str:
        return f"Webhook({self.section.id!r})"

    def endpoint(self) -> WebhookEndpoint:
        return WebhookEndpoint(
            id=self.section.id,
            url=self.section.url,
            secrets=self.secrets,
            allow_private=self.section.allow_private,
        )

    def subscription(self) -> EventSubscription:
        return EventSubscription(self.section.id, self.section.events, self.section.lanes)


def open_sender(webhooks: Sequence[ConfiguredWebhook], clock: Clock) -> Sender:
    """Imported late: who has no webhooks needs no HTTP for them."""
    if not webhooks:
        return NoSender()
    from laneway.feeds.sender import HttpSender

    return HttpSender([webhook.endpoint() for webhook in webhooks], clock)


def read_webhooks(sections: Sequence[WebhookSection]) -> tuple[ConfiguredWebhook, ...]:
    return tuple(
        ConfiguredWebhook(section, read_secrets(section.secret_file)) for section in sections
    )


def read_secrets(name: str) -> tuple[bytes, ...]:
    """All that are in force, from a file that nobody else may read."""
    path = Path(name)
    try:
        mode = path.stat().st_mode
        lines = path.read_text().split()
    except (OSError, UnicodeDecodeError) as error:
        problem = "cannot be read - at `$.webhooks[].secret_file`"
        raise ConfigError(name, problem) from error
    if mode & 0o077:
        raise ConfigError(name, f"others may read these secrets; run: chmod 600 {name}")
    if not 0 < len(lines) <= SECRETS_MAX:
        raise ConfigError(name, f"it holds 1 to {SECRETS_MAX} secrets, one a line")
    try:
        return tuple(read_secret(line) for line in lines)
    except ValueError as error:
        raise ConfigError(name, str(error)) from None
