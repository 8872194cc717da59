"""``python -m embassay``."""

from embassay.cli import main

main()
