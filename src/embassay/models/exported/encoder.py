"""The encoder of exported models: batches of texts of equal length, pooling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.errors import EncoderError
from embassay.core.samples.base import ROLES
from embassay.core.types import Card, Runtime, content_hash
from embassay.core.vectors import DenseVectors
from embassay.models.base import Prompts, Route
from embassay.models.exported.graph import KNOWN, Session, feed, open_graph, text_vectors
from embassay.models.exported.model_folder import ExportedFolder
from embassay.models.neural.batching import TokenIds, check_finite
from embassay.models.neural.locations import LOCAL_FOLDER
from embassay.models.neural.model_options import ModelOptions
from embassay.models.neural.prompted import PromptedEncoder
from embassay.models.neural.runner import TOKENS_ON_CPU
from embassay.models.neural.tokenizer_files import TokenizerRunner, read_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PROBE = "A short one."


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

    name: str
    folder: ExportedFolder
    runtime: Runtime = field(repr=False)
    device: str
    options: ModelOptions = field(default_factory=ModelOptions)

    @cached_property
    def card(self) -> Card:
        """The properties of the encoder that the folder's files contain."""
        return self._describe(
            f"onnx:{self.name}",
            self.folder.similarity,
            self.folder.warnings,
            revision=LOCAL_FOLDER,
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all files that vectors depend on, and of all options that change vectors."""
        files = self.runtime.hashes(self.folder.path, self.folder.files)
        explicit = self.options.explicit
        settings = {name: explicit.get(name) for name in ("dim", "normalize", "max_length", "pooling", "file")}
        return content_hash(["onnx", files, self.prompts, settings])

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
        session = open_graph(self.folder.graph, self.device)
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
