"""Search: the documents nearest to queries, exactly."""
