"""Adapters: speak to nodes, and translate their error messages into outcomes."""
