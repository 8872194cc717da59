"""The runner of the light route: tokens, the transformer in ONNX Runtime, and the modules after it in numpy.

A text has the same vector in every batch, bit by bit. Only texts of equal length are computed together, each batch by a
single thread, and pooling and later modules compute each text by itself. ONNX Runtime computes a row of a matrix
product alike however many rows there are; where a probe shows that it does not, each text is computed alone.
"""

from __future__ import annotations

import numpy as np

from embassay.core.vectors import DenseVectors, Indices
from embassay.models.base import Route
from embassay.models.light.architecture import POSITION_BIAS
from embassay.models.light.graph import Array, build, position_bias
from embassay.models.light.model import LightModel
from embassay.models.light.tokenized import TokenizerRunner, read_tokenizer, session_options
from embassay.models.neural.model_files import read_tensors

LIGHT_TOKENS = 512
"""Number of tokens in a batch: the values between two layers then stay in the cache of a core."""
SLOWER = "SkipLayerNormFusion"
"""The optimisation that makes one operator of sums and LayerNorm; on processors with AVX-512, it takes four times as
long as they do."""
PROBE_LENGTHS = (3, 17, 40)
PROBE_TEXTS = 7
"""Numbers of tokens and of texts with which a loaded model is probed."""


class LightRunner(TokenizerRunner):
    """A model loaded into ONNX Runtime; several threads may call it at the same time.

    Attributes
    ----------
    weights
        The memory that the session reads its weights from.
    bias
        MPNet's position bias for the longest text; that of a shorter one is a part of it.
    tokens
        Maximum number of tokens in a batch; 1 where other texts of a batch would change a text's vector.
    """

    def __init__(self, model: LightModel, limit: int | None):
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
        import onnxruntime

        self.model = model
        self.tokenizer = read_tokenizer(model.folder, limit)
        architecture = model.architecture
        weights = {architecture.name_in_bert(name): array for name, array in read_tensors(model.folder).items()}
        graph, arrays = build(architecture, weights)
        self.weights = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in arrays.values()]
        options = session_options()
        options.add_external_initializers(list(arrays), self.weights)
        self.session = onnxruntime.InferenceSession(
            graph, options, providers=["CPUExecutionProvider"], disabled_optimizers=[SLOWER]
        )
        self.bias: Array | None = None
        if architecture.has_position_bias:
            self.bias = position_bias(weights[POSITION_BIAS], architecture.positions)
        self.tokens = LIGHT_TOKENS if self.is_stable() else 1

    @property
    def route(self) -> Route:
        """How it computes, for ``run.json``."""
        return {"dtype": "float32", "backend": "light", "tokens_per_batch": self.tokens, "batch_invariant": True}

    def is_stable(self) -> bool:
        """Return whether texts of equal length have the same vectors together and alone, bit by bit."""
        architecture = self.model.architecture
        for length in PROBE_LENGTHS:
            shape = PROBE_TEXTS, min(length, architecture.positions - architecture.padding - 1)
            # Large steps between the ids, so that the texts differ.
            ids = np.arange(shape[0] * shape[1], dtype=np.int64).reshape(shape) * 97 % architecture.vocabulary
            alone = np.concatenate([self.forward(ids[n : n + 1]) for n in range(len(ids))])
            if not np.array_equal(self.forward(ids), alone):
                return False
        return True

    def forward(self, ids: Indices) -> DenseVectors:
        """Return the (n, d) vectors of texts of equal length, from their (n, t) token ids."""
        padding = self.model.architecture.padding
        # A text that contains the padding token itself: it is not counted, and has the position of padding.
        is_counted = (ids != padding).astype(np.int64)
        feed = {"input_ids": ids, "position_ids": np.cumsum(is_counted, axis=1) * is_counted + padding}
        if self.bias is not None:
            tokens = ids.shape[1]
            feed["position_bias"] = np.ascontiguousarray(self.bias[:, :, :tokens, :tokens])
        (states,) = self.session.run(None, feed)
        return self.model.pipeline(states)
