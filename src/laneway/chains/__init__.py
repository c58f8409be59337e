"""Adapters: speak to nodes, and translate their words into outcomes."""
