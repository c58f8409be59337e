"""Bounds of the signers, each with its reason."""

INFLIGHT_MAX = 64
"""Signatures asked of one remote signer at once: at 10 ms each that is 6,400 a second, more than
any chain takes from one account, and a key server is spared the thousands that may wait."""

WAITING_MAX = 8_192
"""Requests that wait for their turn: two full lanes of 4,096. Beyond it the signer is too slow."""

SIGN_MS = 10_000
"""One signature, waiting for its turn included. Key servers answer in 5 to 300 ms; what takes
longer than this is asked again, which costs nothing."""

CONNECT_MS = 5_000
"""A key server on the same network answers in milliseconds; two lost SYN packets cost three
seconds."""

KEEPALIVE_S = 15
"""Idle connections are kept this long, to save a TLS handshake at the next transaction."""

ANSWER_BYTES_MAX = 16 << 20
"""A signature is 132 characters; a list of public keys has as many for each of 100,000 keys."""

SECRET_BYTES_MAX = 4_096
"""A file with one key or one password; a larger one is another file given by mistake."""

KEYSTORE_BYTES_MAX = 64 << 10
"""A keystore is half a kilobyte."""

KEYSTORES_MAX = 10_000
"""Files of one directory that are looked at for a listing."""

SCRYPT_N = 1 << 18
SCRYPT_R = 8
SCRYPT_P = 1
"""What geth writes: about a second and 256 MB for one guess of a password."""

SCRYPT_N_MIN = 1 << 10
"""Weaker than this is no protection at all; it is meant for tests."""

SCRYPT_MEMORY_MAX = 1 << 30
"""Four times what geth asks for; a file that asks for more is hostile or damaged."""

SCRYPT_WORK_MAX = 1 << 24
"""n·r·p, eight times geth's."""

PBKDF2_ROUNDS_MAX = 10_000_000
"""Forty times the standard's example, about ten seconds."""

MNEMONIC_WORDS_MIN = 12
"""The shortest mnemonic has this many words; no path has as many blanks."""
