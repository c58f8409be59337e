"""The audit trail: who did what and why."""
