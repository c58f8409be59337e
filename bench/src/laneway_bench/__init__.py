"""Benchmarks: laneway against its peers, in one run on one machine."""
