"""The kind `audit`: the audit trail."""

from typing import TYPE_CHECKING

from laneway.kinds.kind import FolderKind

if TYPE_CHECKING:
    from laneway.kinds.served import Opening, Served


class AuditKind(FolderKind):
    name = "audit"
    is_listed = False
    commands = {
        "audit": (
            "laneway.kinds.audit.commands:audit",
            "Who paused, cancelled or retried what, and why.",
        ),
    }
    parts = {
        "routes": "ROUTES",
    }

    def open(self, opening: "Opening") -> "Served":  # noqa: ARG002
        from laneway.kinds.audit.served import AuditServed

        return AuditServed()
