"""Bounds of the wiring, each with its reason."""

from laneway.kinds.limits import PROBE_S_MAX

GC_ALLOCATIONS = 50_000
"""New objects between two looks of the collector, 70 times Python's own: see calm_collector."""

START_MS_MAX = 120_000
"""How long a start waits for a shared store: a database of the same machine is up a minute after
its boot, and a failover takes about as long. Then the process ends, and its supervisor decides."""
START_RETRY_MS_MIN = 500
START_RETRY_MS_MAX = 5_000
"""Between two tries to reach it, doubled each time."""

CONFIG_BYTES_MAX = 1 << 20
"""A configuration larger than this is another file given by mistake."""

HEARTBEATS_A_LEASE_MIN = 4
"""An owner stops at four fifths of its lease: two heartbeats may be lost and one be slow."""

REPLICAS_MAX = 100
"""More replicas of one server in a configuration are a typo."""

RETENTION_DAYS_MAX = 36_500
"""A hundred years, which is also what "for ever" means."""

LINE_BYTES_MAX = 8 << 20
"""One request line of a worker: the largest payload with every byte escaped, and its fields."""

SUBMISSIONS_INFLIGHT_MAX = 1_024
"""Lines a worker has read but not answered; two full batches of the door."""

WORKER_STOP_S_MAX = 5.0
"""A worker stops in a twentieth of a second; the rest is a busy machine."""

LOOP_STOP_S_MAX = 5.0
"""How long a closing LanewaySync waits for its thread, which then has nothing left to do."""

STOPS_ASKED_MAX = 100
"""Stopped lanes that one look asks whether they still stand; the next look asks the others. A bug
that stops thousands must not make every process read thousands of lanes at every heartbeat."""

LISTING_LARGE_PAGE = 16
"""The same of rows whose payloads may have 8 MiB each."""

READINESS_S_MAX = 4 * PROBE_S_MAX
"""How long a server's own readiness is waited for: it asks its nodes and then its rollups."""
READINESS_BYTES_MAX = 1 << 20
"""What is read of a server's own readiness: some thousands of checks."""

NODES_EVERY_MS = 30_000
"""How often `laneway up` asks a node that no lane asks: one call each."""

FILES_SPARE = 256
"""File descriptors beside the connections: the database, the chain, the log."""

DEAD_COUNTED_MAX = 1_000
"""Dead letters that a scrape counts: the question is whether there are any, and do they grow."""

PORT_MAX = 65_535
"""TCP's own: a port is a number of 16 bits."""

SPELLING_LIKENESS_MIN = 0.85
"""Of a name that was mistyped and the one that was meant: a letter or two in a dozen."""
