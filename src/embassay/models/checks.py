"""What the options of encoders and trainers may be."""

from embassay.models.endpoint.access import check_amounts, check_whole

__all__ = ["check_amounts", "check_whole"]
