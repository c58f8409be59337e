"""A whole world from one seed."""
