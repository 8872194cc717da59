"""What the builders know of English. Each module decides one thing, and says nothing where it cannot tell."""
