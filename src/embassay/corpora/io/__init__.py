"""Reading files of users with the place of every mistake: JSON lines, tables, documents and their passages."""
