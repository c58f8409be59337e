"""Configuration → running engine; one module per chain kind, imported late."""
