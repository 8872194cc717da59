"""What a model of sentence-transformers does after its transformer, in numpy: pooling, Dense, Normalize.

In: the folder of a model, and the (n, t, d) vectors of tokens; out: (n, d) vectors of texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from embassay.core.types import JsonObject
from embassay.core.vectors import DenseVectors
from embassay.models.light.architecture import NotSupportedError, check_settings
from embassay.models.neural.derived import unit
from embassay.models.neural.model_files import SAFE, read_json, read_tensors
from embassay.models.neural.modules import modules, transformer_settings

MODES = ("mean", "cls", "max", "lasttoken")
"""The modes that are implemented here."""
LEGACY = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
"""The names of the modes in configurations before sentence-transformers 6."""
IDENTITY, TANH = "torch.nn.modules.linear.Identity", "torch.nn.modules.activation.Tanh"
"""The activations of a Dense module, by their names in its configuration."""
KNOWN = {
    "Transformer": {"max_seq_length", "do_lower_case", "transformer_task", "modality_config"},
    "Pooling": {"word_embedding_dimension", "embedding_dimension", "pooling_mode", *LEGACY},
    "Dense": {"in_features", "out_features", "bias", "activation_function"},
    "Normalize": set[str](),
}
"""The settings of each module that may have any value."""
FIXED: dict[str, JsonObject] = {
    "Transformer": {"module_output_name": "token_embeddings"},
    "Pooling": {"include_prompt": True},
    "Dense": {
        "module_input_name": "sentence_embedding",
        "module_output_name": "sentence_embedding",
        "use_residual": False,
    },
    "Normalize": {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"},
}
"""The settings of each module that may have one value only."""


@dataclass(frozen=True)
class Dense:
    """A linear layer after the pooling: the folder of its weights, and whether tanh follows."""

    folder: Path
    has_tanh: bool

    @cached_property
    def tensors(self) -> tuple[np.ndarray, np.ndarray]:
        """The (in, out) weights and the (out,) bias, which is 0 if the module has none; read at the first access."""
        tensors = read_tensors(self.folder)
        weight = np.ascontiguousarray(tensors["linear.weight"].T)
        return weight, tensors.get("linear.bias", np.zeros(weight.shape[1], dtype=np.float32))

    def __call__(self, rows: DenseVectors) -> DenseVectors:
        """Return the (n, out) vectors of n texts."""
        weight, bias = self.tensors
        # As n products of one row, so that other rows do not change the order of the sums.
        rows = np.matmul(rows[:, None, :], weight)[:, 0] + bias
        return np.tanh(rows) if self.has_tanh else rows


@dataclass(frozen=True)
class Pipeline:
    """The modules of a model, except its transformer.

    Attributes
    ----------
    pooling
        The mode of the pooling.
    steps
        The modules after the pooling, in their order; None for Normalize.
    """

    pooling: str
    steps: tuple[Dense | None, ...] = ()

    @classmethod
    def of(cls, folder: Path) -> Pipeline:
        """Read the configuration of a model's modules.

        Raises
        ------
        NotSupportedError
            For a module, or a setting of one, that is not implemented here or is unknown.
        """
        parts = []
        for kind, place in modules(folder):
            name = kind.rpartition(".")[2]
            settings = transformer_settings(place) if name == "Transformer" else read_json(place / "config.json")
            parts.append((name, place, settings))
        names = [name for name, _, _ in parts]
        # A transformer without further modules gets mean pooling in the library if no file lists the modules.
        is_bare = names == ["Transformer"] and not (folder / "modules.json").is_file()
        is_pooled = names[:2] == ["Transformer", "Pooling"] and set(names[2:]) <= {"Dense", "Normalize"}
        if not (is_bare or is_pooled):
            raise NotSupportedError(f"its modules are {', '.join(names)}")
        for name, _, settings in parts:
            check_settings(f"module {name}", settings, KNOWN[name], FIXED[name])
        pooling = "mean" if is_bare else configured(parts[1][2])
        if pooling not in MODES:
            raise NotSupportedError(f"its pooling_mode is {pooling}")
        steps = [None if name == "Normalize" else _dense(place, settings) for name, place, settings in parts[2:]]
        return cls(pooling, tuple(steps))

    def __call__(self, tokens: np.ndarray) -> DenseVectors:
        """Return the (n, d) float32 vectors of texts of equal length from the (n, t, m) ones of their tokens."""
        rows = pool(tokens, self.pooling)
        for step in self.steps:
            rows = unit(rows) if step is None else step(rows)
        return rows


def _dense(folder: Path, settings: JsonObject) -> Dense:
    """Return a Dense module."""
    activation = settings.get("activation_function", TANH)
    if activation not in (IDENTITY, TANH):
        raise NotSupportedError(f"its module Dense has the activation {activation}")
    if not (folder / SAFE[0]).is_file():
        raise NotSupportedError("its module Dense has no weights in a safetensors file")
    return Dense(folder, activation == TANH)


def configured(config: JsonObject) -> str:
    """Return the mode in a pooling module's ``config.json``, also one that is not in :data:`MODES`; several with +."""
    modes = config.get("pooling_mode") or [mode for name, mode in LEGACY.items() if config.get(name)] or "mean"
    return modes if isinstance(modes, str) else "+".join(modes)


def pool(tokens: np.ndarray, mode: str) -> DenseVectors:
    """Return the (n, d) float32 vectors of texts of equal length.

    Parameters
    ----------
    tokens
        (n, t, d) token vectors.
    mode
        A name in :data:`MODES`.
    """
    tokens = tokens.astype(np.float32, copy=False)
    # Copies, because a view would keep the vectors of all tokens in memory.
    if mode == "cls":
        return tokens[:, 0].copy()
    if mode == "lasttoken":
        return tokens[:, -1].copy()
    if mode == "max":
        return np.asarray(tokens.max(axis=1))
    # The mean of each text by itself, in the same order: other texts of a batch do not change the last bits.
    weights = np.ones(tokens.shape[1], dtype=np.float32)
    return np.asarray(np.einsum("t,ntd->nd", weights, tokens) / weights.sum())
