"""The Python client people import: the same calls blocking and with await."""
