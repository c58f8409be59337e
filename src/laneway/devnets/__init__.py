"""Embedded chains, one package a kind: a pure model and shells that serve it."""
