"""A model exported to ONNX, in float32 or int8, run by onnxruntime: onnx:FOLDER.

The folder is one as sentence-transformers or optimum writes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from embassay.core.cores import cores
from embassay.core.errors import EncoderError, ModelNotFoundError, SpecError
from embassay.core.store.paths import source_path
from embassay.core.types import Runtime
from embassay.core.vectors import DenseVectors, Indices, Similarity
from embassay.models.base import Route, changed_options
from embassay.models.light.architecture import NotSupportedError
from embassay.models.light.pipeline import Pipeline
from embassay.models.light.tokenized import TokenizerRunner, read_tokenizer, session_options
from embassay.models.limits import Count
from embassay.models.neural.batching import TOKENS_ON_CPU
from embassay.models.neural.locations import LOCAL_FOLDER, ModelFiles
from embassay.models.neural.model import Model
from embassay.models.neural.model_files import folder_files
from embassay.models.neural.modules import configured_prompts, settings_of, token_limit

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TARGET = "FOLDER"
EXTRA = "onnx"
REQUIRES = ("onnxruntime", "tokenizers")
GraphPooling = Literal["mean", "cls", "max", "lasttoken"]
PLACES = ("model.onnx", "onnx/model.onnx")
"""The usual paths of a graph in its folder; the first one that exists is used."""
UNPOOLED = (
    "the folder has no pooling configuration: if the graph returns token vectors, mean pooling is used "
    "(set pooling= to change it)"
)


POOLED = "sentence_embedding"
"""The name of an output with one vector per text."""
OUTPUTS = (POOLED, "token_embeddings", "last_hidden_state")
"""Names of outputs with vectors of texts or of tokens; the first that exists is used."""
DYNAMIC = b"DynamicQuantizeLinear"
"""The operator that quantises by the range of a whole batch, so that texts change each other's vectors."""


def create(
    target: str,
    runtime: Runtime,
    *,
    file: str = "",
    pooling: GraphPooling | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    text_prompt: str | None = None,
    max_length: Count | None = None,
    dim: Count | None = None,
    normalize: bool = False,
    similarity: Similarity | None = None,
) -> Model:
    """Read the folder's configuration; the graph is loaded when the first text is encoded.

    Parameters
    ----------
    target
        The folder.
    file
        The graph's file, if the folder has several: ``onnx/model_quantized.onnx``.
    pooling
        How token vectors are pooled, if the graph returns token vectors and the folder has no pooling configuration.
    query_prompt, document_prompt, text_prompt
        Prompt put before each text of that role, instead of the one in the folder.
    max_length
        Truncate texts after this many tokens; by default the model's own limit.
    dim
        Keep only this many leading dimensions.
    normalize
        Scale vectors to unit length.
    similarity
        Similarity of queries and documents; by default the model's own, else cosine.

    Raises
    ------
    ModelNotFoundError
        If the folder, its graph, its tokenizer or a part of its configuration is missing or damaged.
    EncoderError
        If the folder has a module after the model that is not supported.
    SpecError
        For a length or a number of dimensions below 1, and for another device than the CPU.
    """
    options = changed_options(create, **locals())
    if runtime.device not in ("auto", "cpu"):
        raise SpecError(f"encoder 'onnx:{target}' runs on the CPU, not on {runtime.device}; leave --device out")
    folder = source_path(target)
    graph = folder / (file or PLACES[not (folder / PLACES[0]).is_file()])
    if not graph.is_file():
        raise ModelNotFoundError(f"{graph}: no such graph; set file= to a graph in the folder")
    try:
        pipeline = Pipeline.of(folder)
    except NotSupportedError as error:
        if not pooling:
            problem = f"what follows the model is not supported: {error}; if the graph does it, set pooling=mean"
            raise EncoderError(f"{folder}: {problem}") from None
        pipeline = Pipeline(pooling)
    if pooling:
        pipeline = replace(pipeline, pooling=pooling)

    settings = settings_of(folder)
    # Beside a graph, a file with its name has its weights: model.onnx_data.
    of_graph = {path.relative_to(folder).as_posix() for path in graph.parent.glob(f"{graph.stem}.*")}
    return Model(
        scheme="onnx",
        name=target,
        found=ModelFiles(folder, LOCAL_FOLDER),
        runtime=runtime,
        device="cpu",
        files=sorted({*folder_files(folder), *of_graph}),
        tokens=folder,
        options=options,
        own_prompts=configured_prompts(settings),
        limit=token_limit(folder, max_length),
        open=lambda model: GraphRunner(graph, read_tokenizer(folder, model.limit), pipeline),
        similarity=settings.get("similarity_fn_name") or "cosine",
        settings={"file": file, "pooling": pooling},
        warnings=() if pooling or (folder / "modules.json").is_file() else (UNPOOLED,),
    )


@dataclass
class GraphRunner(TokenizerRunner):
    """A graph of onnxruntime with its tokenizer, on the CPU, and what is done with its vectors of tokens."""

    graph: Path
    tokenizer: Tokenizer
    pipeline: Pipeline

    def __post_init__(self) -> None:
        """Load the graph, set the size of batches, and choose the output.

        Raises
        ------
        EncoderError
            If no output has vectors.
        """
        import onnxruntime

        self.session = onnxruntime.InferenceSession(
            str(self.graph), session_options(), providers=["CPUExecutionProvider"]
        )
        names = [node.name for node in self.session.get_outputs()]
        self.output = next((name for name in OUTPUTS if name in names), "")
        if not self.output:
            raise EncoderError(
                f"{self.graph}: none of its outputs ({', '.join(names)}) has vectors ({', '.join(OUTPUTS)}); export "
                "the model with optimum for the task feature-extraction"
            )
        # Names of operators are plain text in the file.
        self.tokens = 1 if DYNAMIC in self.graph.read_bytes() else TOKENS_ON_CPU

    @property
    def route(self) -> Route:
        """How it computes, for ``run.json``."""
        return {
            "device": "cpu",
            "graph": self.graph.name,
            "backend": "onnxruntime",
            "threads": cores(),
            "tokens_per_batch": self.tokens,
        }

    def forward(self, ids: Indices) -> DenseVectors:
        """Return the (n, d) vectors of texts of equal length, from their (n, t) token ids."""
        inputs = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            # Single texts have tokens of the first segment only.
            "token_type_ids": np.zeros_like(ids),
            "position_ids": np.tile(np.arange(ids.shape[1]), (len(ids), 1)),
        }
        wanted = {node.name for node in self.session.get_inputs()}
        (rows,) = self.session.run([self.output], {name: inputs[name] for name in inputs if name in wanted})
        return np.asarray(rows if self.output == POOLED else self.pipeline(rows), dtype=np.float32)
