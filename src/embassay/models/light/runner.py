"""The runner of the light route: tokens, the transformer in ONNX Runtime, and the modules after it in numpy.

A text has the same vector in every batch, bit by bit. Only texts of equal length are computed together, each batch by a
single thread, and pooling and later modules compute each text by itself. ONNX Runtime computes a row of a matrix
product alike however many rows there are; where a probe shows that it does not, each text is computed alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import ModelNotFoundError
from embassay.core.vectors import DenseVectors, Indices
from embassay.models.light.architecture import POSITION_BIAS
from embassay.models.light.graph import Array, build, position_bias
from embassay.models.light.model import Dense, LightModel
from embassay.models.light.pooling import pool
from embassay.models.light.tokenized import TokenIds, TokenizerRunner, read_tokenizer, session_options
from embassay.models.neural.derived import unit
from embassay.models.neural.model_files import safetensors_files

if TYPE_CHECKING:
    from onnxruntime import InferenceSession, OrtValue
    from tokenizers import Tokenizer

LIGHT_TOKENS = 512
"""Number of tokens in a batch: the values between two layers then stay in the cache of a core."""
SLOWER = "SkipLayerNormFusion"
"""The optimisation that makes one operator of sums and LayerNorm; on processors with AVX-512, it takes four times as
long as they do."""
PROBE_LENGTHS = (3, 17, 40)
PROBE_TEXTS = 7
"""Numbers of tokens and of texts with which a loaded model is probed."""


@dataclass
class LightRunner(TokenizerRunner):
    """A model loaded into ONNX Runtime; several threads may call it at the same time.

    Attributes
    ----------
    tokens
        Maximum number of tokens in a batch; 1 where other texts of a batch would change a text's vector.
    """

    model: LightModel
    session: InferenceSession
    tokenizer: Tokenizer
    # The session reads the weights from these arrays.
    weights: list[OrtValue] = field(repr=False)
    dense: dict[Dense, tuple[Array, Array]] = field(repr=False)
    bias: Array | None = field(default=None, repr=False)
    tokens: int = LIGHT_TOKENS

    @classmethod
    def load(cls, model: LightModel, limit: int | None) -> LightRunner:
        """Load tokenizer and weights, and make the session.

        Parameters
        ----------
        limit
            The number of tokens after which texts are truncated; None for no limit.

        Raises
        ------
        ModelNotFoundError
            If the tokenizer or the weights are damaged.
        EncoderError
            If the limit is shorter than a text without words.
        """
        tokenizer = read_tokenizer(model.folder, lower=model.lower, limit=limit)
        weights = read_weights(model)
        graph, arrays = build(model.architecture, weights)
        bias = None
        if model.architecture.has_position_bias:
            # Of the longest text; that of a shorter one is a part of it.
            bias = position_bias(weights[POSITION_BIAS], model.architecture.positions)
        dense = {step: read_dense(step) for step in model.steps if isinstance(step, Dense)}
        session, values = open_session(graph, arrays)
        runner = cls(model, session, tokenizer, values, dense, bias)
        runner.vocabulary = model.architecture.vocabulary
        if not runner.is_stable():
            runner.tokens = 1
        return runner

    def forward(self, ids: Sequence[TokenIds]) -> DenseVectors:
        """Return the (n, d) vectors of tokenised texts of equal length."""
        return self._vectors(np.stack(ids).astype(np.int64))

    def is_stable(self) -> bool:
        """Return whether texts of equal length have the same vectors together and alone, bit by bit."""
        vocabulary = self.model.architecture.vocabulary
        longest = (
            self.model.architecture.positions
            - (-1 if self.model.architecture.padding is None else self.model.architecture.padding)
            - 1
        )
        for length in PROBE_LENGTHS:
            shape = PROBE_TEXTS, min(length, longest)
            # Large steps between the ids, so that the texts differ.
            ids = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(shape) * 97 % vocabulary
            together = self._vectors(ids)
            alone = np.concatenate([self._vectors(ids[n : n + 1]) for n in range(len(ids))])
            if not np.array_equal(together, alone):
                return False
        return True

    def _vectors(self, ids: Indices) -> DenseVectors:
        """Return the (n, d) vectors of texts of equal length, from their (n, t) int64 token ids."""
        feed = {"input_ids": ids, "position_ids": self._positions(ids)}
        if self.bias is not None:
            tokens = ids.shape[1]
            feed["position_bias"] = np.ascontiguousarray(self.bias[:, :, :tokens, :tokens])
        (states,) = self.session.run(None, feed)
        rows = pool(states, self.model.poolings)
        for step in self.model.steps:
            if isinstance(step, Dense):
                weight, bias = self.dense[step]
                # As n products of one row, so that other rows do not change the order of the sums.
                rows = np.matmul(rows[:, None, :], weight)[:, 0] + bias
                if step.has_tanh:
                    rows = np.tanh(rows)
            else:
                rows = unit(rows)
        return rows

    def _positions(self, ids: Indices) -> Indices:
        """Return the (n, t) positions of tokens."""
        padding = self.model.architecture.padding
        if padding is None:
            return np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
        # A text that contains the padding token itself: it is not counted, and has the position of padding.
        is_counted = (ids != padding).astype(np.int64)
        return np.asarray(np.cumsum(is_counted, axis=1) * is_counted + padding)


def open_session(graph: bytes, arrays: dict[str, Array]) -> tuple[InferenceSession, list[OrtValue]]:
    """Return a session that computes on one thread per call, and the values that it reads the weights from."""
    import onnxruntime

    options = session_options()
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in arrays.values()]
    options.add_external_initializers(list(arrays), values)
    session = onnxruntime.InferenceSession(
        graph, options, providers=["CPUExecutionProvider"], disabled_optimizers=[SLOWER]
    )
    return session, values


def read_weights(model: LightModel) -> dict[str, Array]:
    """Return the tensors of the transformer in float32, by name without the prefix."""
    prefix = model.architecture.family.prefix
    shapes = model.architecture.shapes
    weights = {}
    for path in safetensors_files(model.folder):
        for name, array in _read(path).items():
            if name.removeprefix(prefix) in shapes:
                weights[name.removeprefix(prefix)] = array
    return weights


def read_dense(dense: Dense) -> tuple[Array, Array]:
    """Return the (in, out) weights and the (out,) bias of a Dense module; zeros if it has no bias."""
    (path,) = safetensors_files(dense.folder)
    arrays = _read(path)
    bias = arrays.get("linear.bias", np.zeros(dense.size_out, dtype=np.float32))
    return np.ascontiguousarray(arrays["linear.weight"].T), bias


def _read(path: Path) -> dict[str, Array]:
    """Return the tensors of a safetensors file in float32."""
    # onnx makes numpy know bfloat16.
    import onnx  # noqa: F401
    from safetensors import safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name).astype(np.float32, copy=False) for name in file.keys()}  # noqa: SIM118
    except Exception as error:
        raise ModelNotFoundError(f"{path}: cannot be read: {error}") from None
