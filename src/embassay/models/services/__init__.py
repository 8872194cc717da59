"""Services that are asked over HTTP: one client, and the protocols of embeddings and of chats."""
