"""The safest shared store: PostgreSQL, many processes, every commit synced."""

from laneway.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
