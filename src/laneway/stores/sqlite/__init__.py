"""The embedded default: one SQLite file, one process, every commit synced."""

from laneway.stores.sqlite.book import SqliteBook

__all__ = ["SqliteBook"]
