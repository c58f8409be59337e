"""Webhooks: delivery lanes and their endpoints."""
