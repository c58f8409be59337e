"""Walks the exhaustive small scopes: `python -m tests.small_scope.survey [--full]`."""

import argparse
import time

from tests.small_scope.search import survey


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="also the scopes of a soak")
    full = parser.parse_args().full
    begun = time.monotonic()
    states = transitions = scopes = broken = 0
    for terms, found in survey(full=full):
        scopes += 1
        states += found.states
        transitions += found.transitions
        print(f"{terms}: {found.states} states, {found.transitions} transitions", flush=True)
        if found.broken:
            broken += 1
            print("\n".join(found.broken))
    took_s = time.monotonic() - begun
    print(f"{scopes} scopes, {states} states, {transitions} transitions, {took_s:.0f} s")
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
