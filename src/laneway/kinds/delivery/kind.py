"""The kind `delivery`: webhooks."""

from typing import TYPE_CHECKING

from laneway.kinds.kind import FolderKind

if TYPE_CHECKING:
    from laneway.kinds.served import Opening, Served


class DeliveryKind(FolderKind):
    name = "delivery"
    is_listed = False
    commands = {
        "webhook": (
            "laneway.kinds.delivery.commands:webhook",
            "List webhooks, read their delivery log, resend, test, pause or resume.",
        ),
        "dead": (
            "laneway.kinds.delivery.commands:dead",
            "List what was given up, or try one of it again.",
        ),
    }
    parts = {
        "section": "WebhookConfig",
        "metrics": "DeliveryMetrics",
        "routes": "ROUTES",
    }

    def open(self, opening: "Opening") -> "Served":
        from laneway.kinds.delivery.served import DeliveryServed
        from laneway.kinds.delivery.webhooks import read_webhooks
        from laneway.kinds.events import events_of

        return DeliveryServed(read_webhooks(opening.config.webhooks), opening.clock, events_of)
