"""From vectors or lists to a ranking: exact search, and retrievers."""
