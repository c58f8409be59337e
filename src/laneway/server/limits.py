"""Bounds of the server, each with its reason. Those with a setting are its defaults."""

BODY_BYTES_MAX = 2 << 20
"""The largest payload (1 MiB) as plain JSON with its fields, and capacity for some escapes."""

TX_BODY_BYTES_MAX = 12 << 20
"""Of a Cosmos account's transaction alone: 8 MiB in base64, and its other fields."""

HEADER_LINE_BYTES_MAX = 8_190
HEADER_COUNT_MAX = 64
"""A request line or header longer than a page is an attack; browsers send about twenty headers."""

HEADER_READ_S = 10.0
"""From the connection, or from the first byte of a later request, to the end of its headers."""

KEEP_ALIVE_S = 75.0
"""An idle connection is kept longer than clients and proxies keep theirs (15 to 60 s): were we
the first to close, a request could meet the closing and nobody would know whether it came."""

BODY_READ_S = 20.0
"""Two megabytes in 20 s is 0.8 Mbit/s, twelve are 5; a slower sender holds a buffer of
ours for nothing."""

LINGER_S = 2.0
"""How long the rest of a refused body is read, so that its sender can read the refusal."""

REQUEST_S = 30.0
"""For the work itself, waits and streams aside; a group commit takes a tenth of a second."""

WAIT_S_DEFAULT = 30
WAIT_S_MAX = 60
"""Of `?wait=`: most proxies cut an idle request at one minute."""

WAITS_MAX = 5_000
"""Requests that wait for a final answer at once; each holds its connection."""

CONNECTIONS_MAX = 10_000
"""Each costs about 30 KB and a file descriptor; one more is answered 503 and closed."""

SHUTDOWN_S = 5.0
"""For requests under way when the process ends; what they wrote is durable anyway."""

RETRY_AFTER_S = 5
"""When callers of a draining or overloaded server may try again: a restart takes that long."""

HEARTBEAT_S = 15.0
"""Between comments on a silent event stream; proxies cut at 30 s and more."""

EVENT_RETRY_MS = 2_000
"""How long a reader of events waits before it comes again."""

EVENT_CLIENTS_MAX = 2_000
"""Streams at once: each wakes up for every batch of events."""

EVENT_WRITE_S = 20.0
"""A reader that takes nothing for this long is closed, and resumes by its cursor."""

LISTEN_BACKLOG = 1_024
"""Connections the kernel holds for us while the loop is busy."""

AUTHORIZATION_CHARS_MAX = 200
"""`Bearer lw_<prefix>_<secret>`; longer ones are not hashed."""

QUOTA_MAX = 10_000_000
"""Requests a minute of one key: ten times what a process can answer, so more is a typo."""
