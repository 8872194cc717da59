"""The encoder of exported models, the same for every runtime: its options, batches of equal length, pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from embassay.encoders.base import Prompts, Route
from embassay.encoders.exported.graph import KNOWN, GraphFormat, Session, feed, text_vectors
from embassay.encoders.exported.model_folder import ExportedFolder
from embassay.encoders.neural.batching import TokenIds, check_finite
from embassay.encoders.neural.locations import LOCAL_FOLDER
from embassay.encoders.neural.model_options import ModelOptions
from embassay.encoders.neural.prompted import PromptedEncoder
from embassay.encoders.neural.runner import TOKENS_ON_CPU
from embassay.encoders.neural.tokenizer_files import TokenizerRunner, read_tokenizer
from embassay.errors import EncoderError
from embassay.samples.base import ROLES
from embassay.store.paths import source_path
from embassay.types import Card, Runtime, check_device, content_hash
from embassay.vectors import DenseVectors, Similarity

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PROBE = "A short one."
GraphPooling = Literal["mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]


def load_folder(
    graphs: GraphFormat,
    target: str,
    runtime: Runtime,
    *,
    file: str = "",
    pooling: GraphPooling | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    text_prompt: str | None = None,
    max_length: int | None = None,
    dim: int | None = None,
    device: str = "",
    normalize: bool = False,
    similarity: Similarity | None = None,
) -> ExportedEncoder:
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
    device
        ``cpu``, or ``cuda:0`` … for an onnxruntime that supports CUDA; by default the run's device.
    normalize
        Scale vectors to unit length.
    similarity
        Similarity of queries and documents; by default the model's own, else cosine.

    Raises
    ------
    ModelNotFoundError
        If the folder, its graph, its tokenizer or a part of its configuration is missing or damaged.
    SpecError
        For a length or a number of dimensions below 1, for more dimensions than the model has, and for a device of an
        unknown kind.
    """
    options = ModelOptions(
        file=file,
        pooling=pooling,
        query_prompt=query_prompt,
        document_prompt=document_prompt,
        text_prompt=text_prompt,
        max_length=max_length,
        dim=dim,
        normalize=normalize,
        similarity=similarity,
    )
    place = f"encoder '{graphs.scheme}:{target}'"
    options.check(place)
    device = device or runtime.device
    check_device(device)
    folder = ExportedFolder.of(source_path(target), graphs.suffix, graphs.places, file, pooling or "")
    options.check_dimensions(place, folder.dim)
    return ExportedEncoder(graphs, target, folder, runtime, device, options)


@dataclass(frozen=True)
class ExportedEncoder(PromptedEncoder):
    """An exported model; its graph is loaded when the first text is encoded.

    Attributes
    ----------
    name
        The folder, as it was given.
    options
        The options of the spec.
    """

    graphs: GraphFormat = field(repr=False)
    name: str
    folder: ExportedFolder
    runtime: Runtime = field(repr=False)
    device: str
    options: ModelOptions = field(default_factory=ModelOptions)

    @cached_property
    def card(self) -> Card:
        """The properties of the encoder that the folder's files contain."""
        return self._describe(
            f"{self.graphs.scheme}:{self.name}",
            self.folder.similarity,
            self.folder.warnings,
            revision=LOCAL_FOLDER,
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the runtime, of all files that vectors depend on, and of all options that change vectors."""
        files = self.runtime.hashes(self.folder.path, self.folder.files)
        explicit = self.options.explicit
        settings = {name: explicit.get(name) for name in ("dim", "normalize", "max_length", "pooling", "file")}
        return content_hash([self.graphs.scheme, files, self.prompts, settings])

    @property
    def _configured_prompts(self) -> Prompts:
        return {role: self.folder.prompts.get(role, "") for role in ROLES}

    @property
    def _model_limit(self) -> int | None:
        return self.folder.max_length

    def route(self) -> Route:
        """Return how the model runs, for ``run.json``. None of it changes the meaning of a vector."""
        route: dict[str, object] = {"graph": self.folder.graph.relative_to(self.folder.path).as_posix()}
        source = self.full or self
        runner: GraphRunner | None = vars(source).get("runner")
        if runner is not None:
            route.update(runner.session.route)
            route["tokens_per_batch"] = runner.tokens
        return route

    def load_runner(self) -> GraphRunner:
        """Load the graph, and check it with a short text.

        Raises
        ------
        EncoderError
            If the graph cannot be loaded or run, has inputs that cannot be made from texts, or returns vectors of other
            dimensions than the folder's record says.
        """
        session = self.graphs.open(self.folder.graph, self.device)
        unknown = sorted(session.inputs - KNOWN)
        if unknown:
            raise EncoderError(f"{self.folder.graph}: unsupported inputs {', '.join(unknown)}")
        tokenizer = read_tokenizer(self.folder.path, lower=self.folder.lower, limit=self.max_tokens)
        runner = GraphRunner(self.folder, session, tokenizer)
        dim = runner.forward(runner.tokenize([PROBE], "")).shape[1]
        if self.folder.dim is not None and self.folder.dim != dim:
            raise EncoderError(
                f"{self.folder.graph}: the vectors have {dim} dimensions, but the folder's configuration says "
                f"{self.folder.dim}; export the model again"
            )
        return runner

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return read_tokenizer(self.folder.path, lower=self.folder.lower)


@dataclass
class GraphRunner(TokenizerRunner):
    """A loaded graph with its tokenizer; where texts of a batch change each other's vectors, each is computed alone."""

    folder: ExportedFolder
    session: Session
    tokenizer: Tokenizer
    route = "graph"

    def __post_init__(self) -> None:
        """Set the device and the size of batches by those of the session."""
        self.device = str(self.session.route.get("device"))
        self.one_per_core = self.session.threads > 1
        self.tokens = 1 if self.session.alone else TOKENS_ON_CPU

    def forward(self, ids: Sequence[TokenIds]) -> DenseVectors:
        """Return the (n, d) vectors of tokenised texts of equal length.

        Raises
        ------
        EncoderError
            If the graph cannot run, or a vector is not finite.
        """
        inputs = feed(np.stack(ids).astype(np.int64))
        try:
            outputs = self.session.run({name: array for name, array in inputs.items() if name in self.session.inputs})
        except Exception as error:
            raise EncoderError(
                f"{self.folder.graph}: cannot run on a text of {len(ids[0])} tokens (max_length= truncates texts): "
                f"{str(error)[:200]}"
            ) from None
        rows = text_vectors(outputs, self.folder)
        check_finite(rows, f"{self.folder.graph}: ")
        return rows
