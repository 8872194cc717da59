"""The folder of a run: its result, its record and its item scores."""
