"""Search: the documents nearest to queries, exactly or approximately."""
