"""Kinds of lanes: one folder each for everything that the outside needs of a kind."""
