"""`python -m laneway`."""

from laneway.cli import main

main()
