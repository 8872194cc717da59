"""The one HTTP client, for encoders and generators that are services: retries, a budget, several requests at a time."""

from embassay.endpoint.client import Endpoint, Retries

__all__ = ["Endpoint", "Retries"]
