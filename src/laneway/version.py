"""The one place that names the version; hatchling and the CLI read it."""

__version__ = "0.1.0"
