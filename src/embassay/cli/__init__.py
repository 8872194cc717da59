"""The command line: one file for each command reads its arguments and calls one function."""
