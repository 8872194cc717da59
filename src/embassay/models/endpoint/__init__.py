"""The one HTTP client, for encoders and generators that are services: retries, a budget, several requests at a time."""
