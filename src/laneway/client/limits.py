"""Bounds of the client, each with its reason. Those with a parameter are its defaults."""

CONNECT_S = 5.0
"""A server that does not take a connection in this time is down or far too busy."""

TIMEOUT_S = 35.0
"""For one answer: a little more than the server's own bound for a request."""

RETRY_S = 30.0
"""How long one call is tried again: a restart takes seconds, a person waits no longer."""

BACKOFF_S_MIN = 0.1
BACKOFF_S_MAX = 5.0
"""Between two tries, doubled each time: quick for a hiccup, gentle for an outage."""

WAIT_S = 30.0
"""Of one `?wait=`; longer waits ask again, so that a dead connection is noticed."""

WAIT_PAUSE_S = 0.25
"""Between two looks, where a server with too many waits answers at once."""

STREAM_SILENCE_S = 45.0
"""The server's heartbeat comes every 15 s; after three without one the stream is dead."""

STREAM_PAUSE_S = 2.0
"""Before a stream that ended is opened again, where the server does not say."""

CHUNK_BYTES = 1 << 16
"""Read from a stream at once."""

IDLE_S_MAX = 10.0
IDLE_COUNT_MAX = 16
"""Connections kept for the next call: fewer seconds than the server keeps them, and as many as
threads usually call at once."""

PAGE = 200
"""Items asked for at once by the iterators."""

KEY_FILE_BYTES_MAX = 4_096
"""An API key has a hundred characters; a larger file was named by mistake."""

WHOLE_BYTES_MAX = 1 << 18
"""Of a body that is written at once: a quarter of a megabyte takes under a millisecond."""
