"""The exit codes of commands."""

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_NOT_FOUND = 3
EXIT_TEMPORARY = 75
"""EX_TEMPFAIL of sysexits.h: the same command may work in a while."""
EXIT_INTERRUPTED = 130
"""128 + SIGINT, as shells have it."""
