"""The one HTTP client, for encoders and generators that are services: retries, a budget, several requests at a time."""

from embassay.endpoint.attempts import Retries
from embassay.endpoint.client import Endpoint

__all__ = ["Endpoint", "Retries"]
