"""InferSent's encoder: a BiLSTM whose outputs are pooled by their maximum (Conneau et al. 2017, section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.errors import EncoderError
from embassay.vectors import DenseVectors

if TYPE_CHECKING:
    import torch
    from torch.nn import LSTM

NAMES = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
PREFIX = "enc_lstm."
"""The prefix of the names of the released weights."""


@dataclass(frozen=True)
class InferSent:
    """The network with its weights, on a device.

    Attributes
    ----------
    lstm
        A ``torch.nn.LSTM`` of one layer, in both directions.
    dim
        Dimensions of a word vector.
    """

    lstm: LSTM
    dim: int

    @classmethod
    def of(cls, path: Path, device: str) -> InferSent:
        """Read released weights: a state dict of torch, loaded without running code.

        Raises
        ------
        EncoderError
            If the file is not a state dict of InferSent.
        """
        import torch

        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            # The library's own message recommends loading the file with code, so it is not shown.
            raise EncoderError(f"{path}: cannot be read as torch weights ({type(error).__name__})") from None
        if not isinstance(state, dict):
            state = {}
        weights = {}
        for side in ("", "_reverse"):
            for name in NAMES:
                tensor = state.get(PREFIX + name + side)
                if not isinstance(tensor, torch.Tensor):
                    raise EncoderError(f"{path}: not InferSent weights: {PREFIX}{name}{side} is missing")
                weights[name + side] = tensor.float()
        hidden = weights["weight_hh_l0"].shape[-1]
        dim = weights["weight_ih_l0"].shape[-1]
        lstm = torch.nn.LSTM(dim, hidden, bidirectional=True)
        try:
            lstm.load_state_dict(weights)
        except RuntimeError:
            raise EncoderError(f"{path}: the shapes of the weights do not match; use the file as released") from None
        return cls(lstm.eval().to(device), int(dim))

    @property
    def width(self) -> int:
        """Dimensions of a sentence's vector."""
        return 2 * int(self.lstm.hidden_size)

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return self.lstm.weight_ih_l0.device

    def __call__(self, sentences: Sequence[DenseVectors]) -> DenseVectors:
        """Return (n, 2h) vectors: the maximum over the outputs of each sentence's words.

        Parameters
        ----------
        sentences
            (words, d) word vectors of each sentence, at least one word.
        """
        import torch
        from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

        with torch.inference_mode():
            tensors = [torch.from_numpy(sentence).to(self.device) for sentence in sentences]
            packed = pack_sequence(tensors, enforce_sorted=False)
            # Padding is −∞, so it is never the maximum.
            outputs, _ = pad_packed_sequence(self.lstm(packed)[0], padding_value=-torch.inf)
            return np.asarray(outputs.amax(dim=0).cpu().numpy(), dtype=np.float32)
