"""The store for those who live on Redis: one server, or a Cluster."""

from laneway.stores.redis.store import RedisStore

__all__ = ["RedisStore"]
