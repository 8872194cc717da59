"""Encoders whose model runs on the light route, or with torch where the light route cannot run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from embassay.encoders.light.model import LightModel
from embassay.encoders.light.runner import TOKENS, LightRunner
from embassay.encoders.neural.batching import Runner
from embassay.encoders.neural.memory import check_fits
from embassay.encoders.neural.shared import NeuralEncoder


@dataclass(frozen=True)
class RoutedEncoder(NeuralEncoder):
    """A neural model with the choice of its route; it is loaded when the first text is encoded.

    Attributes
    ----------
    light
        The model for the light route; None for the routes with torch.
    """

    light: LightModel | None = field(default=None, repr=False)

    @property
    def _route_name(self) -> str:
        """The route as far as it is known before loading: light, a forced one, or empty for one with torch."""
        if self.light is not None:
            return "light"
        if self.runtime.backend != "auto":
            return self.runtime.backend
        return ""

    def route(self) -> Mapping[str, object]:
        """Return how the model runs, for ``run.json``. None of it changes the meaning of a vector."""
        if self.light is None:
            return super().route()
        return {
            "device": "cpu",
            "dtype": self.dtype,
            "backend": "light",
            "tokens_per_batch": TOKENS,
            "batch_invariant": True,
        }

    def load_runners(self) -> Sequence[Runner]:
        """Load the model onto each device."""
        if self.light is None:
            return super().load_runners()
        check_fits(self._size, self.dtype, ["cpu"])
        return [LightRunner.load(self.light, self.max_tokens)]
