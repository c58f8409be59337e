"""`python -m laneway.cli`."""

from laneway.cli import main

main()
