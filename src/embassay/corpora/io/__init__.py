"""Reading users' files, with the location of every error: JSON lines, tables, documents and their passages."""
