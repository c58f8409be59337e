"""The safest shared store: PostgreSQL, many processes, every commit synced."""

from laneway.stores.postgres.store import PostgresStore
from laneway.stores.postgres.within import accept_within, accept_within_sync

__all__ = ["PostgresStore", "accept_within", "accept_within_sync"]
