"""Files for other programs: tables, runs, cards."""
