"""``python -m embassay``."""

from embassay.cli.app import main

main()
